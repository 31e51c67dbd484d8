import { isUniqueViolation } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import { isUuid } from '../caller/verify-bearer.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { auditEntry } from '../rules/audit.ts';
import * as identityRemoval from '../store/identity-removal.ts';
import { authenticateLinker } from './authenticate-linker.ts';

/**
 * Removes one of the caller's identities, but never the last one, however many are removed at once. Two round trips.
 * @throws Failure `single_identity_not_deletable`, `identity_not_found`, also for somebody else's, or
 *   `email_conflict_identity_not_deletable`
 */
export async function unlinkIdentity(
  context: AuthContext,
  authorization: string | undefined,
  identityId: string,
  origin: Origin,
): Promise<void> {
  const { person, sessionId } = await authenticateLinker(context, authorization);
  const { user } = person;
  if (!isUuid(identityId)) throw failures.identityIdNotUuid();
  const tx = context.database.autocommit();
  const trace = { ...origin, audit: [auditEntry(user, 'identity_unlinked')] };
  const unlinked = await identityRemoval
    .unlink(tx, { id: user.id, sessionId }, identityId, trace)
    .catch((error: unknown) => {
      throw isUniqueViolation(error, 'users_email_key') ? failures.identityEmailConflict() : error;
    });
  if (unlinked === undefined) throw failures.callerSessionGone();
  if (unlinked.had <= 1) throw failures.identityIsLast();
  if (!unlinked.isOwn) throw failures.identityUnknown();
  if (!unlinked.removed) throw failures.tryAgain();
}
