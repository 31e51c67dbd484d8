import type { Person, UserRow } from '../../rows.ts';
import { inOrderOfJsonb } from './jsonb-order.ts';

/** What a sign-up asks for, as it goes into the rows of a new user. */
export interface SignUpDraft {
  aud: string;
  role: string;
  email: string;
  /** What the client sent as `data`. */
  data: Record<string, unknown>;
}

/** Metadata the service itself keeps of an e-mail user. */
export const EMAIL_APP_METADATA = { provider: 'email', providers: ['email'] };

/** Data of the e-mail identity, which is also the user's first metadata; `data` cannot claim what we alone decide. */
export function emailIdentityData(
  id: string,
  draft: Pick<SignUpDraft, 'email' | 'data'>,
  verified: boolean,
): Record<string, unknown> {
  return { ...draft.data, sub: id, email: draft.email, email_verified: verified, phone_verified: false };
}

/**
 * The account a sign-up would have made just now. An answer about an address that is taken shows this, so that it
 * differs in nothing from an answer about a new one.
 */
export function pendingPerson(id: string, identityId: string, draft: SignUpDraft, now: Date): Person {
  const at = now.toISOString();
  const data = inOrderOfJsonb(emailIdentityData(id, draft, false));
  const user: UserRow = {
    id,
    aud: draft.aud,
    role: draft.role,
    email: draft.email,
    encrypted_password: null,
    email_confirmed_at: null,
    invited_at: null,
    confirmation_sent_at: at,
    recovery_sent_at: null,
    email_change: null,
    email_change_sent_at: null,
    email_change_begun_at: null,
    phone: null,
    phone_confirmed_at: null,
    phone_change: null,
    phone_change_sent_at: null,
    phone_change_begun_at: null,
    confirmed_at: null,
    reauthentication_sent_at: null,
    last_sign_in_at: null,
    raw_app_meta_data: EMAIL_APP_METADATA,
    raw_user_meta_data: data,
    banned_until: null,
    is_sso_user: false,
    is_anonymous: false,
    created_at: at,
    updated_at: at,
    deleted_at: null,
    email_change_confirm_status: 0,
    given_by_admin: false,
    factors: [],
    mfa_locked_until: null,
  };
  const identity = {
    id: identityId,
    provider_id: id,
    user_id: id,
    identity_data: data,
    provider: 'email',
    email: draft.email,
    last_sign_in_at: at,
    created_at: at,
    updated_at: at,
  };
  return { user, identities: [identity] };
}

/** Sixteen bytes as a UUID that looks like any random one (version 4). */
export function uuidFrom(bytes: Buffer): string {
  const copy = Buffer.from(bytes.subarray(0, 16));
  copy[6] = ((copy[6] as number) & 0x0f) | 0x40;
  copy[8] = ((copy[8] as number) & 0x3f) | 0x80;
  return copy.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
