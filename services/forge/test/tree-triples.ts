import { chance } from './histories.ts';

/** Commits of each triple: branches `base-0`, `ours-0`, `theirs-0`, … */
export type Commit = 'base' | 'ours' | 'theirs';

export const TRIPLES = 2_000;

/** What is at each path, as fast-import reads it. */
type Files = Map<string, { mode: string; content: string }>;

const FOLDERS = ['', 'd/', 'd/e/', 'f/', 'f.d/', 'd.x/'];
const NAMES = ['a', 'b', 'a.b', 'c', 'd', 'f', 'README'];
const SUBMODULES = ['1', '2', '3'].map((digit) => digit.repeat(40));

/** Long enough to be found again after a change. */
const textOf = (kind: number, edit: number) =>
  Array.from({ length: 12 }, (_, line) => `line ${line} of ${kind}${line === edit ? ' edited' : ''}\n`).join(
    '',
  );

function put(files: Files, path: string, file: { mode: string; content: string }): void {
  // A file where a folder was, and the other way round.
  for (const other of files.keys())
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other);
  files.set(path, file);
}

function edit(files: Files, next: (below: number) => number): void {
  const any = (): string => [...files.keys()][next(files.size)] ?? 'a';
  const place = () => `${FOLDERS[next(FOLDERS.length)]}${NAMES[next(NAMES.length)]}`;
  const path = any();
  const file = files.get(path) ?? { mode: '100644', content: textOf(0, 0) };
  switch (next(12)) {
    case 0:
    case 1:
    case 2:
      return put(files, path, { mode: '100644', content: textOf(next(6), next(12)) });
    case 3:
    case 4:
      return put(files, place(), { mode: '100644', content: textOf(next(6), next(12)) });
    case 5:
    case 6:
      return void files.delete(path);
    case 7: {
      files.delete(path);
      return put(files, place(), file);
    }
    case 8: {
      const [from = '', to = ''] = [FOLDERS[next(FOLDERS.length)], FOLDERS[next(FOLDERS.length)]];
      for (const [old, moved] of Array.from(files)) {
        if (from === '' || !old.startsWith(from)) continue;
        files.delete(old);
        put(files, to + old.slice(from.length), moved);
      }
      return;
    }
    case 9:
      return put(files, path, { ...file, mode: file.mode === '100644' ? '100755' : '100644' });
    case 10:
      return put(files, place(), { mode: '120000', content: place() });
    default:
      return put(files, place(), { mode: '160000', content: SUBMODULES[next(3)] ?? '' });
  }
}

/** Bases of some files, and two sides that each did up to four things to them. */
export function importOfTriples(): string {
  return Array.from({ length: TRIPLES }, (_, seed) => {
    const random = chance(seed);
    const next = (below: number) => Math.floor(random() * below);
    const base: Files = new Map();
    for (let count = 4 + next(8); count > 0; count--)
      put(base, `${FOLDERS[next(FOLDERS.length)]}${NAMES[next(NAMES.length)]}`, {
        mode: '100644',
        content: textOf(count, 0),
      });
    const side = () => {
      const files = new Map(base);
      for (let count = 1 + next(4); count > 0; count--) edit(files, next);
      return files;
    };
    return [
      commitOf(`base-${seed}`, base),
      commitOf(`ours-${seed}`, side(), `base-${seed}`),
      commitOf(`theirs-${seed}`, side(), `base-${seed}`),
    ].join('');
  }).join('');
}

function commitOf(branch: string, files: Files, from?: string): string {
  const lines = [...files].map(([path, { mode, content }]) =>
    mode === '160000'
      ? `M ${mode} ${content} ${path}\n`
      : `M ${mode} inline ${path}\ndata ${content.length}\n${content}\n`,
  );
  const start = from === undefined ? '' : `from refs/heads/${from}\n`;
  const head = `commit refs/heads/${branch}\ncommitter A <a@b.c> 1700000000 +0000\ndata 0\n${start}deleteall\n`;
  return `${head}${lines.join('')}\n`;
}
