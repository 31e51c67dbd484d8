import { enqueued, fragment, type Tx } from '@croft/sql';
import type { MetadataKind, Person, TokenType } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { type MetadataLimits, mergedMetadata, metadataPatches } from './metadata.ts';
import { codesJson, type SentAtColumn, type StoredCode } from './one-time-tokens.ts';
import { type SendLimit, sendAllOnce } from './send-limits.ts';

/** What of an account its owner changes at once. */
export interface UserChanges {
  userId: string;
  /** The session that asks for it: when that was ended meanwhile, nothing is changed. */
  sessionId: string | undefined;
  /** Laid over the metadata; members that are null go away. */
  metadata?: Record<string, unknown> | undefined;
  appMetadata?: Record<string, unknown> | undefined;
  /** When either would have more, and grow, nothing is changed. */
  metadataLimits: MetadataLimits;
  /** Ends all other sessions, and every code but the new ones. When it is not in place of `former`, nothing is changed. */
  password?: { hash: string; former: string | null } | undefined;
  /** Keyed hash of a nonce to use up: without it nothing is changed. */
  consumes?: string | undefined;
  /** Changes that need no confirmation. */
  email?: string | undefined;
  phone?: string | undefined;
  /** Changes that wait for theirs, or null to take one back; the codes for it, and how often there may be some. */
  emailChange?: string | null | undefined;
  phoneChange?: string | null | undefined;
  codes?: readonly StoredCode[];
  sentAt?: readonly SentAtColumn[];
  limits?: readonly SendLimit[];
  trace: Trace;
}

/** What became of them; without a person nothing was changed. */
export interface Changed {
  /** False when a limit forbade it. */
  allowed: boolean;
  /** Which of the limits, and when something was sent last. */
  refusedBy: number | null;
  lastSentAt: Date | null;
  /** Which metadata would have too many bytes, with what others laid over it meanwhile. */
  tooLarge: MetadataKind | null;
  /** The user as it is now; undefined likewise when user, session or nonce is gone, or the user may do nothing. */
  person: Person | undefined;
}

const EMAIL_CHANGE: readonly TokenType[] = ['email_change_token_new', 'email_change_token_current'];
const PHONE_CHANGE: readonly TokenType[] = ['phone_change_token'];

/**
 * Changes a user: all of it or nothing. The user's row is locked before anything is looked at, so what others did
 * meanwhile counts: an end of the session, a ban, another password.
 * @throws the database's unique violation when somebody has the address or number
 */
export async function update(tx: Tx, changes: UserChanges): Promise<Changed> {
  const { userId, sessionId, password, consumes, codes = [], sentAt = [], limits = [], trace } = changes;
  const { email, phone, emailChange, phoneChange } = changes;
  const now = tx.now;
  const patches = metadataPatches(changes.metadata, changes.appMetadata);
  const endsEmailChange = password !== undefined || email !== undefined || emailChange !== undefined;
  const endsPhoneChange = password !== undefined || phone !== undefined || phoneChange !== undefined;
  const voided = [...(endsEmailChange ? EMAIL_CHANGE : []), ...(endsPhoneChange ? PHONE_CHANGE : [])];
  const row = await tx.row<Omit<Changed, 'person'> & Partial<Person>>`
    with ${sendAllOnce(limits, now)},
    locked as (
      select id, raw_user_meta_data, raw_app_meta_data from :schema.users
      where id = ${userId}::uuid and deleted_at is null and exists (select from allowed)
        and (banned_until is null or banned_until <= ${now})
        and (${password === undefined}::boolean or encrypted_password is not distinct from ${password?.former}::text)
      for no key update),
    -- Whoever ends sessions holds the user's row, so what is locked here stays.
    own as (
      select s.id from :schema.sessions s join locked on s.user_id = locked.id where s.id = ${sessionId}::uuid
      for key share of s),
    ${mergedMetadata(patches, changes.metadataLimits)},
    asking as (
      select id from locked
      where (${sessionId}::uuid is null or exists (select from own)) and not exists (select from too_large)),
    nonce as (
      delete from :schema.one_time_tokens where user_id in (select id from asking) and token_hash = ${consumes}
      returning id),
    going as (select id from asking where ${consumes}::text is null or exists (select from nonce)),
    ended as (
      select :schema.end_sessions(id, null, ${sessionId}::uuid) from going where ${password !== undefined}::boolean),
    cleared as (
      delete from :schema.one_time_tokens where user_id in (select id from going)
        and (${password !== undefined}::boolean or token_type = any (${voided}::text[]))
        and token_type <> all (${codes.map(({ tokenType }) => tokenType)}::text[])
        and token_hash is distinct from ${consumes}),
    person as (
      update :schema.users u set updated_at = ${now},
        encrypted_password = coalesce(${password?.hash}, encrypted_password),
        email_change = case when ${endsEmailChange}::boolean then ${emailChange} else email_change end,
        email_change_begun_at = case when ${emailChange}::text is null then email_change_begun_at else ${now} end,
        email_change_confirm_status = case when ${endsEmailChange}::boolean then 0 else email_change_confirm_status end,
        phone_change = case when ${endsPhoneChange}::boolean then ${phoneChange} else phone_change end,
        phone_change_begun_at = case when ${phoneChange}::text is null then phone_change_begun_at else ${now} end,
        email_change_sent_at = case when 'email_change_sent_at' = any (${sentAt}::text[]) then ${now} else email_change_sent_at end,
        phone_change_sent_at = case when 'phone_change_sent_at' = any (${sentAt}::text[]) then ${now} else phone_change_sent_at end,
        email = coalesce(${email}, email),
        email_confirmed_at = case when ${email}::text is null then email_confirmed_at else ${now} end,
        phone = coalesce(${phone}, phone),
        phone_confirmed_at = case when ${phone}::text is null then phone_confirmed_at else ${now} end,
        is_anonymous = is_anonymous and ${email}::text is null and ${phone}::text is null,
        raw_user_meta_data = (select user_data from merged)
          || case when ${email}::text is null then '{}'
            else jsonb_build_object('email', ${email}::text, 'email_verified', true) end
          || case when ${phone}::text is null then '{}'
            else jsonb_build_object('phone', ${phone}::text, 'phone_verified', true) end,
        raw_app_meta_data = (
          select app_data || case when wanted.kinds = '{}' then '{}' else jsonb_build_object(
            'provider', coalesce(app_data -> 'provider', to_jsonb(wanted.kinds[1])),
            'providers', (select jsonb_agg(kind order by place) from (
              select kind, min(place) as place from (
                select * from jsonb_array_elements_text(case when jsonb_typeof(app_data -> 'providers') = 'array'
                  then app_data -> 'providers' else '[]' end) with ordinality as have (kind, place)
                union all select kind, 1000 from unnest(wanted.kinds) kind) as some_kinds (kind, place)
              group by kind) as every_kind)) end
          from merged,
            (select array_remove(array[case when ${email}::text is not null then 'email' end,
              case when ${phone}::text is not null then 'phone' end], null) as kinds) as wanted)
      where id in (select id from going)
      returning *),
    identities as (
      update :schema.identities i set updated_at = ${now}, identity_data = i.identity_data
        || case when i.provider = 'email' then jsonb_build_object('email', person.email, 'email_verified', true)
          else jsonb_build_object('phone', person.phone, 'phone_verified', true) end
      from person where i.user_id = person.id
        and ((i.provider = 'email' and ${email}::text is not null)
          or (i.provider = 'phone' and ${phone}::text is not null))
      returning i.*),
    made as (
      insert into :schema.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
      select person.id::text, person.id, wanted.data || jsonb_build_object('sub', person.id), wanted.provider, ${now}, ${now}, ${now}
      from person, (values
        ('email', jsonb_build_object('email', ${email}::text, 'email_verified', true), ${email}::text),
        ('phone', jsonb_build_object('phone', ${phone}::text, 'phone_verified', true), ${phone}::text)
      ) as wanted (provider, data, address)
      where wanted.address is not null and not exists (
        select from :schema.identities i where i.user_id = person.id and i.provider = wanted.provider)
      -- The same again at once does not see what the first one made.
      on conflict (provider_id, provider) do nothing
      returning *),
    wanted as (
      select c.* from person, jsonb_to_recordset(${codesJson(codes)}::jsonb) as c (token_type text, relates_to text,
        token_hash text, link_hash text, expires_at timestamptz, code_challenge text, code_challenge_method text,
        topic text, payload jsonb)),
    -- Codes of a change that is not wanted any more: those of the same kind are replaced.
    code as (
      insert into :schema.one_time_tokens as t (user_id, token_type, relates_to, token_hash, link_hash, expires_at,
        code_challenge, code_challenge_method, created_at, updated_at)
      select person.id, w.token_type, w.relates_to, w.token_hash, w.link_hash, w.expires_at, w.code_challenge,
        w.code_challenge_method, ${now}, ${now}
      from person, wanted w
      on conflict (user_id, token_type) do update set token_hash = excluded.token_hash, link_hash = excluded.link_hash,
        relates_to = excluded.relates_to, expires_at = excluded.expires_at, wrong_guesses = 0,
        code_challenge = excluded.code_challenge, code_challenge_method = excluded.code_challenge_method,
        created_at = excluded.created_at, updated_at = excluded.updated_at),
    effect as (
      ${enqueued(now, fragment`select topic, payload, '' from wanted where topic is not null`)}),
    audit as (${audited(trace, now, fragment`person`)})
    select exists (select from allowed) as allowed, (select place - 1 from early) as "refusedBy",
      (select sent_at from early) as "lastSentAt", (select what from too_large) as "tooLarge",
      (select to_jsonb(person) from person) as "user",
      (select coalesce(jsonb_agg(one order by one ->> 'created_at', one ->> 'provider'), '[]') from (
        select coalesce(to_jsonb(n), to_jsonb(i)) as one
        from :schema.identities i left join identities n on n.id = i.id where i.user_id = ${userId}::uuid
        union all select to_jsonb(made) from made) as every) as identities,
      (select count(*) from effect) as effects, (select count(*) from ended) as ends`;
  const { allowed = false, refusedBy = null, lastSentAt = null, tooLarge = null } = row ?? {};
  const { user, identities = [] } = row ?? {};
  return { allowed, refusedBy, lastSentAt, tooLarge, person: user ? { user, identities } : undefined };
}

/**
 * Notes that one of the two addresses agreed to a change, and uses up its code.
 * @returns false when the code, or the state it was for, is gone
 */
export async function confirmHalf(
  tx: Tx,
  half: { userId: string; tokenHash: string; from: number; to: number },
): Promise<boolean> {
  const done = await tx.run`
    -- Who waits here while the other address agrees sees the state it left, and uses nothing up.
    with locked as (
      select id from :schema.users where id = ${half.userId}::uuid and email_change_confirm_status = ${half.from}
      for no key update),
    consumed as (
      delete from :schema.one_time_tokens t using locked
      where t.user_id = locked.id and t.token_hash = ${half.tokenHash}
      returning t.user_id)
    update :schema.users set email_change_confirm_status = ${half.to}, updated_at = ${tx.now}
    where id in (select user_id from consumed)`;
  return done > 0;
}
