import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { exchangeForLink } from '../identities/finish-linking.ts';
import { instant } from '../rows.ts';
import { auditEntry } from '../rules/audit.ts';
import { fits } from '../rules/codes/code-challenge.ts';
import { isBanned } from '../rules/users/ban.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import { authCodeHash } from '../sessions/prepare-sign-in.ts';
import { openProviderTokens, type ProviderTokens } from '../sessions/provider-tokens.ts';
import * as authCodes from '../store/auth-codes.ts';

/** A code and what shows that its bearer asked for it. */
export interface CodeExchange {
  code: string;
  verifier: string;
  origin: Origin;
}

/**
 * Exchanges the code of a redirect for its session (POST /token?grant_type=pkce). Two round trips. A wrong verifier leaves the
 * code to whoever has the right one.
 * @returns the session, and the external provider's own tokens where one was asked
 * @throws Failure `flow_state_not_found`, `flow_state_expired`, `bad_code_verifier`, `user_banned`
 */
export async function exchangeCode(
  context: AuthContext,
  { code, verifier, origin }: CodeExchange,
): Promise<{ issued: IssuedSession; tokens: ProviderTokens | undefined }> {
  if (code === '' || verifier === '') throw failures.exchangeIncomplete();
  const tx = context.database.autocommit();
  const codeHash = authCodeHash(code);
  const found = await authCodes.find(tx, codeHash);
  if (found === undefined) throw failures.authCodeUnknown();
  if (found.expiresAt <= tx.now) throw failures.authCodeExpired();
  if (!fits(verifier, { challenge: found.challenge, method: found.challengeMethod }))
    throw failures.verifierDoesNotFit();
  if (isBanned(instant(found.user.banned_until), tx.now)) throw failures.userBanned();

  const tokens = openProviderTokens(context, found.sealed);
  if (found.linking !== null) {
    return { issued: await exchangeForLink(context, found, codeHash, origin), tokens };
  }
  const session = prepareSession(found.method);
  const person = await authCodes.exchange(tx, {
    codeHash,
    userId: found.user.id,
    session: session.row,
    trace: { ...origin, audit: [auditEntry(found.user, 'login', { provider_type: found.method })] },
  });
  if (person === undefined) throw failures.authCodeUnknown();
  return {
    issued: await issueFirstTokens(context, person, session, tx.now, origin),
    tokens,
  };
}
