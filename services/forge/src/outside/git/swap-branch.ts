import { link, open, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { assertOutsideTransaction } from '@croft/runtime';
import type { Git } from './git.ts';
import { temporaryFile } from './objects.ts';

/** A branch that is to go from one commit to another. */
export interface BranchSwap {
  ref: string;
  old: string;
  new: string;
}

/**
 * Moves a branch to a commit that is still being written: its new value goes to the disk meanwhile, and gets its name when both
 * are there. As git does it, under a lock beside the branch; but the lock is complete when it appears and goes at once.
 * Undefined when it takes git: the branch has no file of its own, or somebody holds its lock.
 * @throws what `written` is rejected with, and then nothing has moved
 */
export async function swapBranch(
  git: Git,
  repositoryId: number,
  { ref, old, new: next }: BranchSwap,
  written: Promise<void>,
): Promise<'done' | 'moved' | undefined> {
  assertOutsideTransaction('moving a branch');
  const file = join(git.folderOf(repositoryId), ref);
  const lock = `${file}.lock`;
  const temporary = temporaryFile(git, repositoryId);
  try {
    const [, filled] = await Promise.allSettled([written, fill(temporary, `${next}\n`)]);
    await written;
    if (filled.status === 'rejected' || !(await succeeds(link(temporary, lock)))) return undefined;
    const value = await readFile(file, 'latin1').catch(() => '');
    if (value === `${old}\n` && (await succeeds(rename(lock, file)))) return 'done';
    await unlink(lock);
    return /^[0-9a-f]{40}\n$/.test(value) && value !== `${old}\n` ? 'moved' : undefined;
  } finally {
    await succeeds(unlink(temporary));
  }
}

async function fill(path: string, content: string): Promise<void> {
  await using file = await open(path, 'wx');
  await file.writeFile(content);
  await file.sync();
}

const succeeds = (doing: Promise<void>) =>
  doing.then(
    () => true,
    () => false,
  );
