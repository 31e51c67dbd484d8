import type { Git } from '../git.ts';
import { readRecords } from './records.ts';

/** What a commit changed, compared with its first parent. */
export interface CommitChanges {
  additions: number;
  deletions: number;
  files: { path: string; status: 'added' | 'modified' | 'removed' }[];
}

/** A commit that changes a hundred thousand files takes long to count. */
const TIMEOUT_MS = 5_000;
/** More files of one commit are counted in the lines and not named. */
const MAX_FILES = 3000;
/** Of all commits that are asked for at once; a path can have four kilobytes, and pages and hooks have many commits. */
const MAX_PATHS_BYTES = 4 * 1024 * 1024;
const STATUSES: Readonly<Record<string, 'added' | 'removed'>> = { A: 'added', D: 'removed' };

/**
 * What commits changed, by their ids: one process for all of them. A merge counts with what it brought to its first
 * parent. Commits that are not in the map took too long.
 */
export async function readChanges(
  git: Git,
  repositoryId: number,
  ids: readonly string[],
  wanted: { stats: boolean; files: boolean },
): Promise<Map<string, CommitChanges>> {
  const changes = new Map<string, CommitChanges>();
  if (ids.length === 0 || !(wanted.stats || wanted.files)) return changes;
  const nothing = { additions: 0, deletions: 0, files: [] };
  const parts = [...(wanted.files ? ['--raw'] : []), ...(wanted.stats ? ['--numstat'] : [])];
  const options = ['--stdin', '-r', '-z', '--root', '--no-renames', '--no-ext-diff', '--no-textconv'];
  const args = ['diff-tree', ...options, '--diff-merges=first-parent', ...parts];
  let currentId = '';
  let current: CommitChanges | undefined;
  let status: string | undefined;
  let room = MAX_PATHS_BYTES;
  const ended = await readRecords(
    git,
    repositoryId,
    args,
    (record) => {
      const text = record.toString('utf8');
      if (status !== undefined) {
        if (current !== undefined && current.files.length < MAX_FILES && (room -= record.length) >= 0)
          current.files.push({ path: text, status: STATUSES[status] ?? 'modified' });
        status = undefined;
      } else if (text.startsWith(':')) {
        status = text.at(-1);
      } else if (text.includes('\t')) {
        // `-` for binary files, of which no lines are counted.
        const [additions, deletions] = text.split('\t', 2);
        if (current === undefined) return;
        current.additions += Number(additions) || 0;
        current.deletions += Number(deletions) || 0;
      } else {
        current = { additions: 0, deletions: 0, files: [] };
        currentId = text;
        changes.set(text, current);
      }
    },
    { input: `${ids.join('\n')}\n`, timeoutMs: TIMEOUT_MS },
  );
  // What git was at when it was ended is not all there, and of what comes behind nothing is known. Commits that changed
  // nothing are not in its output.
  if (ended === 'failed') changes.delete(currentId);
  const known = ended === 'done' ? ids : ids.slice(0, Math.max(0, ids.indexOf(currentId)));
  for (const id of known) if (!changes.has(id)) changes.set(id, nothing);
  return changes;
}
