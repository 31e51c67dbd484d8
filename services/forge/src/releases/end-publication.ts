import type { Tx } from '@croft/sql';
import type { ReleaseEvent } from '../events/announce.ts';
import { tagOf } from '../rules/git/push-request.ts';
import type { PushDetails, RefMove } from '../store/repositories/pushes.ts';
import * as releases from '../store/repositories/releases.ts';

/**
 * Ends what save-release.ts began, in the transaction that ends the intent: with its tag there, the release is published;
 * without, it is what it was before.
 * @returns what there is to announce of it
 */
export async function endPublication(
  tx: Tx,
  { publishes }: PushDetails,
  [move]: readonly RefMove[],
): Promise<ReleaseEvent[]> {
  if (publishes === undefined) return [];
  const { releaseId, former } = publishes;
  if (move === undefined) {
    if (former === null) await releases.deleteDraft(tx, releaseId);
    else await releases.putBack(tx, releaseId, former);
    return [];
  }
  const at = former?.published_at ?? tx.now;
  if (!(await releases.publish(tx, releaseId, { tag: tagOf(move.ref) ?? '', at }))) return [];
  return [{ kind: 'release', action: former?.published_at ? 'updated' : 'published', releaseId }];
}
