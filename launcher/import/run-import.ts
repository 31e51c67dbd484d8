import type { ImportReport } from '@croft/auth';
import { StartError } from '@croft/runtime';
import type { Environment } from '../environment.ts';
import { openBeside } from '../house/open-beside.ts';

const PROGRESS_MS = 1_000;
/** Everything was done, and GoTrue has changed what was taken over before. */
const CHANGED_THERE = 3;

/**
 * Imports, tells how it goes on standard error and what came of it on standard output.
 * @returns the exit code
 */
export async function runImport(
  environment: Environment,
  wanted: { from?: string; dump?: string; schema: string; auditLog?: true; dryRun?: true },
): Promise<number> {
  const { from, dump, schema, auditLog = false, dryRun = false } = wanted;
  await using open = new AsyncDisposableStack();
  const { service, house, knowsKey } = await openBeside(environment, 'auth', true, open);
  if (!knowsKey) {
    throw new StartError(
      'Sessions and factors hold only with the key of the Croft that shall accept them: set CROFT_AT_REST_KEY, or CROFT_DATA to its data folder.',
    );
  }
  const report = await service.importFromGoTrue?.(
    house,
    { from, dump, schema },
    { auditLog, dryRun, onProgress: progress() },
  );
  if (report === undefined) throw new Error('auth imports nothing');
  process.stdout.write(`${summary(report, dryRun).map(printable).join('\n')}\n`);
  return report.changedThere.length === 0 ? 0 : CHANGED_THERE;
}

/** A line a second is enough. */
function progress(): (kind: string, read: number) => void {
  let toldAt = 0;
  return (kind, read) => {
    if (performance.now() - toldAt < PROGRESS_MS) return;
    toldAt = performance.now();
    process.stderr.write(`${kind}: ${read} read\n`);
  };
}

function summary(report: ImportReport, dryRun: boolean): string[] {
  const head = ['', 'READ', dryRun ? 'NEW' : 'IMPORTED', 'HAD BEFORE', 'LEFT'];
  const rows = [...report.counts].map(([kind, { read, made, known, left }]) =>
    [kind, read, made, known, left].map(String),
  );
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join('  '),
  );
  const notes = [...report.notes].map(([what, count]) => `${count} ${what}`);
  const hidden = report.conflictCount - report.conflicts.length;
  return [
    ...lines,
    ...(notes.length === 0 ? [] : ['', ...notes]),
    ...(report.conflictCount === 0 ? [] : ['', 'Left, because of what is here:', ...report.conflicts]),
    ...(hidden === 0 ? [] : [`and ${hidden} more`]),
    ...list(
      'Kept, but nobody can prove them here: their owners get in when they prove another, or an administrator deletes these:',
      report.unprovable,
    ),
    ...list(
      'Changed in GoTrue after they were taken over; they are here as they were, so set their passwords, bans and addresses by hand:',
      report.changedThere,
    ),
    ...(dryRun ? ['', 'Nothing was written.'] : []),
  ];
}

/** All of them: each is somebody who has to be seen to. */
function list(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/** What comes from a database may not move the cursor of a terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
