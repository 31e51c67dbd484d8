import type { z } from 'zod';
import type { factorBody, identityBody, userBody } from '../responses.ts';
import type { FactorRow, IdentityRow, Person } from '../rows.ts';

/** A user as the protocol shows it; members that are not set are left out. */
export type UserJson = z.infer<typeof userBody>;

/** A way to sign in as the protocol shows it: `id` is the provider's, `identity_id` ours. */
export type IdentityJson = z.infer<typeof identityBody>;

/** Renders a user (as in GoTrue, in its order of members). */
export function userJson({ user, identities }: Person): UserJson {
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email ?? '',
    ...timeOf('email_confirmed_at', user.email_confirmed_at),
    ...timeOf('invited_at', user.invited_at),
    phone: user.phone ?? '',
    ...timeOf('phone_confirmed_at', user.phone_confirmed_at),
    ...timeOf('confirmation_sent_at', user.confirmation_sent_at),
    ...timeOf('confirmed_at', user.confirmed_at),
    ...timeOf('recovery_sent_at', user.recovery_sent_at),
    ...(user.email_change ? { new_email: user.email_change } : {}),
    ...timeOf('email_change_sent_at', user.email_change_sent_at),
    ...(user.phone_change ? { new_phone: user.phone_change } : {}),
    ...timeOf('phone_change_sent_at', user.phone_change_sent_at),
    ...timeOf('reauthentication_sent_at', user.reauthentication_sent_at),
    ...timeOf('last_sign_in_at', user.last_sign_in_at),
    app_metadata: user.raw_app_meta_data,
    user_metadata: user.raw_user_meta_data,
    ...(user.factors.length === 0 ? {} : { factors: user.factors.map(factorJson) }),
    identities: identities.map(identityJson),
    created_at: timestamp(user.created_at),
    updated_at: timestamp(user.updated_at),
    ...timeOf('banned_until', user.banned_until),
    is_anonymous: user.is_anonymous,
  };
}

function identityJson(identity: IdentityRow): IdentityJson {
  return {
    identity_id: identity.id,
    id: identity.provider_id,
    user_id: identity.user_id,
    identity_data: identity.identity_data,
    provider: identity.provider,
    ...timeOf('last_sign_in_at', identity.last_sign_in_at),
    created_at: timestamp(identity.created_at),
    updated_at: timestamp(identity.updated_at),
    ...(identity.email ? { email: identity.email } : {}),
  };
}

/** Renders a second factor. */
export function factorJson(factor: FactorRow): z.infer<typeof factorBody> {
  return {
    id: factor.id,
    created_at: timestamp(factor.created_at),
    updated_at: timestamp(factor.updated_at),
    status: factor.status,
    ...(factor.friendly_name === null ? {} : { friendly_name: factor.friendly_name }),
    factor_type: factor.factor_type,
    ...(factor.phone === null ? {} : { phone: factor.phone }),
    ...timeOf('last_challenged_at', factor.last_challenged_at),
  };
}

/** A time as `to_jsonb` writes it on a connection in UTC. */
const UTC = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00:00$/;

/** RFC 3339 in UTC with six digits, as the protocol's clients have always seen it. */
export function timestamp(text: string): string {
  const [, seconds, fraction = ''] = UTC.exec(text) ?? [];
  if (seconds !== undefined) return `${seconds}.${fraction.padEnd(6, '0')}Z`;
  const time = new Date(text);
  // `infinity` is a time only to PostgreSQL.
  return Number.isNaN(time.getTime()) ? text : time.toISOString().replace('Z', '000Z');
}

function timeOf<Name extends string>(name: Name, text: string | null): { [K in Name]?: string } {
  return (text === null ? {} : { [name]: timestamp(text) }) as { [K in Name]?: string };
}
