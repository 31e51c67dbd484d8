import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { askBeforeUserCreated, insertUser } from '../hooks/new-users.ts';
import type { Person } from '../rows.ts';
import { EMAIL_APP_METADATA, emailIdentityData } from '../rules/users/disguised-user.ts';
import type { SentAtColumn, StoredCode } from '../store/one-time-tokens.ts';
import type { NewUser } from '../store/users.ts';

/** A user who proves the address later, with a code that is made along. */
export interface UnconfirmedUser {
  email: string;
  data: Record<string, unknown>;
  passwordHash: string | null;
  code: StoredCode;
  sentAt: readonly SentAtColumn[];
  /** Audit entries about the user. */
  audit(user: { id: string; email: string; phone: null }): object[];
  origin: Origin;
}

/**
 * Makes a user for somebody an administrator invites or makes a link for.
 * @returns undefined when somebody has the address by now
 */
export async function makeUnconfirmed(
  context: AuthContext,
  wanted: UnconfirmedUser,
): Promise<Person | undefined> {
  const { settings, database } = context;
  const { email, data, passwordHash, code, sentAt, origin } = wanted;
  const id = randomUUID();
  const identityData = emailIdentityData(id, { email, data }, false);
  const user: NewUser = {
    id,
    aud: settings.JWT_AUD,
    role: settings.JWT_DEFAULT_GROUP_NAME,
    email,
    phone: null,
    emailConfirmed: false,
    phoneConfirmed: false,
    passwordHash,
    appMetadata: EMAIL_APP_METADATA,
    userMetadata: identityData,
    identity: { provider: 'email', providerId: id, data: identityData },
    isAnonymous: false,
    givenByAdmin: true,
    code,
    sentAt,
    trace: { ...origin, audit: wanted.audit({ id, email, phone: null }) },
  };
  await askBeforeUserCreated(context, user, origin);
  const { created, person } = await insertUser(context, database.autocommit(), user);
  return created ? person : undefined;
}
