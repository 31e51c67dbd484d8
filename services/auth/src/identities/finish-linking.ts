import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { ExternalPerson } from '../outside/providers/provider.ts';
import { type IssuedSession } from '../sessions/issue-tokens.ts';
import { prepareAuthCode, type SignedIn, type Waiting } from '../sessions/prepare-sign-in.ts';
import * as authCodes from '../store/auth-codes.ts';
import type { Linking } from '../store/flow-states.ts';
import * as users from '../store/users.ts';
import { checkUnowned, type LinkedIdentity, linkedIdentity, linkIdentity } from './link-identity.ts';

/** Somebody who comes back from a provider, to link what it told of them. */
export interface ReturnedLinker {
  linking: Linking;
  provider: string;
  person: ExternalPerson;
  waiting: Waiting | undefined;
  origin: Origin;
}

/**
 * Links what a provider told, or notes it for the client that waits with its verifier: only that one began it, whoever's
 * browser came back. Two round trips.
 * @throws Failure `identity_already_exists` and every other reason not to
 */
export async function finishLinking(context: AuthContext, back: ReturnedLinker): Promise<SignedIn> {
  const { linking, provider, person, waiting, origin } = back;
  const { userId, sessionId } = linking;
  const tx = context.database.autocommit();
  const identity = linkedIdentity(provider, person);
  if (waiting === undefined) {
    const found = await users.findById(tx, userId);
    if (found === undefined) throw failures.callerDeleted();
    const linker = { user: found.user, sessionId: sessionId ?? undefined };
    return { issued: await linkIdentity(context, linker, identity, origin) };
  }
  await checkUnowned(tx, { id: userId }, identity);
  const { row, code } = prepareAuthCode(context, 'oauth', waiting);
  const sealed = context.atRest.seal(JSON.stringify(identity));
  const isNoted = await authCodes.insertForLinking(tx, row, { linking: sealed, userId, sessionId });
  if (!isNoted) throw failures.linkingEnded();
  return { authCode: code };
}

/** The exchange of a code for which an identity is linked. One round trip. */
export async function exchangeForLink(
  context: AuthContext,
  found: authCodes.FoundAuthCode,
  codeHash: Buffer,
  origin: Origin,
): Promise<IssuedSession> {
  const linker = { user: found.user, sessionId: found.linkingSessionId ?? undefined };
  return await linkIdentity(context, linker, identityIn(context, found.linking), origin, codeHash);
}

function identityIn({ atRest }: AuthContext, sealed: string | null): LinkedIdentity {
  try {
    return JSON.parse(atRest.open(sealed ?? '')) as LinkedIdentity;
  } catch {
    // Sealed with another at-rest key: the code is worth nothing any more.
    throw failures.authCodeUnknown();
  }
}
