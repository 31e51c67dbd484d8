import { createHash, randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import type { CodeChallenge, Person } from '../rows.ts';
import type { NewAuthCode, NewSession } from '../store/openings.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from './issue-tokens.ts';

/** What somebody gets who has proven who they are: the session, or a code for the client that has the verifier. */
export type SignedIn = { issued: IssuedSession } | { authCode: string };

/** A sign-in that is about to be recorded. */
export interface PreparedSignIn {
  /** What to write. */
  row: { session: NewSession } | { authCode: NewAuthCode };
  /** What its client gets once that is written. */
  end(person: Person, now: Date, origin: Origin): Promise<SignedIn>;
}

/** A client that waits for a code. */
export interface Waiting {
  challenge: CodeChallenge;
  /** Tokens of the external provider, which it gets along with the session. */
  sealed?: string;
}

/**
 * Chooses the secrets of a sign-in.
 * @param method a value of `amr.method`
 */
export function prepareSignIn(
  context: AuthContext,
  method: string,
  waiting: Waiting | undefined,
): PreparedSignIn {
  if (waiting === undefined) {
    const session = prepareSession(method);
    return {
      row: { session: session.row },
      end: async (person, now, origin) => ({
        issued: await issueFirstTokens(context, person, session, now, origin),
      }),
    };
  }
  const { row: authCode, code } = prepareAuthCode(context, method, waiting);
  return { row: { authCode }, end: async () => ({ authCode: code }) };
}

/** Chooses a code for a client that waits, and what is written of it. */
export function prepareAuthCode(
  context: AuthContext,
  method: string,
  waiting: Waiting,
): { row: NewAuthCode; code: string } {
  const code = randomUUID();
  // From here on, not from the request: a link may be opened hours after it was asked for.
  const lifeMs = context.settings.EXTERNAL_FLOW_STATE_EXPIRY_DURATION;
  const row = {
    id: randomUUID(),
    codeHash: authCodeHash(code),
    method,
    challenge: waiting.challenge,
    sealed: waiting.sealed ?? null,
    expiresAt: new Date(context.clock.now().getTime() + lifeMs),
  };
  return { row, code };
}

/** The session of a sign-in that no client waits for. */
export function issuedOf(signedIn: SignedIn): IssuedSession {
  if ('issued' in signedIn) return signedIn.issued;
  throw new Error('a code was made for a client that did not ask for one');
}

/** The form in which codes are stored: 122 random bits need no salt and no slowness. */
export function authCodeHash(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
