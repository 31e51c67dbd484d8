import { readFileSync } from 'node:fs';
import { link, open, rename, unlink } from 'node:fs/promises';
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
 * Moves a branch to a commit that is still being written: meanwhile its new value goes to the disk, in the lock that git takes for
 * the same, complete when it appears. When the commit is there too, the lock becomes the branch.
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
  // Its failure is told below.
  written.catch(() => {});
  const isLocked = await succeeds(take(lock, `${next}\n`, temporaryFile(git, repositoryId)));
  let isMoved = false;
  try {
    const value = isLocked ? readValue(file) : '';
    await written;
    if (value === `${old}\n`) {
      isMoved = await succeeds(rename(lock, file));
      return isMoved ? 'done' : undefined;
    }
    return /^[0-9a-f]{40}\n$/.test(value) ? 'moved' : undefined;
  } finally {
    if (isLocked && !isMoved) await unlink(lock);
  }
}

/** @throws when somebody has it */
async function take(lock: string, content: string, temporary: string): Promise<void> {
  const file = await open(temporary, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
    await link(temporary, lock);
  } finally {
    await Promise.allSettled([file.close(), unlink(temporary)]);
  }
}

/** Forty characters of a file that was just read: to let others go on meanwhile would take four times as long. */
function readValue(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

const succeeds = (doing: Promise<void>) =>
  doing.then(
    () => true,
    () => false,
  );
