import type { Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import type { Trace } from './audit-log.ts';
import type { Confirmation } from './one-time-tokens.ts';
import type { NewSession } from './sessions.ts';

/** The living user of an address, whatever its state. */
export function findByEmail(tx: Tx, email: string): Promise<Person | undefined> {
  return tx.row<Person>`
    select to_jsonb(u) as "user",
      (select coalesce(jsonb_agg(to_jsonb(i) order by i.created_at), '[]') from :schema.identities i
        where i.user_id = u.id) as identities
    from :schema.users u
    where u.email = ${email} and u.is_sso_user = false and u.deleted_at is null`;
}

/** The user an access token speaks of, and whether the session it names is there: one look for both. */
export function findByAccessToken(
  tx: Tx,
  userId: string,
  sessionId: string | null,
): Promise<(Person & { hasSession: boolean }) | undefined> {
  return tx.row<Person & { hasSession: boolean }>`
    select to_jsonb(u) as "user",
      (select coalesce(jsonb_agg(to_jsonb(i) order by i.created_at), '[]') from :schema.identities i
        where i.user_id = u.id) as identities,
      exists (select from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as "hasSession"
    from :schema.users u
    where u.id = ${userId}::uuid and u.deleted_at is null`;
}

/** A user to be made, with what is made along with it in the same statement. */
export interface NewUser {
  id: string;
  aud: string;
  role: string;
  email: string;
  passwordHash: string;
  appMetadata: object;
  /** Becomes the user's metadata and the data of its identity. */
  identityData: object;
  /** What proves the address later; without one the address counts as confirmed. */
  confirmation?: Confirmation;
  /** Signs the new user in. */
  session?: NewSession;
  trace: Trace;
}

/**
 * Makes a user, and its code and mail or its session.
 * @returns undefined when somebody has the address: nothing was written then
 */
export function insert(tx: Tx, user: NewUser): Promise<Person | undefined> {
  const { confirmation, session, trace } = user;
  const now = tx.now;
  const confirmedAt = confirmation === undefined ? now : null;
  return tx.row<Person>`
    with person as (
      insert into :schema.users (id, aud, role, email, encrypted_password, email_confirmed_at, confirmation_sent_at,
        last_sign_in_at, raw_app_meta_data, raw_user_meta_data, created_at, updated_at, signup_answered_at)
      values (${user.id}, ${user.aud}, ${user.role}, ${user.email}, ${user.passwordHash}, ${confirmedAt},
        ${confirmation && now}, ${session && now},
        ${JSON.stringify(user.appMetadata)}, ${JSON.stringify(user.identityData)}, ${now}, ${now},
        ${now})
      on conflict (email) where is_sso_user = false do nothing
      returning *),
    identity as (
      insert into :schema.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select id, id, raw_user_meta_data, 'email', ${now}, ${now}, ${now} from person
      returning *),
    code as (
      insert into :schema.one_time_tokens (user_id, token_type, token_hash, relates_to, created_at, updated_at)
      select id, 'confirmation_token', ${confirmation?.tokenHash}::text, email, ${now}, ${now} from person
      where ${confirmation?.tokenHash}::text is not null),
    mail as (
      insert into :schema.outbox (topic, payload, created_at, run_at)
      select 'mail', ${confirmation && JSON.stringify(confirmation.mail)}::jsonb, ${now}, ${now} from person
      where ${confirmation?.tokenHash}::text is not null
      returning pg_notify('croft_outbox', '')),
    session as (
      insert into :schema.sessions (id, user_id, user_agent, ip, created_at, updated_at)
      select ${session?.id}::uuid, id, ${trace.userAgent}::text, ${trace.ip}::inet, ${now}, ${now} from person
      where ${session?.id}::uuid is not null
      returning id),
    token as (
      insert into :schema.refresh_tokens (session_id, token_hash, counter, rotated_at)
      select id, ${session?.tokenHash}::bytea, 0, ${now} from session),
    claim as (
      insert into :schema.mfa_amr_claims (session_id, authentication_method, created_at, updated_at)
      select id, ${session?.method}::text, ${now}, ${now} from session),
    audit as (
      insert into :schema.audit_log_entries (payload, ip_address, created_at)
      select entry, coalesce(${trace.ip}::text, ''), ${now}
      from person, json_array_elements(${JSON.stringify(trace.audit)}::json) entry)
    select to_jsonb(person) as "user", jsonb_build_array(to_jsonb(identity)) as identities from person, identity`;
}

/**
 * Records a sign-up with the address of a confirmed user, unless there was one after `notAfter`.
 * @returns false then: nothing was written
 */
export async function noteRepeatedSignUp(
  tx: Tx,
  userId: string,
  notAfter: Date | undefined,
  trace: Trace,
): Promise<boolean> {
  const noted = await tx.run`
    with person as (
      update :schema.users set signup_answered_at = ${tx.now}
      where id = ${userId}::uuid and (${notAfter}::timestamptz is null or signup_answered_at is null
        or signup_answered_at <= ${notAfter})
      returning id)
    insert into :schema.audit_log_entries (payload, ip_address, created_at)
    select entry, coalesce(${trace.ip}::text, ''), ${tx.now}
    from person, json_array_elements(${JSON.stringify(trace.audit)}::json) entry`;
  return noted > 0;
}

/** Makes an account the administrator's own: role, password and a confirmed address; whoever was signed in is not any more. */
export async function takeOver(tx: Tx, userId: string, role: string, passwordHash: string): Promise<void> {
  await tx.run`
    with locked as (
      select t.session_id from :schema.refresh_tokens t join :schema.sessions s on s.id = t.session_id
      where s.user_id = ${userId}::uuid order by t.session_id for update of t),
    sessions as (
      delete from :schema.sessions where user_id = ${userId}::uuid and (select count(*) from locked) >= 0),
    codes as (delete from :schema.one_time_tokens where user_id = ${userId}::uuid)
    update :schema.users set role = ${role}, encrypted_password = ${passwordHash}, banned_until = null,
      email_confirmed_at = coalesce(email_confirmed_at, ${tx.now}), updated_at = ${tx.now}
    where id = ${userId}::uuid`;
}
