// The rows that operations and rules speak of; types only, and what it takes to read a time in them.

import type { Tables } from './tables.gen.ts';

/**
 * A row as `to_jsonb` gives it: times are text. Rows travel as JSON because a statement that lists no columns stays
 * valid, prepared, while another process adds some.
 */
type AsJson<Row> = {
  [Column in keyof Row]: Date extends Row[Column] ? Exclude<Row[Column], Date> | string : Row[Column];
};

/** Columns that operations and rules look at; codes and tokens are none of them. */
type UserColumn =
  | 'id'
  | 'aud'
  | 'role'
  | 'email'
  | 'encrypted_password'
  | 'email_confirmed_at'
  | 'invited_at'
  | 'confirmation_sent_at'
  | 'recovery_sent_at'
  | 'email_change'
  | 'email_change_sent_at'
  | 'email_change_begun_at'
  | 'phone'
  | 'phone_confirmed_at'
  | 'phone_change'
  | 'phone_change_sent_at'
  | 'phone_change_begun_at'
  | 'confirmed_at'
  | 'reauthentication_sent_at'
  | 'last_sign_in_at'
  | 'banned_until'
  | 'is_sso_user'
  | 'is_anonymous'
  | 'created_at'
  | 'updated_at'
  | 'deleted_at'
  | 'email_change_confirm_status'
  | 'given_by_admin'
  | 'mfa_locked_until';

/** Kinds of second factors; a set of recovery codes is one. */
export type FactorType = 'totp' | 'phone' | 'webauthn' | 'recovery_code';

/** A second factor as its owner sees it, kept with the user. */
export interface FactorRow {
  id: string;
  factor_type: FactorType;
  status: 'unverified' | 'verified';
  friendly_name: string | null;
  phone: string | null;
  last_challenged_at: string | null;
  created_at: string;
  updated_at: string;
}

/** A user. */
export type UserRow = AsJson<Pick<Tables['users'], UserColumn>> & {
  raw_app_meta_data: Record<string, unknown>;
  raw_user_meta_data: Record<string, unknown>;
  factors: FactorRow[];
};

/** A way to sign in that belongs to a user. */
export type IdentityRow = AsJson<Omit<Tables['identities'], 'identity_data'>> & {
  identity_data: Record<string, unknown>;
};

/** A user with everything an answer shows of it. */
export interface Person {
  user: UserRow;
  identities: IdentityRow[];
}

/** Kinds of codes, as the database names them; of each a user has one at a time. */
export type TokenType =
  | 'confirmation_token'
  | 'recovery_token'
  | 'email_change_token_new'
  | 'email_change_token_current'
  | 'phone_token'
  | 'phone_change_token'
  | 'reauthentication_token';

/** What a client keeps the answer to, so that nobody else can use what comes of its request (PKCE, RFC 7636 §4.2). */
export interface CodeChallenge {
  challenge: string;
  method: 's256' | 'plain';
}

/** Milliseconds since the epoch of a time in a row; `infinity`, as PostgreSQL writes it, is one as well. */
export function instant(text: string | null): number | null {
  if (text === null) return null;
  return text === 'infinity' ? Number.POSITIVE_INFINITY : Date.parse(text);
}

/** What a user's metadata is: their own, and what only administrators write. Both are in every access token. */
export type MetadataKind = 'user_metadata' | 'app_metadata';
