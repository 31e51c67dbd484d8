import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { type PresentedIdToken, readIdToken } from '../external/read-id-token.ts';
import type { IssuedSession } from '../sessions/issue-tokens.ts';
import { authenticateLinker } from './authenticate-linker.ts';
import { linkedIdentity, linkIdentity } from './link-identity.ts';

/**
 * Links the identity that an ID token speaks of to the account of the caller (POST /token?grant_type=id_token with
 * `link_identity`). Two round trips.
 */
export async function linkWithIdToken(
  context: AuthContext,
  authorization: string | undefined,
  presented: PresentedIdToken,
  origin: Origin,
): Promise<IssuedSession> {
  const { person, sessionId } = await authenticateLinker(context, authorization);
  const told = await readIdToken(context, presented);
  const identity = linkedIdentity(told.source.provider, told.person);
  return await linkIdentity(context, { user: person.user, sessionId }, identity, origin);
}
