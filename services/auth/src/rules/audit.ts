/** What can be recorded by now, and under which heading (§3.13 of the reference notes). */
const LOG_TYPES = {
  login: 'account',
  logout: 'account',
  user_signedup: 'team',
  user_repeated_signup: 'user',
  user_confirmation_requested: 'user',
  token_revoked: 'token',
} as const;

/** An action that is recorded. */
export type AuditAction = keyof typeof LOG_TYPES;

/** Trait of everything somebody does with address and password or by mail. */
export const BY_EMAIL = { provider: 'email' };

/** Who acts, as far as an audit entry names them. */
export interface Actor {
  id: string;
  email: string | null;
  phone: string | null;
  is_sso_user: boolean;
  raw_user_meta_data: Record<string, unknown>;
}

/** One entry of the audit log. */
export function auditEntry(actor: Actor, action: AuditAction, traits?: object): object {
  const name = actor.raw_user_meta_data['full_name'];
  return {
    action,
    actor_id: actor.id,
    ...(typeof name === 'string' && name !== '' ? { actor_name: name } : {}),
    actor_username: actor.phone || actor.email || '',
    actor_via_sso: actor.is_sso_user,
    log_type: LOG_TYPES[action],
    ...(traits === undefined ? {} : { traits }),
  };
}
