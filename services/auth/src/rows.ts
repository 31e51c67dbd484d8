// The rows that operations and rules speak of; types only, and what it takes to read a time in them.

/**
 * A user as `to_jsonb` gives it: times are text. Rows travel as JSON because a statement that lists no columns stays
 * valid, prepared, while another process adds some.
 */
export interface UserRow {
  id: string;
  aud: string;
  role: string;
  email: string | null;
  encrypted_password: string | null;
  email_confirmed_at: string | null;
  invited_at: string | null;
  confirmation_sent_at: string | null;
  recovery_sent_at: string | null;
  email_change: string | null;
  email_change_sent_at: string | null;
  phone: string | null;
  phone_confirmed_at: string | null;
  phone_change: string | null;
  phone_change_sent_at: string | null;
  confirmed_at: string | null;
  reauthentication_sent_at: string | null;
  last_sign_in_at: string | null;
  raw_app_meta_data: Record<string, unknown>;
  raw_user_meta_data: Record<string, unknown>;
  banned_until: string | null;
  is_sso_user: boolean;
  is_anonymous: boolean;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
}

/** A way to sign in that belongs to a user. */
export interface IdentityRow {
  id: string;
  provider_id: string;
  user_id: string;
  identity_data: Record<string, unknown>;
  provider: string;
  email: string | null;
  last_sign_in_at: string | null;
  created_at: string;
  updated_at: string;
}

/** A user with everything an answer shows of it. */
export interface Person {
  user: UserRow;
  identities: IdentityRow[];
}

/** Kinds of codes that sign somebody in. */
export type SignInTokenType = 'confirmation_token' | 'recovery_token';

/** Milliseconds since the epoch of a time in a row; `infinity`, as PostgreSQL writes it, is one as well. */
export function instant(text: string | null): number | null {
  if (text === null) return null;
  return text === 'infinity' ? Number.POSITIVE_INFINITY : Date.parse(text);
}
