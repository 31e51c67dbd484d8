import type { Tx } from '@croft/sql';
import type { Trace } from './audit-log.ts';
import { IS_VERIFIED } from './vouching.ts';

/** What became of a wish to unlink an identity. */
export interface Unlinked {
  /** How many identities the user had. */
  had: number;
  /** Whether this one was among them. */
  isOwn: boolean;
  removed: boolean;
}

/**
 * Removes an identity, unless it is the user's last one. The account keeps its address as long as another identity has
 * it; else it gets the oldest one that another identity's provider verified, or none. The number goes with the
 * identity of the phone, and the password with the last identity it signs in to.
 * @returns undefined when user or session are gone
 * @throws the database's unique violation when somebody has the address that would be the account's
 */
export async function unlink(
  tx: Tx,
  user: { id: string; sessionId: string | undefined },
  identityId: string,
  trace: Trace,
): Promise<Unlinked | undefined> {
  const now = tx.now;
  return await tx.row<Unlinked>`
    with locked as (
      select id, email from :schema.users where id = ${user.id}::uuid and deleted_at is null
        and (banned_until is null or banned_until <= ${now})
      for no key update),
    own as (
      select s.id from :schema.sessions s join locked on s.user_id = locked.id where s.id = ${user.sessionId}::uuid
      for key share of s),
    asking as (select * from locked where ${user.sessionId}::uuid is null or exists (select from own)),
    -- Locked, and so without those that somebody else unlinked while this statement waited for the user.
    held as (
      select i.* from :schema.identities i join asking on i.user_id = asking.id order by i.id for update of i),
    target as (select * from held where id = ${identityId}::uuid and (select count(*) from held) > 1),
    kept as (select held.* from held, target where held.id <> target.id),
    removed as (delete from :schema.identities i using target where i.id = target.id returning i.id),
    fate as (
      select target.provider = 'phone' as loses_phone,
        target.provider in ('email', 'phone')
          and not exists (select from kept where kept.provider in ('email', 'phone')) as loses_password,
        target.provider <> 'phone' and asking.email is not null
          and (target.provider = 'email' or target.email = lower(asking.email))
          and not exists (select from kept where kept.email = lower(asking.email)) as loses_email,
        not exists (select from kept where kept.provider = target.provider) as loses_provider, target.provider
      from target, asking),
    heir as (
      select email from kept i where email is not null and ${IS_VERIFIED}
      order by created_at, id limit 1),
    person as (
      update :schema.users u set updated_at = ${now},
        email = case when fate.loses_email then (select email from heir) else u.email end,
        email_confirmed_at = case when not fate.loses_email then u.email_confirmed_at
          when exists (select from heir) then ${now} end,
        email_change = case when fate.loses_email then null else u.email_change end,
        email_change_confirm_status = case when fate.loses_email then 0 else u.email_change_confirm_status end,
        phone = case when fate.loses_phone then null else u.phone end,
        phone_confirmed_at = case when fate.loses_phone then null else u.phone_confirmed_at end,
        phone_change = case when fate.loses_phone then null else u.phone_change end,
        encrypted_password = case when fate.loses_password then null else u.encrypted_password end,
        raw_user_meta_data = case when not fate.loses_email then u.raw_user_meta_data
          else u.raw_user_meta_data - array['email', 'email_verified']
            || coalesce((select jsonb_build_object('email', email, 'email_verified', true) from heir), '{}') end,
        raw_app_meta_data = u.raw_app_meta_data || (
          select jsonb_build_object('provider', list -> 0, 'providers', list) from (
            select coalesce(jsonb_agg(one order by place), '[]') as list
            from (
              select one, min(place) as place from (
                select * from jsonb_array_elements_text(case when jsonb_typeof(u.raw_app_meta_data -> 'providers') = 'array'
                  then u.raw_app_meta_data -> 'providers' else '[]' end) with ordinality as have (one, place)
                union all select provider, 1000 from kept) as every_one (one, place)
              group by one) as each_one
            where one <> fate.provider or not fate.loses_provider) as remaining)
      from fate where u.id = ${user.id}::uuid
      returning u.id),
    -- What was sent to an address or number proves nothing once the account has another.
    codes as (
      delete from :schema.one_time_tokens t using fate
      where t.user_id = ${user.id}::uuid and (fate.loses_email or fate.loses_phone)),
    -- Nor does a sign-in by way of a provider that was not finished.
    waiting as (
      delete from :schema.auth_codes c using fate
      where c.user_id = ${user.id}::uuid and c.authentication_method = 'oauth'
        and fate.provider not in ('email', 'phone')),
    audit as (
      insert into :schema.audit_log_entries (payload, ip_address, created_at)
      select entry::jsonb || jsonb_build_object('traits', jsonb_build_object('identity_id', target.id,
        'provider', target.provider, 'provider_id', target.provider_id)), coalesce(${trace.ip}::text, ''), ${now}
      from person, target, json_array_elements(${JSON.stringify(trace.audit)}::json) entry)
    select (select count(*) from held) as had, exists (select from held where id = ${identityId}::uuid) as "isOwn",
      exists (select from removed) as removed
    from asking`;
}
