import { fragment, type Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { type NewSession, opened } from './openings.ts';

/** An identity that becomes another way into an account. */
export interface NewLink {
  userId: string;
  /** The session that asked for it: when that one has ended, nothing is linked. */
  askedBy: string | undefined;
  identity: { id: string; provider: string; subject: string; data: object };
  /** Becomes the account's address when it has none: the provider vouches for it. */
  email: string | null;
  /** The code that is used up by it. */
  codeHash: Buffer | undefined;
  session: NewSession;
  trace: Trace;
}

/**
 * Links an identity and opens a session.
 * @returns undefined when user, session or code are gone, or somebody has the identity: nothing was linked then
 * @throws the database's unique violation when somebody has the address
 */
export function link(
  tx: Tx,
  { userId, askedBy, identity, email, ...others }: NewLink,
): Promise<Person | undefined> {
  const { codeHash, session, trace } = others;
  const now = tx.now;
  return tx.row<Person>`
    -- The user first, as everything does that opens or ends sessions.
    with locked as (
      select id from :schema.users where id = ${userId}::uuid and deleted_at is null and is_sso_user = false
        and (banned_until is null or banned_until <= ${now})
      for no key update),
    own as (
      select s.id from :schema.sessions s join locked on s.user_id = locked.id where s.id = ${askedBy}::uuid
      for key share of s),
    asking as (select id from locked where ${askedBy}::uuid is null or exists (select from own)),
    consumed as (
      delete from :schema.auth_codes c using asking where c.user_id = asking.id and c.code_hash = ${codeHash}::bytea
        and c.expires_at > ${now}
      returning c.id),
    going as (select id from asking where ${codeHash}::bytea is null or exists (select from consumed)),
    identity as (
      insert into :schema.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select ${identity.id}::uuid, ${identity.subject}::text, id, ${JSON.stringify(identity.data)}::jsonb,
        ${identity.provider}::text, ${now}, ${now}, ${now}
      from going
      on conflict (provider_id, provider) do nothing
      returning *),
    person as (
      update :schema.users u set last_sign_in_at = ${now}, updated_at = ${now}, is_anonymous = false,
        email = coalesce(u.email, ${email}::text),
        email_confirmed_at = case when u.email is null and ${email}::text is not null then ${now} else u.email_confirmed_at end,
        raw_user_meta_data = u.raw_user_meta_data || case when u.email is null and ${email}::text is not null
          then jsonb_build_object('email', ${email}::text, 'email_verified', true) else '{}' end,
        -- Of the row as it is now: what others linked meanwhile, this statement does not see in their table.
        raw_app_meta_data = u.raw_app_meta_data || (
          select jsonb_build_object('provider', list -> 0, 'providers', list) from (
            select case when have ? identity.provider then have else have || to_jsonb(identity.provider) end as list
            from (select case when jsonb_typeof(u.raw_app_meta_data -> 'providers') = 'array'
              then u.raw_app_meta_data -> 'providers' else '[]' end as have) as present) as extended)
      from identity where u.id = identity.user_id
      returning u.*),
    ${opened(session, trace, now)},
    audit as (${audited(trace, now, fragment`person`)})
    select to_jsonb(person) as "user",
      (select coalesce(jsonb_agg(one order by one ->> 'created_at', one ->> 'provider'), '[]') from (
        select to_jsonb(i) as one from :schema.identities i where i.user_id = person.id
        union all select to_jsonb(identity) from identity) as every_one) as identities
    from person`;
}

/** Whose identity it is. */
export async function findOwner(tx: Tx, provider: string, subject: string): Promise<string | undefined> {
  const row = await tx.row<{ owner: string }>`
    select user_id as owner from :schema.identities where provider_id = ${subject} and provider = ${provider}`;
  return row?.owner;
}
