import { fragment, type Reader, type Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { wrongCodesForgotten } from './factor-locks.ts';
import type { FoundCode } from './one-time-tokens.ts';
import { awaited, type NewAuthCode, type NewSession, opened } from './openings.ts';
import { kindOf, type LivingSessions, withinItsTime } from './refresh-tokens.ts';
import { vouchesFor } from './vouching.ts';

/** What was proven, and what must still hold when the session is opened. */
export interface SignIn {
  userId: string;
  /** Either the session is opened, or a code waits for its verifier. */
  session?: NewSession;
  authCode?: NewAuthCode;
  /** The password hash that was checked: a change of password meanwhile forbids the session. */
  checkedPasswordHash?: string | undefined;
  /** Replaces the password hash: one of today's cost, or the first password of an invited user. */
  newPasswordHash?: string | undefined;
  /**
   * The code to consume; only one of several requests with the same code gets it. The hash alone may be that of two: a
   * tester's number always has the same code.
   */
  consumes?: Pick<FoundCode, 'tokenHash' | 'tokenType'> | undefined;
  /** What is proven by this: the present address, the present number, or the wanted one that takes its place. */
  confirms?: 'email' | 'phone' | 'email_change' | 'phone_change' | undefined;
  /** Whether password and metadata of an account that was not proven by this go, because a stranger may have set them. */
  forgetsUnproven?: boolean;
  /** Metadata that takes the place of all that was left in an unproven account, where no code is asked for. */
  startsOver?: object | undefined;
  /** Whether somebody else having proven it meanwhile, or an administrator having given it to somebody, forbids the session. */
  onlyUnconfirmed?: boolean;
  trace: Trace;
}

/**
 * Opens a session or notes the code for one, with all that goes with it. What a sign-up left pending with the code it consumes comes into force.
 * @returns undefined when what was proven does not hold any more: nothing was written then
 * @throws the database's unique violation when somebody has the wanted address or number by now
 */
export function open(tx: Tx, signIn: SignIn): Promise<Person | undefined> {
  const {
    userId,
    session,
    authCode,
    consumes,
    confirms,
    onlyUnconfirmed = false,
    forgetsUnproven = false,
    trace,
  } = signIn;
  const startsOver = signIn.startsOver && JSON.stringify(signIn.startsOver);
  const now = tx.now;
  const byEmail = confirms === 'email' || confirms === 'email_change';
  const byPhone = confirms === 'phone' || confirms === 'phone_change';
  const kind = byPhone ? 'phone' : 'email';
  const proven = byEmail ? { email_verified: true } : byPhone ? { phone_verified: true } : {};
  return tx.row<Person>`
    -- The user first, as everything does that gives or takes codes: nobody waits for one another in a circle.
    with locked as (
      -- As isProvenTo says it: a number that was proven beside an address nobody did may be a stranger's.
      select id, case when ${byEmail}::boolean then email_confirmed_at is null
          else ${byPhone}::boolean and confirmed_at is null end as unproven,
        invited_at is not null or given_by_admin as given from :schema.users
      where id = ${userId}::uuid and deleted_at is null and (banned_until is null or banned_until <= ${now})
        and (${signIn.checkedPasswordHash}::text is null or encrypted_password = ${signIn.checkedPasswordHash})
        and (not ${onlyUnconfirmed}::boolean or confirmed_at is null and invited_at is null and not given_by_admin)
      for no key update),
    consumed as (
      delete from :schema.one_time_tokens t using locked where t.user_id = locked.id
        and t.token_hash = ${consumes?.tokenHash} and t.token_type = ${consumes?.tokenType}
      returning t.token_hash, t.pending_password, t.pending_data, locked.unproven, locked.given),
    -- One success clears every code of the user, and so does whoever starts anew with what a stranger had begun.
    others as (
      delete from :schema.one_time_tokens
      where user_id = ${userId}::uuid
        and (token_hash, token_type) is distinct from (${consumes?.tokenHash}::text, ${consumes?.tokenType}::text)
        and (exists (select from consumed) or exists (select from locked where unproven and not given and ${startsOver}::jsonb is not null))),
    -- What counts from now on of an account nobody had proven, and of no other contact. What an administrator gave stays.
    fresh as (
      select c.pending_password as password,
        case when ${forgetsUnproven}::boolean then jsonb_build_object('email_verified', false, 'phone_verified', false)
          else c.pending_data end as data
      from consumed c where c.unproven and not c.given and (${forgetsUnproven}::boolean or c.pending_data is not null)
      union all
      select null, ${startsOver}::jsonb from locked where unproven and not given and ${startsOver}::jsonb is not null),
    person as (
      update :schema.users u set last_sign_in_at = ${now}, updated_at = ${now},
        encrypted_password = coalesce(${signIn.newPasswordHash}, (select password from fresh),
          case when not exists (select from fresh) then encrypted_password end),
        email = case when ${confirms}::text = 'email_change' then email_change
          when ${byPhone}::boolean and exists (select from fresh) then null else email end,
        -- A change that a stranger began would be sent again, by whoever asks for that.
        email_change = case when ${confirms}::text = 'email_change' or exists (select from fresh) then null else email_change end,
        email_change_confirm_status = case when ${confirms}::text = 'email_change' or exists (select from fresh) then 0
          else email_change_confirm_status end,
        phone = case when ${confirms}::text = 'phone_change' then phone_change
          when ${byEmail}::boolean and exists (select from fresh) then null else phone end,
        phone_change = case when ${confirms}::text = 'phone_change' or exists (select from fresh) then null else phone_change end,
        email_confirmed_at = case when ${confirms}::text = 'email_change' then ${now}
          when ${byEmail}::boolean then coalesce(email_confirmed_at, ${now}) else email_confirmed_at end,
        phone_confirmed_at = case when ${confirms}::text = 'phone_change' then ${now}
          when ${byPhone}::boolean then coalesce(phone_confirmed_at, ${now})
          when exists (select from fresh) then null else phone_confirmed_at end,
        is_anonymous = is_anonymous and ${confirms}::text is null,
        ${wrongCodesForgotten(fragment`exists (select from fresh)`)},
        raw_app_meta_data = raw_app_meta_data || case
          when exists (select from fresh) then jsonb_build_object('provider', ${kind}::text, 'providers', (
            select jsonb_agg(distinct one) from (select ${kind}::text as one union select i.provider from :schema.identities i
              where ${byEmail}::boolean and i.user_id = u.id and ${vouchesFor(fragment`u.email`)}) as every_one))
          when ${confirms}::text is null or exists (select from :schema.identities i
            where i.user_id = u.id and i.provider = ${kind}) then '{}'
          else jsonb_build_object('provider', coalesce(raw_app_meta_data -> 'provider', to_jsonb(${kind}::text)),
            'providers', coalesce(raw_app_meta_data -> 'providers', '[]')
              || case when raw_app_meta_data -> 'providers' ? ${kind}::text then '[]' else to_jsonb(${kind}::text) end) end,
        raw_user_meta_data = coalesce((select data || jsonb_build_object('sub', u.id, ${kind}::text,
            case when ${byPhone}::boolean then u.phone else u.email end) from fresh), raw_user_meta_data)
          || case when ${confirms}::text = 'email_change' then jsonb_build_object('email', email_change)
            when ${confirms}::text = 'phone_change' then jsonb_build_object('phone', phone_change) else '{}' end
          || ${JSON.stringify(proven)}::jsonb
      where id in (select id from locked) and (${consumes?.tokenHash}::text is null or exists (select from consumed))
      returning *),
    verified as (
      update :schema.identities i set updated_at = ${now},
        identity_data = coalesce((select data || jsonb_strip_nulls(jsonb_build_object('sub', person.id, 'email',
            person.email, 'phone', person.phone)) from fresh), i.identity_data) || ${JSON.stringify(proven)}::jsonb
          || case when ${confirms}::text = 'email_change' then jsonb_build_object('email', person.email)
            when ${confirms}::text = 'phone_change' then jsonb_build_object('phone', person.phone) else '{}' end
      from person where ${confirms}::text is not null and i.user_id = person.id and i.provider = ${kind}
      returning i.*),
    -- Who had none of the kind before, such as an anonymous user, has one from now on.
    made as (
      insert into :schema.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select person.id::text, person.id,
        jsonb_build_object('sub', person.id) || ${JSON.stringify(proven)}::jsonb
          || case when ${byEmail}::boolean then jsonb_build_object('email', person.email)
            else jsonb_build_object('phone', person.phone) end,
        ${kind}::text, ${now}, ${now}, ${now}
      from person where ${confirms}::text is not null and not exists (select from :schema.identities i
        where i.user_id = person.id and i.provider = ${kind})
      returning *),
    -- An identity whose provider did not vouch for this address may be a stranger's way in, and its sessions his.
    strangers as (
      delete from :schema.identities i using person
      where exists (select from fresh) and i.user_id = person.id and i.provider <> ${kind}
        and not ${vouchesFor(fragment`person.email`)}
      returning i.id),
    -- A stranger's second factor would keep the owner from what asks for one.
    factors as (delete from :schema.mfa_factors f using person where exists (select from fresh) and f.user_id = person.id),
    ended as (
      select :schema.end_sessions(person.id, null, ${session?.id ?? authCode?.id}::uuid) from person where exists (select from fresh)),
    ${opened(session, trace, now)},
    ${awaited(authCode, now)},
    audit as (${audited(trace, now, fragment`person`)})
    select to_jsonb(person) || case when exists (select from fresh) then '{"factors": []}' else '{}' end::jsonb as "user",
      (select coalesce(jsonb_agg(one order by one ->> 'created_at', one ->> 'provider'), '[]') from (
        select coalesce(to_jsonb(v), to_jsonb(i)) as one
        from :schema.identities i left join verified v on v.id = i.id
        where i.user_id = person.id and not exists (select from strangers where strangers.id = i.id)
        union all select to_jsonb(made) from made) as every) as identities
    from person where (select count(*) from ended) >= 0`;
}

/** Which sessions of a user end: all, one, or all but one. */
export interface EndedSessions {
  userId: string;
  only?: string | undefined;
  except?: string | undefined;
}

/**
 * Ends sessions; their refresh tokens go with them. Whoever ends all of them also takes back what they began: a change
 * of address or number that is not confirmed yet.
 */
export async function end(tx: Tx, { userId, only, except }: EndedSessions, trace: Trace): Promise<void> {
  const everything = only === undefined && except === undefined;
  await tx.run`
    with locked as (select id from :schema.users where id = ${userId}::uuid for no key update),
    ended as (select :schema.end_sessions(id, ${only}::uuid, ${except}::uuid) from locked),
    cancelled as (
      update :schema.users set email_change = null, email_change_confirm_status = 0, phone_change = null,
        updated_at = ${tx.now}
      where ${everything}::boolean and id in (select id from locked)
        and (email_change is not null or phone_change is not null)),
    codes as (
      delete from :schema.one_time_tokens where ${everything}::boolean and user_id in (select id from locked)
        and token_type in ('email_change_token_new', 'email_change_token_current', 'phone_change_token'))
    ${audited(trace, tx.now, fragment`(select) as everything`)}
    -- What nothing reads is not called.
    where (select count(*) from ended) >= 0`;
}

/** When a session of the user began; undefined when there is none. */
export async function findStart(tx: Tx, userId: string, sessionId: string): Promise<Date | undefined> {
  const row = await tx.row<{ startedAt: Date }>`
    select created_at as "startedAt" from :schema.sessions where id = ${sessionId}::uuid and user_id = ${userId}::uuid`;
  return row?.startedAt;
}

/** A session that can be refreshed, as its owner sees it. */
export interface OpenSession {
  id: string;
  created_at: string;
  /** When its tokens were renewed last. */
  refreshed_at: string;
  not_after: string | null;
  user_agent: string | null;
  ip: string | null;
  aal: string;
  methods: string[];
}

/** The user an access token speaks of, with the newest sessions that can still be refreshed: one look for all. */
export function findByAccessToken(
  tx: Reader,
  userId: string,
  sessionId: string | null,
  limits: LivingSessions,
  count: number,
): Promise<(Person & { hasSession: boolean; aal: string | null; sessions: OpenSession[] }) | undefined> {
  const { singlePerUser, tags } = limits;
  const user = fragment`u`;
  return tx.row<Person & { hasSession: boolean; aal: string | null; sessions: OpenSession[] }>`
    select to_jsonb(u) as "user", '[]'::jsonb as identities,
      exists (select from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as "hasSession",
      (select s.aal from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as aal,
      (select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at, 'refreshed_at', s.rotated_at,
          'not_after', s.not_after, 'user_agent', s.user_agent, 'ip', host(s.ip), 'aal', s.aal,
          'methods', (select coalesce(jsonb_agg(c.authentication_method order by c.updated_at desc, c.authentication_method desc), '[]')
            from :schema.mfa_amr_claims c where c.session_id = s.id)) order by s.created_at desc, s.id), '[]')
        from (
          select * from (
            select s.*, t.rotated_at, row_number() over (
                partition by ${kindOf(tags, fragment`s`)}
                order by t.rotated_at desc, s.id desc) as place
            from :schema.sessions s join :schema.refresh_tokens t on t.session_id = s.id
            where s.user_id = u.id and t.revoked_at is null
              and ${withinItsTime(limits, tx.now, { session: fragment`s`, family: fragment`t`, user })}) as living
          where not ${singlePerUser}::boolean or place = 1
          order by created_at desc, id limit ${count}::int) as s) as sessions
    from :schema.users u
    where u.id = ${userId}::uuid and u.deleted_at is null`;
}

/** Ends one session of a user; false when he has none of that id. */
export async function endOne(tx: Tx, userId: string, sessionId: string, trace: Trace): Promise<boolean> {
  const row = await tx.row<{ ended: number }>`
    with locked as (select id from :schema.users where id = ${userId}::uuid for no key update),
    ended as (select :schema.end_sessions(id, ${sessionId}::uuid, null) as count from locked),
    audit as (
      ${audited(trace, tx.now, fragment`ended`)} where ended.count > 0)
    select coalesce((select count from ended), 0) as ended`;
  return (row?.ended ?? 0) > 0;
}
