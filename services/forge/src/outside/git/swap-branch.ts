import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assertOutsideTransaction } from '@croft/runtime';
import type { Git } from './git.ts';

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
  const repository = git.folderOf(repositoryId);
  const file = join(repository, ref);
  // Its failure is told below.
  written.catch(() => {});
  const files = { folder: join(repository, 'objects'), contents: [Buffer.from(`${next}\n`)], mode: 0o644 };
  const making = git.files.write(files).then(
    ([path]) => path,
    () => undefined,
  );
  try {
    await announced;
    const value = await making;
    await written;
    if (value === undefined) return undefined;
    const swap = { file, value, lock: `${file}.lock`, old: `${old}\n` };
    const { isDone, found = '' } = await git.files.swap(swap);
    if (isDone) return 'done';
    return found !== swap.old && /^[0-9a-f]{40}\n$/.test(found) ? 'moved' : undefined;
  } catch (error) {
    const value = await making;
    if (value !== undefined) await rm(value, { force: true });
    throw error;
  }
}
