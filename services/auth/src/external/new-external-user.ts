import { randomUUID } from 'node:crypto';
import { isUniqueViolation, type Tx } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import { askBeforeUserCreated, insertUser } from '../hooks/new-users.ts';
import type { Inserted, NewUser } from '../store/users.ts';
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

/**
 * @returns undefined when the identity has come to belong to somebody meanwhile: nothing was written then
 * @throws RefusedByHook when a hook will not have the user
 */
export async function insertUnlessTaken(
  context: AuthContext,
  tx: Tx,
  user: NewUser,
): Promise<Inserted | undefined> {
  await askBeforeUserCreated(context, user, user.trace);
  try {
    return await insertUser(context, tx, user);
  } catch (error) {
    if (isUniqueViolation(error, 'identities_provider_id_provider_key')) return undefined;
    throw error;
  }
}
