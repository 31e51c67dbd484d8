import { isPasswordHash } from '../../admin/accept-password-hash.ts';
import type { GivenIdentity, GivenUser } from '../../store/import-users.ts';
import { flagOf, isEncrypted, objectOf, type SourceRow, textOf, timeOf } from './fields.ts';

/** What cannot be taken over of a row that is. */
export type Note = (what: string) => void;

/** What new users have here. */
export interface UserDefaults {
  aud: string;
  role: string;
}

/** A user of GoTrue's as one of ours. Changes of address that are under way are not: their codes stay behind. */
export function userFrom(row: SourceRow, now: string, defaults: UserDefaults, note: Note): GivenUser {
  const isSso = flagOf(row, 'is_sso_user');
  const email = textOf(row, 'email');
  const createdAt = timeOf(row, 'created_at') ?? timeOf(row, 'updated_at') ?? now;
  if (textOf(row, 'email_change') !== null || textOf(row, 'phone_change') !== null) {
    note('changes of address or number that were under way: they have to be begun anew');
  }
  const aud = textOf(row, 'aud') ?? defaults.aud;
  if (aud !== defaults.aud)
    note('users of another audience than AUTHSVC_JWT_AUD: only X-JWT-AUD signs them in');
  return {
    id: textOf(row, 'id') ?? '',
    aud,
    role: textOf(row, 'role') ?? defaults.role,
    // Old versions stored addresses as they were typed, and nobody would find them.
    email: isSso ? email : (email?.toLowerCase() ?? null),
    encrypted_password: passwordFrom(row, note),
    email_confirmed_at: timeOf(row, 'email_confirmed_at'),
    invited_at: timeOf(row, 'invited_at'),
    confirmation_sent_at: timeOf(row, 'confirmation_sent_at'),
    recovery_sent_at: timeOf(row, 'recovery_sent_at'),
    phone: textOf(row, 'phone')?.replace(/^\+/, '') ?? null,
    phone_confirmed_at: timeOf(row, 'phone_confirmed_at'),
    last_sign_in_at: timeOf(row, 'last_sign_in_at'),
    raw_app_meta_data: objectOf(row, 'raw_app_meta_data'),
    raw_user_meta_data: objectOf(row, 'raw_user_meta_data'),
    banned_until: timeOf(row, 'banned_until'),
    is_sso_user: isSso,
    is_anonymous: flagOf(row, 'is_anonymous'),
    created_at: createdAt,
    updated_at: timeOf(row, 'updated_at') ?? createdAt,
    deleted_at: timeOf(row, 'deleted_at'),
  };
}

/**
 * The password of somebody who has shown that an address or number is theirs. Of others it may be anybody's, who waits
 * for its owner to confirm it.
 */
function passwordFrom(row: SourceRow, note: Note): string | null {
  const stored = textOf(row, 'encrypted_password');
  if (stored === null) return null;
  const isProven = timeOf(row, 'email_confirmed_at') !== null || timeOf(row, 'phone_confirmed_at') !== null;
  if (!isProven) {
    note(
      'passwords of users who have not confirmed an address or number: whoever confirms it sets a new one',
    );
    return null;
  }
  if (isPasswordHash(stored)) return stored;
  note(
    isEncrypted(stored)
      ? 'passwords that GoTrue encrypted (DB_ENCRYPTION): decrypt them there first, or let their owners recover'
      : 'passwords of a kind that is not known here: their owners have to recover',
  );
  return null;
}

/** A way to sign in. */
export function identityFrom(row: SourceRow, now: string, note: Note): GivenIdentity {
  const provider = textOf(row, 'provider') ?? '';
  if (provider.startsWith('sso:')) note('identities of SAML providers: there is no sign-in with SAML here');
  const providerId = textOf(row, 'provider_id') ?? '';
  const createdAt = timeOf(row, 'created_at') ?? timeOf(row, 'updated_at') ?? now;
  return {
    id: textOf(row, 'id') ?? '',
    // Capitals of an Ethereum address are a checksum and tell nobody apart.
    provider_id: providerId.startsWith('web3:ethereum:') ? providerId.toLowerCase() : providerId,
    user_id: textOf(row, 'user_id') ?? '',
    identity_data: objectOf(row, 'identity_data'),
    provider,
    last_sign_in_at: timeOf(row, 'last_sign_in_at'),
    created_at: createdAt,
    updated_at: timeOf(row, 'updated_at') ?? createdAt,
  };
}
