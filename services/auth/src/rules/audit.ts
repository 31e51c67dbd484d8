/** What is recorded, and under which heading (as in GoTrue). */
const LOG_TYPES = {
  login: 'account',
  logout: 'account',
  invite_accepted: 'account',
  user_signedup: 'team',
  user_invited: 'team',
  user_deleted: 'team',
  token_revoked: 'token',
  token_refreshed: 'token',
  user_modified: 'user',
  user_recovery_requested: 'user',
  user_confirmation_requested: 'user',
  user_repeated_signup: 'user',
  user_reauthenticate_requested: 'user',
  user_updated_password: 'user',
  identity_linked: 'user',
  identity_unlinked: 'user',
  factor_in_progress: 'factor',
  challenge_created: 'factor',
  verification_attempted: 'factor',
  factor_unenrolled: 'factor',
  factor_updated: 'factor',
  factor_deleted: 'factor',
} as const;

/** An action that is recorded. */
export type AuditAction = keyof typeof LOG_TYPES;

/** Trait of everything somebody does with address and password or by mail. */
export const BY_EMAIL = { provider: 'email' };

/** Trait of everything somebody does with a phone number. */
export const BY_PHONE = { provider: 'phone' };

/** Trait of everything somebody does by way of an external provider. */
export function byProvider(provider: string): { provider: string } {
  return { provider };
}

/** Traits of what an administrator does to a user. */
export function toUser(user: { id: string; email: string | null; phone: string | null }): object {
  return {
    user_id: user.id,
    user_email: user.email ?? '',
    ...(user.phone === null || user.phone === '' ? {} : { user_phone: user.phone }),
  };
}

/** Who acts, as far as an audit entry names them. */
export interface Actor {
  id: string;
  email: string | null;
  phone: string | null;
  is_sso_user: boolean;
  raw_user_meta_data: Record<string, unknown>;
}

/** An administrator acts as a role, not as a user: there may be no user behind the token. */
export function adminActor(role: string): Actor {
  return {
    id: '00000000-0000-0000-0000-000000000000',
    email: role,
    phone: null,
    is_sso_user: false,
    raw_user_meta_data: {},
  };
}

/** Metadata has no end of its own, and every entry of its owner repeats this of it. */
const MAX_NAME_CHARACTERS = 255;

/** One entry of the audit log. */
export function auditEntry(actor: Actor, action: AuditAction, traits?: object): object {
  const name = actor.raw_user_meta_data['full_name'];
  return {
    action,
    actor_id: actor.id,
    ...(typeof name === 'string' && name !== ''
      ? { actor_name: name.slice(0, MAX_NAME_CHARACTERS).toWellFormed() }
      : {}),
    actor_username: actor.phone || actor.email || '',
    actor_via_sso: actor.is_sso_user,
    log_type: LOG_TYPES[action],
    ...(traits === undefined ? {} : { traits }),
  };
}
