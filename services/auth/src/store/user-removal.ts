import { fragment, type Tx } from '@croft/sql';
import { audited, type Trace } from './audit-log.ts';

/**
 * Deletes a user with everything of it. Sessions go first, in the order in which others lock them.
 * @returns whether there was one
 */
export async function remove(tx: Tx, userId: string, trace: Trace): Promise<boolean> {
  const gone = await tx.row<{ id: string }>`
    with locked as (select id from :schema.users where id = ${userId}::uuid for update),
    ended as (select :schema.end_sessions(id, null, null) from locked),
    gone as (
      delete from :schema.users where id in (select id from locked) and (select count(*) from ended) >= 0 returning id),
    audit as (${audited(trace, tx.now, fragment`gone`)})
    select id from gone`;
  return gone !== undefined;
}

/** What stands in place of what told who somebody was. */
export interface Obfuscation {
  userId: string;
  email: string | null;
  phone: string | null;
  /** By the id of the identity. */
  providerIds: readonly { id: string; providerId: string }[];
}

/**
 * Keeps the row of a user, for what refers to it, and nothing that tells who it was or lets anybody in. Sessions and codes go.
 * @returns false when there is none, or it was deleted before
 */
export async function obfuscate(tx: Tx, user: Obfuscation, trace: Trace): Promise<boolean> {
  const now = tx.now;
  const gone = await tx.row<{ id: string }>`
    with locked as (
      select id from :schema.users where id = ${user.userId}::uuid and deleted_at is null for no key update),
    ended as (select :schema.end_sessions(id, null, null) from locked),
    codes as (delete from :schema.one_time_tokens where user_id in (select id from locked)),
    factors as (delete from :schema.mfa_factors where user_id in (select id from locked)),
    identities as (
      update :schema.identities i set provider_id = w."providerId", identity_data = '{}', updated_at = ${now}
      from locked, jsonb_to_recordset(${JSON.stringify(user.providerIds)}::jsonb) as w (id uuid, "providerId" text)
      where i.id = w.id and i.user_id = locked.id),
    gone as (
      update :schema.users set deleted_at = ${now}, updated_at = ${now}, email = ${user.email}::text,
        phone = ${user.phone}::text, encrypted_password = null, email_change = null, email_change_confirm_status = 0,
        phone_change = null, raw_app_meta_data = '{}', raw_user_meta_data = '{}'
      where id in (select id from locked) and (select count(*) from ended) >= 0
      returning id),
    audit as (${audited(trace, now, fragment`gone`)})
    select id from gone`;
  return gone !== undefined;
}
