import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { IssuedSession } from '../sessions/issue-tokens.ts';
import { issuedOf } from '../sessions/prepare-sign-in.ts';
import { admitPerson } from './admit-person.ts';
import { type PresentedIdToken, readIdToken } from './read-id-token.ts';

/**
 * Signs in with an ID token (POST /token?grant_type=id_token). The account is found as by way of the provider. Two round
 * trips.
 * @throws Failure for a token that is not good, and for every reason not to let its person in
 */
export async function signInWithIdToken(
  context: AuthContext,
  presented: PresentedIdToken,
  origin: Origin,
): Promise<IssuedSession> {
  const { source, person } = await readIdToken(context, presented);
  const signedIn = await admitPerson(context, {
    provider: source.provider,
    emailOptional: source.emailOptional,
    // A token is what its bearer sent; elsewhere the provider was asked, and it is the provider's fault.
    emailMissing: failures.idTokenEmailMissing,
    person,
    inviteTokenHash: null,
    redirectTo: context.settings.SITE_URL,
    waiting: undefined,
    origin,
  });
  return issuedOf(signedIn);
}
