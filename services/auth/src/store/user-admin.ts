import { enqueued, fragment, type Tx } from '@croft/sql';
import type { MetadataKind, Person, TokenType } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { wrongCodesForgotten } from './factor-locks.ts';
import { type MetadataLimits, mergedMetadata, metadataPatches } from './metadata.ts';
import { vouchesFor } from './vouching.ts';

/** A user an administrator makes: whole from the first moment, nothing is sent. */
export interface AdminUser {
  id: string;
  aud: string;
  role: string;
  email: string | null;
  phone: string | null;
  emailConfirmed: boolean;
  phoneConfirmed: boolean;
  passwordHash: string | null;
  appMetadata: object;
  userMetadata: object;
  identities: readonly { provider: string; provider_id: string; data: object }[];
  bannedUntil: Date | null;
  /** Payload of the outbox row that tells a hook of the user; none without one. */
  notice?: object | undefined;
  trace: Trace;
}

/** Which of an address and a number somebody has. */
export async function findTaken(
  tx: Tx,
  email: string | null,
  phone: string | null,
): Promise<{ email: boolean; phone: boolean }> {
  const found = await tx.row<{ email: boolean; phone: boolean }>`
    select exists (select from :schema.users where email = ${email} and is_sso_user = false) as email,
      exists (select from :schema.users where phone = ${phone}) as phone`;
  return found ?? { email: false, phone: false };
}

/** @throws the database's unique violation of `users_pkey`, `users_email_key` or `users_phone_key` */
export async function insert(tx: Tx, user: AdminUser): Promise<Person> {
  const now = tx.now;
  const notice = user.notice && JSON.stringify(user.notice);
  const person = await tx.row<Person>`
    with person as (
      insert into :schema.users (id, aud, role, email, phone, encrypted_password, email_confirmed_at,
        phone_confirmed_at, raw_app_meta_data, raw_user_meta_data, banned_until, given_by_admin, created_at, updated_at)
      values (${user.id}::uuid, ${user.aud}, ${user.role}, ${user.email}::text, ${user.phone}::text,
        ${user.passwordHash}::text,
        case when ${user.emailConfirmed}::boolean then ${now}::timestamptz end,
        case when ${user.phoneConfirmed}::boolean then ${now}::timestamptz end,
        ${JSON.stringify(user.appMetadata)}::jsonb, ${JSON.stringify(user.userMetadata)}::jsonb,
        ${user.bannedUntil}::timestamptz, true, ${now}, ${now})
      returning *),
    made as (
      insert into :schema.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select w.provider_id, person.id, w.data, w.provider, ${now}, ${now}, ${now} from person,
        jsonb_to_recordset(${JSON.stringify(user.identities)}::jsonb) as w (provider text, provider_id text, data jsonb)
      returning *),
    notice as (
      ${enqueued(now, fragment`select 'user_created', ${notice}::jsonb, '' from person where ${notice}::jsonb is not null`)}),
    audit as (${audited(user.trace, now, fragment`person`)})
    select to_jsonb(person) as "user",
      (select coalesce(jsonb_agg(to_jsonb(made) order by made.provider), '[]') from made) as identities
    -- What nothing reads is not announced.
    from person where (select count(*) from notice) >= 0`;
  if (person === undefined) throw new Error('an insert returned no row');
  return person;
}

/** What an administrator changes; what is undefined stays. */
export interface AdminChanges {
  userId: string;
  role?: string | undefined;
  /** Another address or number than the present one; it takes its place at once. */
  email?: string | undefined;
  phone?: string | undefined;
  /** Whether the address or number, the new one if there is one, counts as proven from now on. */
  emailConfirmed: boolean;
  phoneConfirmed: boolean;
  /** Ends all sessions. */
  passwordHash?: string | undefined;
  /** Null lifts a ban. */
  bannedUntil?: Date | null | undefined;
  /** Laid over the present metadata; members that are null go away. */
  userMetadata: object;
  appMetadata: object;
  /** When either would have more, and grow, nothing is changed. */
  metadataLimits: MetadataLimits;
  trace: Trace;
}

/** What became of them: the user as it is now, undefined when it is gone or its metadata would be too large. */
export interface AdminChanged {
  person: Person | undefined;
  /** Which metadata, with what others laid over it meanwhile. */
  tooLarge: MetadataKind | null;
}

const MAIL_CODES: readonly TokenType[] = [
  'recovery_token',
  'email_change_token_new',
  'email_change_token_current',
  'reauthentication_token',
];
const PHONE_CODES: readonly TokenType[] = ['phone_token', 'phone_change_token', 'reauthentication_token'];

/**
 * Changes a user as an administrator may. Codes that would undo it are void: those of a former address or number, and
 * with a new password all but a confirmation, which then brings no password of its own.
 * @throws the database's unique violation of `users_email_key` or `users_phone_key`
 */
export async function update(tx: Tx, changes: AdminChanges): Promise<AdminChanged> {
  const { userId, email, phone, emailConfirmed, phoneConfirmed, passwordHash, bannedUntil, trace } = changes;
  const now = tx.now;
  const setsPassword = passwordHash !== undefined;
  const voided = [
    ...(setsPassword ? [...MAIL_CODES, ...PHONE_CODES] : []),
    ...(email === undefined ? [] : ['confirmation_token', ...MAIL_CODES]),
    ...(phone === undefined ? [] : PHONE_CODES),
  ];
  const added = [...(email === undefined ? [] : ['email']), ...(phone === undefined ? [] : ['phone'])];
  const patches = metadataPatches(changes.userMetadata, changes.appMetadata);
  const row = await tx.row<Partial<Person> & Pick<AdminChanged, 'tooLarge'>>`
    with locked as (
      select id, raw_user_meta_data, raw_app_meta_data from :schema.users
      where id = ${userId}::uuid and deleted_at is null for no key update),
    ${mergedMetadata(patches, changes.metadataLimits)},
    going as (select id from locked where not exists (select from too_large)),
    ended as (select :schema.end_sessions(id, null, null) from going where ${setsPassword}::boolean),
    codes as (
      delete from :schema.one_time_tokens t using going
      where t.user_id = going.id and t.token_type = any (${voided}::text[])),
    tamed as (
      update :schema.one_time_tokens t set pending_password = null, pending_data = null from going
      where t.user_id = going.id and t.token_type = 'confirmation_token'
        and t.token_type <> all (${voided}::text[]) and (${setsPassword}::boolean or ${emailConfirmed}::boolean)),
    person as (
      update :schema.users set updated_at = ${now},
        role = coalesce(${changes.role}, role),
        encrypted_password = coalesce(${passwordHash}, encrypted_password),
        email = coalesce(${email}, email),
        phone = coalesce(${phone}, phone),
        -- Both are one person's then, which nobody but an administrator can say of an address that was not proven.
        given_by_admin = given_by_admin or (${email}::text is not null and email is null and phone_confirmed_at is not null),
        email_change = case when ${setsPassword || email !== undefined}::boolean then null else email_change end,
        email_change_confirm_status = case when ${setsPassword || email !== undefined}::boolean then 0
          else email_change_confirm_status end,
        phone_change = case when ${setsPassword || phone !== undefined}::boolean then null else phone_change end,
        email_confirmed_at = case when ${emailConfirmed}::boolean and coalesce(${email}, email) is not null
          then coalesce(email_confirmed_at, ${now}) else email_confirmed_at end,
        phone_confirmed_at = case when ${phoneConfirmed}::boolean and coalesce(${phone}, phone) is not null
          then coalesce(phone_confirmed_at, ${now}) else phone_confirmed_at end,
        is_anonymous = is_anonymous and ${email}::text is null and ${phone}::text is null,
        banned_until = case when ${bannedUntil !== undefined}::boolean then ${bannedUntil}::timestamptz else banned_until end,
        raw_user_meta_data = (select user_data from merged)
          || case when ${email}::text is not null and raw_user_meta_data ? 'email'
            then jsonb_build_object('email', ${email}::text) else '{}' end
          || case when ${emailConfirmed}::boolean and coalesce(${email}, email) is not null then '{"email_verified": true}'
            when ${email}::text is not null and raw_user_meta_data ? 'email_verified' then '{"email_verified": false}'
            else '{}' end::jsonb
          || case when ${phone}::text is not null and raw_user_meta_data ? 'phone'
            then jsonb_build_object('phone', ${phone}::text) else '{}' end
          || case when ${phoneConfirmed}::boolean and coalesce(${phone}, phone) is not null then '{"phone_verified": true}'
            when ${phone}::text is not null and raw_user_meta_data ? 'phone_verified' then '{"phone_verified": false}'
            else '{}' end::jsonb,
        raw_app_meta_data = (select app_data from merged)
          || case when cardinality(${added}::text[]) = 0 or ${patches.app_metadata}::jsonb ? 'providers'
              or jsonb_typeof(coalesce(raw_app_meta_data -> 'providers', '[]')) <> 'array' then '{}'::jsonb
            else jsonb_build_object('providers', coalesce(raw_app_meta_data -> 'providers', '[]')
              || (select coalesce(jsonb_agg(name), '[]') from unnest(${added}::text[]) name
                where not coalesce(raw_app_meta_data -> 'providers', '[]') ? name)) end
      where id in (select id from going)
      returning *),
    changed as (
      update :schema.identities i set updated_at = ${now}, identity_data = i.identity_data
        || case when i.provider = 'email'
          then jsonb_build_object('email', person.email, 'email_verified', ${emailConfirmed}::boolean)
          else jsonb_build_object('phone', person.phone, 'phone_verified', ${phoneConfirmed}::boolean) end
      from person where i.user_id = person.id
        and ((i.provider = 'email' and person.email is not null and (${email}::text is not null or ${emailConfirmed}::boolean))
          or (i.provider = 'phone' and person.phone is not null and (${phone}::text is not null or ${phoneConfirmed}::boolean)))
      returning i.*),
    made as (
      insert into :schema.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select person.id::text, person.id, w.data || jsonb_build_object('sub', person.id), w.provider, ${now}, ${now}, ${now}
      from person, (values
        ('email', jsonb_build_object('email', ${email}::text, 'email_verified', ${emailConfirmed}::boolean), ${email}::text),
        ('phone', jsonb_build_object('phone', ${phone}::text, 'phone_verified', ${phoneConfirmed}::boolean), ${phone}::text)
      ) as w (provider, data, address)
      where w.address is not null and not exists (
        select from :schema.identities i where i.user_id = person.id and i.provider = w.provider)
      -- The same again at once does not see what the first one made.
      on conflict (provider_id, provider) do nothing
      returning *),
    audit as (${audited(trace, now, fragment`person`)})
    select (select what from too_large) as "tooLarge", (select to_jsonb(person) from person) as "user",
      (select coalesce(jsonb_agg(one order by one ->> 'created_at', one ->> 'provider'), '[]') from (
        select coalesce(to_jsonb(n), to_jsonb(i)) as one
        from :schema.identities i left join changed n on n.id = i.id where i.user_id = ${userId}::uuid
        union all select to_jsonb(made) from made) as every) as identities,
      (select count(*) from ended) as ends`;
  const { user, identities = [], tooLarge = null } = row ?? {};
  return { person: user ? { user, identities } : undefined, tooLarge };
}

/**
 * Takes from an account what a stranger may have put there who did not prove its address: all of a sign-up, a number, and
 * what he began or added since. An invitation confirms the address for the person invited, not for whoever typed it first.
 */
export async function forgetUnproven(tx: Tx, userId: string): Promise<void> {
  await tx.run`
    -- As isProvenTo says it.
    with locked as (
      select id, email, given_by_admin, invited_at, email_confirmed_at is null and not (given_by_admin and confirmed_at is not null)
        as is_unproven
      from :schema.users where id = ${userId}::uuid for no key update),
    -- As isStrangers says it; what an administrator set stays.
    unproven as (
      select id, email, given_by_admin, not given_by_admin and invited_at is null as is_strangers from locked
      where is_unproven),
    codes as (
      update :schema.one_time_tokens t set pending_password = null, pending_data = null from locked
      where t.user_id = locked.id and t.token_type = 'confirmation_token'),
    -- Of these one may be in the stranger's own mailbox.
    changes as (
      delete from :schema.one_time_tokens t using unproven where t.user_id = unproven.id
        and t.token_type in ('email_change_token_new', 'email_change_token_current', 'phone_change_token')),
    -- Ways in that somebody found who never showed that the address is theirs.
    identities as (
      delete from :schema.identities i using unproven where i.user_id = unproven.id
        and i.provider <> 'email' and not ${vouchesFor(fragment`unproven.email`)}
        and not (i.provider = 'phone' and unproven.given_by_admin)),
    factors as (delete from :schema.mfa_factors f using unproven where f.user_id = unproven.id),
    ended as (select :schema.end_sessions(id, null, null) from unproven),
    one as (select count(*) from ended)
    update :schema.users u set
      encrypted_password = case when not is_strangers then encrypted_password end,
      phone = case when u.given_by_admin then phone end,
      phone_confirmed_at = case when u.given_by_admin then phone_confirmed_at end,
      raw_user_meta_data = case when is_strangers then jsonb_build_object('sub', u.id, 'email', u.email)
        else raw_user_meta_data end,
      raw_app_meta_data = u.raw_app_meta_data || case when u.given_by_admin then '{}'
        else jsonb_build_object('provider', 'email', 'providers', (
          select jsonb_agg(distinct way) from (select 'email' as way union select i.provider from :schema.identities i
            where i.user_id = u.id and ${vouchesFor(fragment`u.email`)}) as ways)) end,
      ${wrongCodesForgotten(fragment`true`)},
      -- Without its codes a change would be sent again, by whoever asks for that.
      email_change = null, email_change_confirm_status = 0, phone_change = null
    from unproven, one where u.id = unproven.id`;
}

/** Makes the codes of a change of address void, because another change takes its place. */
export async function forgetEmailChange(tx: Tx, userId: string): Promise<void> {
  await tx.run`
    delete from :schema.one_time_tokens where user_id = ${userId}::uuid
      and token_type in ('email_change_token_new', 'email_change_token_current')`;
}
