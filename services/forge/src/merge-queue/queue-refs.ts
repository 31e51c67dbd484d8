import { listRefs } from '../outside/git/copy.ts';
import type { Git } from '../outside/git/git.ts';
import { moveRefs, type RefChange, readRef } from '../outside/git/refs.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import { QUEUE_REFS, type QueuePlace, queueRef } from './queue-terms.ts';

/**
 * Brings the refs of a queue to where its merges are, and removes those of pull requests that left it. Whatever a crash
 * left is put right by the next call.
 * @param wanted commits by the full names of their refs
 */
export async function keepQueueRefs(
  git: Git,
  { repositoryId, branch }: QueuePlace,
  wanted: ReadonlyMap<string, string>,
): Promise<void> {
  const folder = `${QUEUE_REFS}${branch}/`;
  const there = (await listRefs(git, repositoryId, [folder])).filter(({ ref }) =>
    /^\d+$/.test(ref.slice(folder.length)),
  );
  const known = new Map(there.map(({ ref, id }) => [ref, id]));
  const changes: RefChange[] = [
    ...there.filter(({ ref }) => !wanted.has(ref)).map(({ ref, id }) => ({ ref, old: id })),
    ...[...wanted].filter(([ref, id]) => known.get(ref) !== id).map(([ref, id]) => ({ ref, new: id })),
  ];
  if (changes.length === 0) return;
  if ((await moveRefs(git, repositoryId, changes)) !== 'done')
    throw new Error(`the refs of the merge queue of ${branch} could not be moved`);
}

/** Removes the refs of entries that are about to go: a row without one gets it again, but nobody would look for a ref without a row. */
export async function dropQueueRefs(git: Git, entries: readonly QueueEntry[]): Promise<void> {
  for (const { row, pull } of entries) {
    const ref = queueRef(row.base_branch, pull.number);
    const isThere = async () => (await readRef(git, row.repository_id, ref)) !== undefined;
    if (
      (await isThere()) &&
      (await moveRefs(git, row.repository_id, [{ ref }])) !== 'done' &&
      (await isThere())
    )
      throw new Error(`${ref} could not be removed`);
  }
}
