import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { tryAgain } from '../failures.ts';
import { askBeforeUserCreated, insertUser } from '../hooks/new-users.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import type { NewUser } from '../store/users.ts';

/**
 * Makes a user without address or number, who can get one later by confirming it, and signs it in (POST /signup with
 * neither). One round trip.
 * @param data metadata of the user
 */
export async function signUpAnonymously(
  context: AuthContext,
  data: Record<string, unknown>,
  origin: Origin,
): Promise<IssuedSession> {
  const { settings, database } = context;
  const tx = database.autocommit();
  const session = prepareSession('anonymous');
  const user: NewUser = {
    id: randomUUID(),
    aud: settings.JWT_AUD,
    role: settings.JWT_DEFAULT_GROUP_NAME,
    email: null,
    phone: null,
    emailConfirmed: false,
    phoneConfirmed: false,
    passwordHash: null,
    appMetadata: {},
    userMetadata: data,
    identity: null,
    isAnonymous: true,
    session: session.row,
    trace: { ...origin, audit: [] },
  };
  await askBeforeUserCreated(context, user, origin);
  const { created, person } = await insertUser(context, tx, user);
  // Only an id that is taken could be in the way.
  if (!created || person === undefined) throw tryAgain();
  return await issueFirstTokens(context, person, session, tx.now, origin);
}
