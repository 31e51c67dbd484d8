import type { Context } from '../context.ts';
import { readRefIds, tagRef } from '../outside/git/refs.ts';
import { branchQueue } from '../pulls/sync-pulls.ts';
import * as releases from '../store/repositories/releases.ts';

/**
 * Makes drafts of the releases of tags that a push deleted. In the queue of branches, where releases are published: one that
 * was in the middle of it is looked at as well. As often as one likes.
 */
export async function unpublishReleases(
  { database, git, queues }: Context,
  repositoryId: number,
  tags: readonly string[],
): Promise<void> {
  await queues.inTurn(branchQueue(repositoryId), async () => {
    const refs = await readRefIds(git, repositoryId, tags.map(tagRef));
    const gone = tags.filter((tag) => !refs.has(tagRef(tag)));
    await releases.unpublish(database.autocommit(), repositoryId, gone);
  });
}
