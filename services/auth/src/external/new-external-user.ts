import { randomUUID } from 'node:crypto';
import { isUniqueViolation, type Tx } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import * as users from '../store/users.ts';
import type { Arrival } from './arrival.ts';

/** A user for somebody who comes from a provider, and the same as an audit entry names them. */
export function newExternalUser(
  { settings }: AuthContext,
  { provider, person, identityData }: Arrival,
  email: string | null,
  confirmed: boolean,
) {
  const id = randomUUID();
  const user = {
    id,
    aud: settings.JWT_AUD,
    role: settings.JWT_DEFAULT_GROUP_NAME,
    email,
    phone: null,
    emailConfirmed: confirmed,
    phoneConfirmed: false,
    passwordHash: null,
    appMetadata: { provider, providers: [provider] },
    userMetadata: identityData,
    identity: { provider, providerId: person.subject, data: identityData },
    isAnonymous: false,
  };
  const actor = { id, email, phone: null, is_sso_user: false, raw_user_meta_data: identityData };
  return { user, actor };
}

/** @returns undefined when the identity has come to belong to somebody meanwhile: nothing was written then */
export async function insertUnlessTaken(tx: Tx, user: users.NewUser): Promise<users.Inserted | undefined> {
  try {
    return await users.insert(tx, user);
  } catch (error) {
    if (isUniqueViolation(error)) return undefined;
    throw error;
  }
}
