import { removeFiles } from '../attachments/remove-files.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import * as releases from '../store/repositories/releases.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { findReleaseToWrite, type ReleasePath } from './find-release.ts';
import { presentRelease } from './present-releases.ts';

/**
 * Deletes a release with its files; its tag stays. Nobody is told of a draft that goes, as nobody was told of it.
 * @throws 403, 404, 423
 */
export async function deleteRelease(context: Context, caller: Caller, path: ReleasePath): Promise<void> {
  const found = await findReleaseToWrite(context, caller, path);
  const { id, published_at: publishedAt } = found.release;
  // What is announced is told when the row is gone.
  const deleted = await presentRelease(context, undefined, found);
  const files = await context.database.transaction(async (tx) => {
    if (!(await releases.hold(tx, id))) throw notFound();
    // Not with the release: a file whose last byte came meanwhile would stay on the disk.
    const own = await attachments.deleteOfRelease(tx, id);
    await releases.deleteById(tx, id);
    const place = { repositoryId: found.repository.id, actorId: caller.userId };
    if (publishedAt !== null)
      await announce(tx, { kind: 'release', action: 'deleted', releaseId: id, deleted, ...place });
    return own;
  });
  await removeFiles(context, files);
}
