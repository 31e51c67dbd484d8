import { pathIn } from '../../model/path-text.ts';
import type { DiffChange } from '../../wire-extras.ts';
import type { CommandCall } from '../command-call.ts';
import { namedState } from './annotate-commands.ts';

const SIGNS = { DIFF_KIND_ADDED: '+', DIFF_KIND_CHANGED: '~', DIFF_KIND_REMOVED: '-' } as const;
const WHAT = ['content', 'unknown', 'mode', 'owner', 'target', 'attributes', 'time'] as const;

/** What two states, or a state and what is there now, do not have in common: a line a path. */
export async function diff(call: CommandCall): Promise<number> {
  const { command, daemon, progress, send } = call;
  const isJson = command.flags.has('json');
  const request = {
    ...namedState(call),
    otherStateName: command.words[1] ?? '',
    times: command.flags.has('times'),
  };
  for await (const answer of daemon.stream('Diff', request, progress)) {
    if ('changes' in answer && answer.changes !== undefined) {
      const { path, changes } = answer.changes;
      const lines = changes.map((change) => (isJson ? jsonOf(path, change) : textOf(path, change)));
      await send(`${lines.join('\n')}\n`);
    } else if ('summary' in answer && !isJson) {
      const { added, changed, removed } = answer.summary;
      progress(`${added} added, ${changed} changed, ${removed} removed`);
    }
  }
  return 0;
}

function textOf(folder: string, change: DiffChange): string {
  const { kind, type, oldType } = change;
  const what = [...(oldType ? [`was a ${oldType}`] : []), ...whatOf(change)];
  const more = what.length === 0 ? '' : `  (${what.join(', ')})`;
  return `${SIGNS[kind]} ${type.padEnd(6)} ${pathIn(folder, change.path)}${more}`;
}

function jsonOf(folder: string, change: DiffChange): string {
  const { kind, type, oldType } = change;
  const changed = { ...(oldType ? { oldType } : {}), changed: whatOf(change) };
  return JSON.stringify({
    path: pathIn(folder, change.path),
    kind: kind.replace('DIFF_KIND_', '').toLowerCase(),
    type,
    ...(kind === 'DIFF_KIND_CHANGED' ? changed : {}),
  });
}

function whatOf(change: DiffChange): string[] {
  return WHAT.filter((what) => change[what]).map((what) => (what === 'unknown' ? 'unreadable' : what));
}
