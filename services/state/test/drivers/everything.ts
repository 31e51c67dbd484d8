import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, lchownSync, lstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { treeFacts } from '../daemon.ts';
import { fillTree } from '../sample-tree.ts';

/** One of everything, with what only root can make. */
export function fillWithEverything(folder: string): void {
  fillTree(folder);
  const at = (name: string) => join(folder, name);
  if (process.getuid?.() === 0) {
    lchownSync(at('sub/secret'), 1234, 4321);
    lchownSync(at('broken'), 1234, 4321);
    lchownSync(at('sub/deep/er'), 77, 88);
  }
  const fd = openSync(at('holes'), 'w');
  ftruncateSync(fd, 3_000_000);
  writeSync(fd, 'in the middle', 1_500_000);
  closeSync(fd);
  execFileSync('mkfifo', ['-m', '640', at('pipe'), at('sub/deep/pipe')]);
}

/** What two trees must have in common, with what becomes of fifos. */
export function factsOf(folder: string, fifos = true): Record<string, unknown> {
  const facts: Record<string, unknown> = treeFacts(folder);
  for (const name of ['/pipe', '/sub/deep/pipe']) {
    const stat = lstatSync(folder + name, { throwIfNoEntry: false });
    delete facts[name];
    // The vault restores none; its folder has another time then.
    if (fifos) facts[name] = [stat?.isFIFO(), stat?.mode, stat?.mtime.toISOString()];
  }
  const { blocks } = lstatSync(join(folder, 'holes'));
  return { ...facts, isSparse: blocks * 512 < 2_000_000 };
}
