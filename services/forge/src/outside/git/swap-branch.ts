import { readFileSync } from 'node:fs';
import { link, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertOutsideTransaction } from '@croft/runtime';
import type { Git } from './git.ts';
import { sync } from './repository.ts';

/** A branch that is to go from one commit to another. */
export interface BranchSwap {
  ref: string;
  old: string;
  new: string;
}

/** What is still under way when a branch is to move. */
export interface Before {
  /** Settles when the move is announced: until then nobody may see anything of it. */
  announced?: Promise<unknown>;
  /** Settles when the new commit is on the disk. */
  written: Promise<void>;
}

/**
 * Moves a branch to a commit that is still being written: meanwhile its new value goes to the disk, to become the lock that git
 * takes for the same, complete when it appears. When the commit is there too, the lock becomes the branch.
 * Undefined when it takes git: the branch has no file of its own, or somebody holds its lock.
 * @throws what `announced` or `written` is rejected with, and then nothing has moved; what the disk says, and then it may have
 */
export async function swapBranch(
  git: Git,
  repositoryId: number,
  { ref, old, new: next }: BranchSwap,
  { announced, written }: Before,
): Promise<'done' | 'moved' | undefined> {
  assertOutsideTransaction('moving a branch');
  const file = join(git.folderOf(repositoryId), ref);
  const lock = `${file}.lock`;
  // Its failure is told below.
  written.catch(() => {});
  const folder = join(git.folderOf(repositoryId), 'objects');
  const contents = [Buffer.from(`${next}\n`)];
  const making = git.files.write({ folder, contents, mode: 0o644, places: [] }).then(
    ([path]) => path,
    () => undefined,
  );
  let isLocked = false;
  let isMoved = false;
  let removing: Promise<unknown> | undefined;
  try {
    await announced;
    const temporary = await making;
    isLocked = temporary !== undefined && (await succeeds(link(temporary, lock)));
    if (temporary !== undefined) removing = succeeds(unlink(temporary));
    const value = isLocked ? readValue(file) : '';
    await written;
    if (value === `${old}\n`) {
      isMoved = await succeeds(rename(lock, file));
      if (!isMoved) return undefined;
      await sync(dirname(file));
      return 'done';
    }
    return /^[0-9a-f]{40}\n$/.test(value) ? 'moved' : undefined;
  } finally {
    if (isLocked && !isMoved) await unlink(lock);
    const temporary = await making;
    if (temporary !== undefined) await (removing ?? succeeds(unlink(temporary)));
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
