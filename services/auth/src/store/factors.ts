import { fragment, type Reader, type Tx } from '@croft/sql';
import type { FactorRow, FactorType, Person } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { identitiesOf } from './identities-of.ts';

/** A factor as it is when it is made. */
export interface NewFactor {
  id: string;
  type: FactorType;
  status: FactorRow['status'];
  name: string;
  phone: string | null;
  /** Sealed. */
  secret: string | null;
  /** Keyed hashes of the codes of a set. */
  recoveryCodes?: readonly string[];
}

/** What a factor was decided on. */
export interface Enrolment {
  userId: string;
  sessionId: string;
  aal: string;
  /** The user's factors as they were. */
  factors: readonly FactorRow[];
  /** Ids of those that make room. */
  gone: readonly string[];
  factor: NewFactor;
  trace: Trace;
}

/** What became of it. */
export interface Enrolled {
  /** False when factors or session are not any more what was decided on: nothing was written then. */
  done: boolean;
  /** What they are now; null when user or session is gone. */
  factors: FactorRow[] | null;
  aal: string | null;
}

/** Adds a factor, if everything is as it was decided on. */
export async function enrol(tx: Tx, enrolment: Enrolment): Promise<Enrolled> {
  const { userId, sessionId, aal, factors, gone, factor, trace } = enrolment;
  const now = tx.now;
  const row = await tx.row<Enrolled>`
    with locked as (
      select id, factors from :schema.users where id = ${userId}::uuid and deleted_at is null
        and (banned_until is null or banned_until <= ${now})
      for no key update),
    own as (
      select s.id, s.aal from :schema.sessions s join locked on s.user_id = locked.id where s.id = ${sessionId}::uuid
      for key share of s),
    going as (
      select locked.id from locked, own
      where locked.factors = ${JSON.stringify(factors)}::jsonb and own.aal = ${aal}),
    gone as (
      delete from :schema.mfa_factors f using going where f.user_id = going.id and f.id = any (${gone}::uuid[])
      returning f.id),
    made as (
      insert into :schema.mfa_factors (id, user_id, factor_type, status, friendly_name, phone, secret, created_at, updated_at)
      select ${factor.id}::uuid, id, ${factor.type}, ${factor.status}, nullif(${factor.name}, ''), ${factor.phone}::text,
        ${factor.secret}::text, ${now}, ${now}
      -- A name may be that of one that goes.
      from going where (select count(*) from gone) >= 0
      returning id),
    codes as (
      insert into :schema.mfa_recovery_codes (factor_id, code_hash, created_at)
      select made.id, hash, ${now} from made, unnest(${factor.recoveryCodes ?? []}::text[]) as hash),
    audit as (${audited(trace, now, fragment`made`)})
    select exists (select from made) as done, (select factors from locked) as factors, (select aal from own) as aal`;
  return row ?? { done: false, factors: null, aal: null };
}

/** A factor that is to be proven, with what the answer is held against. */
export interface AnsweredFactor {
  id: string;
  type: FactorType;
  status: FactorRow['status'];
  secret: string | null;
  phone: string | null;
  lastUsedStep: number | null;
  lockedUntil: string | null;
  /** Null when there is none of that id that this session asked for. */
  challenge: { otpCode: string | null; expiresAt: string; isFromHere: boolean } | null;
}

type FoundCaller = Person & { hasSession: boolean; aal: string | null };

/** The user an access token speaks of, with a factor of his and a challenge of his session: one look for all. */
export function findByAccessToken(
  tx: Reader,
  { userId, sessionId }: { userId: string; sessionId: string | null },
  asked: { factorId: string | null; challengeId: string | null; ip: string | null },
): Promise<(FoundCaller & { factor: AnsweredFactor | null }) | undefined> {
  return tx.row<FoundCaller & { factor: AnsweredFactor | null }>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities,
      exists (select from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as "hasSession",
      (select s.aal from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as aal,
      (select jsonb_build_object('id', f.id, 'type', f.factor_type, 'status', f.status, 'secret', f.secret,
          'phone', f.phone, 'lastUsedStep', f.last_used_step, 'lockedUntil', f.locked_until, 'challenge',
          (select jsonb_build_object('otpCode', c.otp_code, 'expiresAt', c.expires_at,
              'isFromHere', c.ip_address is not distinct from ${asked.ip}::inet)
            from :schema.mfa_challenges c
            where c.id = ${asked.challengeId}::uuid and c.factor_id = f.id and c.session_id = ${sessionId}::uuid))
        from :schema.mfa_factors f where f.id = ${asked.factorId}::uuid and f.user_id = u.id) as factor
    from :schema.users u
    where u.id = ${userId}::uuid and u.deleted_at is null`;
}

/** A factor that goes. */
export interface Unenrolment {
  userId: string;
  factorId: string;
  /** The session that asks, and what its token showed: both a second factor to take a verified one away; null for administrators. */
  asker: { sessionId: string; aal: string } | null;
  /** Values of `amr.method` that mean a second factor. */
  methods: readonly string[];
  trace: Trace;
}

/**
 * Takes a factor away. Sessions it had raised fall back, all of them when it was the last; recovery codes never stay
 * alone. Who has no factor left has no wrong codes either.
 * @returns false when there is none, or the session may not
 */
export async function unenrol(tx: Tx, unenrolment: Unenrolment): Promise<boolean> {
  const { userId, factorId, asker, methods, trace } = unenrolment;
  const sessionId = asker?.sessionId;
  const now = tx.now;
  const row = await tx.row<{ gone: boolean; isBehind: boolean }>`
    with locked as (
      select id, exists (select from jsonb_array_elements(factors) o where o ->> 'id' <> ${factorId}::text
          and o ->> 'status' = 'verified' and o ->> 'factor_type' <> 'recovery_code') as remains,
        -- Codes that were made while this waited for the user are in his row, and not among those that this could delete.
        exists (select from jsonb_array_elements(factors) o where o ->> 'factor_type' = 'recovery_code'
          and not exists (select from :schema.mfa_factors f where f.id = (o ->> 'id')::uuid)) as is_behind
      from :schema.users where id = ${userId}::uuid and deleted_at is null
      for no key update),
    own as (
      select s.aal from :schema.sessions s join locked on s.user_id = locked.id where s.id = ${sessionId}::uuid
      for key share of s),
    gone as (
      delete from :schema.mfa_factors f using locked where f.id = ${factorId}::uuid and f.user_id = locked.id
        and not locked.is_behind and (${sessionId}::uuid is null or f.status = 'unverified' and exists (select from own)
          or exists (select from own where aal = 'aal2' and ${asker?.aal}::text = 'aal2'))
      returning f.id, f.status, locked.remains or f.status = 'unverified' or f.factor_type = 'recovery_code' as remains),
    orphans as (
      delete from :schema.mfa_factors f using gone where not gone.remains and f.user_id = ${userId}::uuid
        and f.factor_type = 'recovery_code' and f.id <> gone.id),
    lowered as (
      select :schema.lower_sessions(${userId}::uuid, case when gone.remains then gone.id end, ${methods}::text[], ${now}::timestamptz)
      from gone),
    forgotten as (
      update :schema.users u set mfa_wrong_codes = 0, mfa_wrong_code_at = null, mfa_locked_until = null
      from gone where u.id = ${userId}::uuid and not gone.remains and u.mfa_wrong_codes > 0),
    audit as (${audited(trace, now, fragment`gone`)})
    select exists (select from gone) as gone, coalesce((select is_behind from locked), false) as "isBehind"
    where (select count(*) from lowered) >= 0`;
  // Asked again it sees them.
  return row?.isBehind === true ? await unenrol(tx, unenrolment) : (row?.gone ?? false);
}

/** Renames a factor, or gives it another number; what is undefined stays. */
export async function update(
  tx: Tx,
  userId: string,
  factorId: string,
  changes: { name: string | undefined; phone: string | undefined },
  trace: Trace,
): Promise<boolean> {
  const done = await tx.row<{ id: string }>`
    with locked as (select id from :schema.users where id = ${userId}::uuid and deleted_at is null for no key update),
    changed as (
      update :schema.mfa_factors f set updated_at = ${tx.now}, friendly_name = coalesce(${changes.name}, friendly_name),
        phone = coalesce(${changes.phone}, phone)
      from locked where f.id = ${factorId}::uuid and f.user_id = locked.id
      returning f.id),
    -- What was sent to the former number proves nothing of the new one.
    challenges as (
      delete from :schema.mfa_challenges c using changed where ${changes.phone}::text is not null and c.factor_id = changed.id),
    audit as (${audited(trace, tx.now, fragment`changed`)})
    select id from changed`;
  return done !== undefined;
}
