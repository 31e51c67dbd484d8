import { enqueued, fragment, type Reader, type Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { wrongCodesForgotten } from './factor-locks.ts';
import { identitiesOf } from './identities-of.ts';
import { codesJson, type SentAtColumn, type StoredCode } from './one-time-tokens.ts';
import { awaited, type NewAuthCode, type NewSession, opened } from './openings.ts';
import { type SendLimit, sendOnce } from './send-limits.ts';

/** The living user of an address, whatever its state. */
export function findByEmail(tx: Tx, email: string): Promise<Person | undefined> {
  return tx.row<Person>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities
    from :schema.users u
    where u.email = ${email} and u.is_sso_user = false and u.deleted_at is null`;
}

/** The living user of a phone number, whatever its state. */
export function findByPhone(tx: Tx, phone: string): Promise<Person | undefined> {
  return tx.row<Person>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities
    from :schema.users u
    where u.phone = ${phone} and u.deleted_at is null`;
}

/** The living user with the id. */
export function findById(tx: Tx, id: string): Promise<Person | undefined> {
  return tx.row<Person>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities
    from :schema.users u
    where u.id = ${id}::uuid and u.deleted_at is null`;
}

/** The user with the id, living or removed softly. */
export function findLivingOrRemoved(tx: Tx, id: string): Promise<Person | undefined> {
  return tx.row<Person>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities
    from :schema.users u
    where u.id = ${id}::uuid`;
}

/**
 * Holds a user's row until the transaction ends. The statements that follow see what others who held it before have written;
 * one that waits for the row by itself does not.
 */
export async function hold(tx: Tx, id: string): Promise<void> {
  await tx.row`select id from :schema.users where id = ${id}::uuid for no key update`;
}

/** The user an access token speaks of, and whether the session it names is there: one look for both. */
export function findByAccessToken(
  tx: Reader,
  userId: string,
  sessionId: string | null,
): Promise<(Person & { hasSession: boolean; aal: string | null }) | undefined> {
  return tx.row<Person & { hasSession: boolean; aal: string | null }>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities,
      exists (select from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as "hasSession",
      (select s.aal from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as aal
    from :schema.users u
    where u.id = ${userId}::uuid and u.deleted_at is null`;
}

/** A user to be made, with what is made along with it in the same statement. */
export interface NewUser {
  id: string;
  aud: string;
  role: string;
  /** Address or number, or neither for an anonymous user. */
  email: string | null;
  phone: string | null;
  emailConfirmed: boolean;
  phoneConfirmed: boolean;
  /** Null for those who never have one. */
  passwordHash: string | null;
  appMetadata: object;
  userMetadata: object;
  /** Null for anonymous users. */
  identity: { provider: string; providerId: string; data: object } | null;
  isAnonymous: boolean;
  /** Whether an administrator makes it. */
  givenByAdmin?: boolean;
  bannedUntil?: Date | undefined;
  /** What proves the address later. */
  code?: StoredCode;
  sentAt?: readonly SentAtColumn[];
  limit?: SendLimit | undefined;
  /** Signs the new user in, at once or when the verifier of the code comes. */
  session?: NewSession;
  authCode?: NewAuthCode;
  /** Payload of the outbox row that tells a hook of the user; none without one. */
  notice?: object | undefined;
  trace: Trace;
}

/** What became of it. */
export interface Inserted {
  /** False when the limit forbade it: nothing was written then. */
  allowed: boolean;
  lastSentAt: Date | null;
  /** Whether the user was made; if not, somebody has the address, the number or the id. */
  created: boolean;
  /** The new user, or who has the address or number already, as far as that could be seen. */
  person: Person | undefined;
}

/** Makes a user, and its code and message or its session. One look tells who has the address otherwise. */
export async function insert(tx: Tx, user: NewUser): Promise<Inserted> {
  const { code, session, limit, sentAt = [], trace } = user;
  const notice = user.notice && JSON.stringify(user.notice);
  const now = tx.now;
  const row = await tx.row<Omit<Inserted, 'person'> & Partial<Person>>`
    with ${sendOnce(limit, now)},
    person as (
      insert into :schema.users (id, aud, role, email, phone, encrypted_password, email_confirmed_at,
        phone_confirmed_at, confirmation_sent_at, invited_at, recovery_sent_at, last_sign_in_at, raw_app_meta_data,
        raw_user_meta_data, is_anonymous, given_by_admin, banned_until, created_at, updated_at)
      select ${user.id}::uuid, ${user.aud}, ${user.role}, ${user.email}::text, ${user.phone}::text, ${user.passwordHash}::text,
        case when ${user.emailConfirmed}::boolean then ${now}::timestamptz end,
        case when ${user.phoneConfirmed}::boolean then ${now}::timestamptz end,
        case when 'confirmation_sent_at' = any (${sentAt}::text[]) then ${now}::timestamptz end,
        case when 'invited_at' = any (${sentAt}::text[]) then ${now}::timestamptz end,
        case when 'recovery_sent_at' = any (${sentAt}::text[]) then ${now}::timestamptz end,
        ${(session ?? user.authCode) && now}::timestamptz, ${JSON.stringify(user.appMetadata)}::jsonb,
        ${JSON.stringify(user.userMetadata)}::jsonb, ${user.isAnonymous}::boolean, ${user.givenByAdmin ?? false}::boolean, ${user.bannedUntil}::timestamptz, ${now}, ${now}
      from allowed
      on conflict do nothing
      returning *),
    identity as (
      insert into :schema.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select ${user.identity?.providerId}::text, id, ${user.identity && JSON.stringify(user.identity.data)}::jsonb,
        ${user.identity?.provider}::text, ${now}, ${now}, ${now}
      from person where ${user.identity?.provider}::text is not null
      returning *),
    wanted as (
      select c.* from jsonb_to_recordset(${codesJson(code === undefined ? [] : [code])}::jsonb) as c (token_type text,
        relates_to text, token_hash text, link_hash text, expires_at timestamptz, pending_password text,
        pending_data jsonb, code_challenge text, code_challenge_method text, topic text, payload jsonb)),
    code as (
      insert into :schema.one_time_tokens (user_id, token_type, relates_to, token_hash, link_hash, expires_at,
        code_challenge, code_challenge_method, created_at, updated_at)
      select person.id, w.token_type, w.relates_to, w.token_hash, w.link_hash, w.expires_at, w.code_challenge,
        w.code_challenge_method, ${now}, ${now}
      from person, wanted w),
    effect as (
      ${enqueued(now, fragment`select w.topic, w.payload, '' from person, wanted w where w.topic is not null`)}),
    notice as (
      ${enqueued(now, fragment`select 'user_created', ${notice}::jsonb, '' from person where ${notice}::jsonb is not null`)}),
    ${opened(session, trace, now)},
    ${awaited(user.authCode, now)},
    audit as (${audited(trace, now, fragment`person`)}),
    existing as (
      select u.* from :schema.users u where u.deleted_at is null and u.is_sso_user = false
        and (u.email = ${user.email} or u.phone = ${user.phone}) limit 1)
    select exists (select from allowed) as allowed,
      (select sent_at from :schema.send_limits where key = ${limit?.key}::bytea) as "lastSentAt",
      exists (select from person) as created,
      coalesce((select to_jsonb(person) from person), (select to_jsonb(existing) from existing)) as "user",
      coalesce((select jsonb_build_array(to_jsonb(identity)) from identity),
        (select jsonb_agg(to_jsonb(i) order by i.created_at, i.provider) from :schema.identities i join existing e on i.user_id = e.id),
        '[]') as identities,
      (select count(*) from effect) + (select count(*) from notice) as effects`;
  const { allowed = false, lastSentAt = null, created = false, user: found, identities = [] } = row ?? {};
  return { allowed, lastSentAt, created, person: found ? { user: found, identities } : undefined };
}

/**
 * Makes an account the administrator's own: role, password and a confirmed address. Whoever was signed in is not any
 * more, and no other way in is left: number, external identities and changes under way are gone.
 */
export async function takeOver(
  tx: Tx,
  userId: string,
  role: string,
  passwordHash: string,
  trace: Trace,
): Promise<void> {
  await tx.run`
    with locked as (select id from :schema.users where id = ${userId}::uuid for no key update),
    ended as (select :schema.end_sessions(id, null, null) from locked),
    codes as (delete from :schema.one_time_tokens t using locked where t.user_id = locked.id),
    factors as (delete from :schema.mfa_factors f using locked where f.user_id = locked.id),
    identities as (delete from :schema.identities i using locked where i.user_id = locked.id and i.provider <> 'email'),
    audit as (${audited(trace, tx.now, fragment`(select) as everything`)})
    update :schema.users set role = ${role}, encrypted_password = ${passwordHash}, banned_until = null,
      email_confirmed_at = coalesce(email_confirmed_at, ${tx.now}), updated_at = ${tx.now},
      email_change = null, email_change_confirm_status = 0, phone = null, phone_confirmed_at = null,
      phone_change = null, ${wrongCodesForgotten(fragment`true`)},
      raw_app_meta_data = raw_app_meta_data || '{"provider": "email", "providers": ["email"]}'
    where id in (select id from locked) and (select count(*) from ended) >= 0`;
}
