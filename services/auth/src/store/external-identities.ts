import { fragment, type Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { wrongCodesForgotten } from './factor-locks.ts';
import { identitiesOf } from './identities-of.ts';
import { awaited, type NewAuthCode, type NewSession, opened } from './openings.ts';
import { IS_VERIFIED, vouchesFor } from './vouching.ts';

/** Who comes from a provider, as far as accounts are looked up by it. */
export interface Arrival {
  provider: string;
  subject: string;
  /** All addresses, and those the provider verified; lower case. */
  emails: readonly string[];
  verified: readonly string[];
  /** Keyed hash of an invitation's link token. */
  inviteTokenHash: string | null;
}

/** An account that has something to do with the arrival, and what. */
export interface Candidate extends Person {
  hasIdentity: boolean;
  /** Proved to have one of the verified addresses. */
  isOwner: boolean;
  /** Has one of the verified addresses without a proof; nor did whoever an administrator gave it to prove anything else. */
  isClaimant: boolean;
  isInvited: boolean;
}

/**
 * Everybody who could be the one who arrives, and everybody in their way. An identity counts by its address only when
 * its own provider verified that: whoever wrote somebody else's address into a profile would wait here for them.
 */
export function listCandidates(tx: Tx, arrival: Arrival): Promise<Candidate[]> {
  const { provider, subject, emails, verified, inviteTokenHash } = arrival;
  const now = tx.now;
  return tx.rows<Candidate>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities,
      exists (select from :schema.identities i
        where i.user_id = u.id and i.provider = ${provider} and i.provider_id = ${subject}) as "hasIdentity",
      (u.email = any (${verified}::text[]) and u.email_confirmed_at is not null
        or exists (select from :schema.identities i where i.user_id = u.id and i.email = any (${verified}::text[])
          and ${IS_VERIFIED})) is true as "isOwner",
      (u.email = any (${verified}::text[]) and u.email_confirmed_at is null
        and not (u.given_by_admin and u.confirmed_at is not null)) is true as "isClaimant",
      exists (select from :schema.one_time_tokens t where t.user_id = u.id and t.link_hash = ${inviteTokenHash}
        and t.token_type = 'confirmation_token' and t.expires_at > ${now}) as "isInvited"
    from :schema.users u
    where u.is_sso_user = false and u.id in (
      select user_id from :schema.identities where provider_id = ${subject} and provider = ${provider}
      union select id from :schema.users where email = any (${emails}::text[]) and is_sso_user = false
      union select user_id from :schema.identities where email = any (${verified}::text[])
      union select user_id from :schema.one_time_tokens where link_hash = ${inviteTokenHash})`;
}

/** A sign-in of somebody who has an account, by way of a provider. */
export interface ExternalSignIn {
  /** The account as it was when it was decided that it is theirs; nothing is written when that changed. */
  user: { id: string; email: string | null; emailConfirmed: boolean; phoneConfirmed: boolean };
  provider: string;
  subject: string;
  /** Becomes the identity's data, and is laid over the user's metadata where there is room for it. */
  identityData: object;
  /** Bytes the metadata may have, as the database spells it: when it would have more, and grow, it stays as it is. */
  maxMetadataBytes: number;
  /** Either the session is opened, or a code waits for its verifier. */
  session?: NewSession;
  authCode?: NewAuthCode;
  /** Whether the address is proven by this. */
  confirms: boolean;
  /** What goes, because a stranger may have put it there: a password, or all that came before, a proven number as well. */
  forgets: 'nothing' | 'password' | 'everything';
  /** Keyed hash of the invitation that is accepted by this. */
  consumes: string | undefined;
  trace: Trace;
}

/**
 * Makes the identity the user's own, and opens a session or notes the code for one.
 * @returns undefined when the account or the identity is not any more what was decided on: nothing was written then
 */
export function signIn(tx: Tx, arrival: ExternalSignIn): Promise<Person | undefined> {
  const { user, provider, subject, session, confirms, forgets, consumes, trace } = arrival;
  const now = tx.now;
  const forgetsAll = forgets === 'everything';
  return tx.row<Person>`
    with locked as (
      select id, given_by_admin from :schema.users where id = ${user.id}::uuid and deleted_at is null
        and (banned_until is null or banned_until <= ${now})
        and (email_confirmed_at is not null) = ${user.emailConfirmed}::boolean
        and (phone_confirmed_at is not null) = ${user.phoneConfirmed}::boolean
        and email is not distinct from ${user.email}::text
      for no key update),
    consumed as (
      delete from :schema.one_time_tokens t using locked where t.user_id = locked.id and t.link_hash = ${consumes}
        and t.token_type = 'confirmation_token' and t.expires_at > ${now}
      returning t.id),
    target as (select id from locked where ${consumes}::text is null or exists (select from consumed)),
    identity as (
      insert into :schema.identities as i (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select ${subject}::text, id, ${JSON.stringify(arrival.identityData)}::jsonb, ${provider}::text, ${now}, ${now}, ${now}
      from target
      -- Apple tells the name once only, so what a profile does not repeat stays.
      on conflict (provider_id, provider) do update set identity_data = i.identity_data || excluded.identity_data,
        last_sign_in_at = excluded.last_sign_in_at, updated_at = excluded.updated_at
        where i.user_id = excluded.user_id
      returning *),
    dropped as (
      delete from :schema.identities i using identity, locked
      where ${forgetsAll}::boolean and i.user_id = identity.user_id and i.id <> identity.id
        -- One of another address may be the stranger's own; the number an administrator gave is not.
        and not ${vouchesFor(fragment`${user.email}::text`)}
        and not (i.provider = 'phone' and locked.given_by_admin)
      returning i.id),
    verified as (
      update :schema.identities i set identity_data = i.identity_data || '{"email_verified": true}', updated_at = ${now}
      from identity where ${confirms}::boolean and not ${forgetsAll}::boolean and i.user_id = identity.user_id
        and i.id <> identity.id and i.provider = 'email'
      returning i.*),
    codes as (
      delete from :schema.one_time_tokens t using identity where ${confirms}::boolean and t.user_id = identity.user_id
        and t.id not in (select id from consumed)),
    factors as (delete from :schema.mfa_factors f using identity where ${forgetsAll}::boolean and f.user_id = identity.user_id),
    ended as (
      select :schema.end_sessions(identity.user_id, null, ${session?.id ?? arrival.authCode?.id}::uuid) from identity where ${forgetsAll}::boolean),
    every as (
      select one.provider, min(one.created_at) as since from (
        select i.provider, i.created_at from :schema.identities i join identity on i.user_id = identity.user_id
          where i.id <> identity.id and not exists (select from dropped where dropped.id = i.id)
        union all select identity.provider, identity.created_at from identity) as one
      group by one.provider),
    providers as (select jsonb_agg(provider order by since, provider) as list from every),
    person as (
      update :schema.users u set last_sign_in_at = ${now}, updated_at = ${now}, is_anonymous = false,
        encrypted_password = case when ${forgets}::text = 'nothing' then encrypted_password end,
        ${wrongCodesForgotten(fragment`${forgetsAll}::boolean`)},
        email_change = case when not ${forgetsAll}::boolean then email_change end,
        email_change_confirm_status = case when ${forgetsAll}::boolean then 0 else email_change_confirm_status end,
        phone = case when not ${forgetsAll}::boolean or given_by_admin then phone end,
        phone_confirmed_at = case when not ${forgetsAll}::boolean or given_by_admin then phone_confirmed_at end,
        phone_change = case when not ${forgetsAll}::boolean then phone_change end,
        email_confirmed_at = case when ${confirms}::boolean then coalesce(email_confirmed_at, ${now}) else email_confirmed_at end,
        raw_user_meta_data = (
            select case when octet_length(laid.data::text) > ${arrival.maxMetadataBytes}::int
                and octet_length(laid.data::text) > octet_length(former.data::text) then former.data else laid.data end
            from (select case when ${forgetsAll}::boolean then '{}' else u.raw_user_meta_data end as data) as former,
              lateral (select former.data || identity.identity_data as data) as laid)
          || case when ${confirms}::boolean then '{"email_verified": true}'::jsonb else '{}' end,
        raw_app_meta_data = raw_app_meta_data
          || (select jsonb_build_object('provider', list -> 0, 'providers', list) from providers)
      from identity where u.id = identity.user_id
      returning u.*),
    ${opened(session, trace, now)},
    ${awaited(arrival.authCode, now)},
    audit as (${audited(trace, now, fragment`person`)})
    select to_jsonb(person) || case when ${forgetsAll}::boolean then '{"factors": []}' else '{}' end::jsonb as "user",
      (select coalesce(jsonb_agg(one order by one ->> 'created_at', one ->> 'provider'), '[]') from (
        select coalesce(to_jsonb(v), to_jsonb(i)) as one
        from :schema.identities i left join verified v on v.id = i.id, identity
        where i.user_id = person.id and i.id <> identity.id and not exists (select from dropped where dropped.id = i.id)
        union all select to_jsonb(identity) from identity) as every_one) as identities
    from person where (select count(*) from ended) >= 0`;
}
