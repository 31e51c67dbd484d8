import type { Tx } from '@croft/sql';
import type { FactorType } from '../rows.ts';
import type { Trace } from './audit-log.ts';
import type { SendLimit } from './one-time-tokens.ts';
import type { AmrClaim } from './refresh-tokens.ts';

// What proves a factor: challenges, wrong answers, and the right one that raises a session.

/** A question to the owner of a factor. */
export interface NewChallenge {
  id: string;
  userId: string;
  sessionId: string;
  factorId: string;
  expiresAt: Date;
  /** Keyed hash of the code that is sent, and the outbox row that brings it. */
  otpCode: string | null;
  effect: { topic: 'sms'; payload: object } | undefined;
  limits: readonly SendLimit[];
  trace: Trace;
}

/** What became of it. */
export interface Challenged {
  /** False when a limit forbade it. */
  allowed: boolean;
  refusedBy: number | null;
  lastSentAt: Date | null;
  /** False likewise when user, session or factor is gone. */
  made: boolean;
}

/** Asks for a proof, and sends the code for it where that has one. */
export async function challenge(tx: Tx, wanted: NewChallenge): Promise<Challenged> {
  const { userId, sessionId, factorId, limits, effect, trace } = wanted;
  const now = tx.now;
  const keys = limits.map(({ key }) => key);
  const notAfters = limits.map(({ notAfter }) => notAfter);
  const row = await tx.row<Challenged>`
    with asked as (
      select * from unnest(${keys}::bytea[], ${notAfters}::timestamptz[]) with ordinality as l (key, not_after, place)),
    early as (
      select asked.place, s.sent_at from asked join :schema.send_limits s on s.key = asked.key
      where s.sent_at > asked.not_after order by s.sent_at - asked.not_after desc limit 1),
    noted as (
      insert into :schema.send_limits (key, sent_at)
      select key, ${now} from asked where not exists (select from early) order by key
      on conflict (key) do update set sent_at = excluded.sent_at
        where send_limits.sent_at <= (select not_after from asked where asked.key = send_limits.key)
      returning key),
    allowed as (select where (select count(*) from noted) = ${limits.length}),
    locked as (
      select id from :schema.users where id = ${userId}::uuid and deleted_at is null and exists (select from allowed)
        and (banned_until is null or banned_until <= ${now})
      for no key update),
    own as (
      select s.id from :schema.sessions s join locked on s.user_id = locked.id where s.id = ${sessionId}::uuid
      for key share of s),
    factor as (
      update :schema.mfa_factors f set last_challenged_at = ${now}
      from own where f.id = ${factorId}::uuid and f.user_id = ${userId}::uuid
      returning f.id, own.id as session_id),
    expired as (
      delete from :schema.mfa_challenges c using factor where c.factor_id = factor.id and c.expires_at <= ${now}),
    made as (
      insert into :schema.mfa_challenges (id, factor_id, session_id, ip_address, otp_code, created_at, expires_at)
      select ${wanted.id}::uuid, factor.id, factor.session_id, ${trace.ip}::inet, ${wanted.otpCode}::text, ${now},
        ${wanted.expiresAt}::timestamptz
      from factor
      returning id),
    effect as (
      insert into :schema.outbox (topic, payload, created_at, run_at)
      select ${effect?.topic}::text, ${effect === undefined ? null : JSON.stringify(effect.payload)}::jsonb, ${now}, ${now}
      from made where ${effect?.topic}::text is not null
      returning pg_notify('croft_outbox', '')),
    audit as (
      insert into :schema.audit_log_entries (payload, ip_address, created_at)
      select entry, coalesce(${trace.ip}::text, ''), ${now}
      from made, json_array_elements(${JSON.stringify(trace.audit)}::json) entry)
    select exists (select from allowed) as allowed, (select place - 1 from early) as "refusedBy",
      (select sent_at from early) as "lastSentAt", exists (select from made) as made,
      (select count(*) from effect) as effects`;
  return row ?? { allowed: false, refusedBy: null, lastSentAt: null, made: false };
}

/** How wrong codes add up: waits in milliseconds by their number, and how long until one is forgotten. */
export interface WrongCodePolicy {
  factorWaitsMs: readonly number[];
  userWaitsMs: readonly number[];
  forgetOneMs: number;
}

/**
 * Counts a wrong code of a factor and of its user. Requests that come at the same moment pass one by one.
 * @returns false when no code is looked at now, so that this one was not counted either, and must not be answered
 */
export async function countWrongCode(
  tx: Tx,
  { userId, factorId }: { userId: string; factorId: string },
  { factorWaitsMs, userWaitsMs, forgetOneMs }: WrongCodePolicy,
  trace: Trace,
): Promise<boolean> {
  const now = tx.now.toISOString();
  const row = await tx.row<{ counted: boolean }>`
    with locked as (
      select id from :schema.users where id = ${userId}::uuid and deleted_at is null
        and (mfa_locked_until is null or mfa_locked_until <= ${now}::timestamptz)
      for no key update),
    factor as (
      update :schema.mfa_factors f set (wrong_codes, wrong_code_at, locked_until) = (
        select level, greatest(f.wrong_code_at, ${now}::timestamptz), ${now}::timestamptz + interval '1 millisecond'
          * (${factorWaitsMs}::float8[])[least(round(level)::int, cardinality(${factorWaitsMs}::float8[]))]
        from (select 1 + greatest(0, f.wrong_codes - greatest(0, coalesce(1000
          * extract(epoch from ${now}::timestamptz - f.wrong_code_at)::float8 / ${forgetOneMs}::float8, 0))) as level) as one)
      from locked where f.id = ${factorId}::uuid and f.user_id = locked.id
        and (f.locked_until is null or f.locked_until <= ${now}::timestamptz)
      returning f.id),
    person as (
      update :schema.users u set (mfa_wrong_codes, mfa_wrong_code_at, mfa_locked_until) = (
        select level, greatest(u.mfa_wrong_code_at, ${now}::timestamptz), ${now}::timestamptz + interval '1 millisecond'
          * (${userWaitsMs}::float8[])[least(round(level)::int, cardinality(${userWaitsMs}::float8[]))]
        from (select 1 + greatest(0, u.mfa_wrong_codes - greatest(0, coalesce(1000
          * extract(epoch from ${now}::timestamptz - u.mfa_wrong_code_at)::float8 / ${forgetOneMs}::float8, 0))) as level) as one)
      from factor where u.id = ${userId}::uuid),
    audit as (
      insert into :schema.audit_log_entries (payload, ip_address, created_at)
      select entry, coalesce(${trace.ip}::text, ''), ${now}::timestamptz
      from factor, json_array_elements(${JSON.stringify(trace.audit)}::json) entry)
    select exists (select from factor) as counted`;
  return row?.counted ?? false;
}

/** A right answer, and what must still hold when it raises the session. */
export interface Proof {
  userId: string;
  sessionId: string;
  factorId: string;
  type: FactorType;
  /** A value of `amr.method`. */
  method: string;
  /** The challenge that is answered, or the keyed hash of the recovery code that is used up. */
  challengeId: string | null;
  recoveryCode: string | null;
  /** The time step of a TOTP code; none is accepted twice. */
  step: number | null;
  /** Whether the attempt was counted as a wrong one before anybody could say: that is taken back. */
  wasCounted: boolean;
  /** Hash of the refresh token that takes the place of all before. */
  tokenHash: Buffer;
  trace: Trace;
}

/** A session that shows two factors now. */
export interface Raised {
  /** Of its refresh token. */
  counter: number;
  /** How it was proven before, most recent first. */
  amr: AmrClaim[];
}

/**
 * Raises a session by a factor, which counts from now on. Whoever holds a refresh token of the time before has nothing:
 * the family goes on with another. Sessions that show less end, and so does what was begun of the same type.
 * @returns undefined when somebody was first with this code, or user, session, factor or challenge is not any more what
 *   was looked at: no session was raised then
 */
export function raise(tx: Tx, proof: Proof): Promise<Raised | undefined> {
  const { userId, sessionId, factorId, method, step, recoveryCode, wasCounted, trace } = proof;
  const now = tx.now.toISOString();
  // Wrong codes lock neither recovery codes nor what was counted as one of them.
  const isFree = recoveryCode !== null || wasCounted;
  return tx.row<Raised>`
    with locked as (
      select id, factors @> '[{"status": "verified"}]' as guarded from :schema.users
      where id = ${userId}::uuid and deleted_at is null
        and (banned_until is null or banned_until <= ${now}::timestamptz)
        and (${isFree}::boolean or mfa_locked_until is null or mfa_locked_until <= ${now}::timestamptz)
      for no key update),
    own as (
      select s.id, s.aal, locked.guarded from locked join :schema.sessions s on s.user_id = locked.id
        join :schema.refresh_tokens t on t.session_id = s.id
      where s.id = ${sessionId}::uuid and t.revoked_at is null
        and (s.not_after is null or s.not_after > ${now}::timestamptz)
      for no key update of t for key share of s),
    challenge as (
      delete from :schema.mfa_challenges c using own where c.id = ${proof.challengeId}::uuid
        and c.factor_id = ${factorId}::uuid and c.session_id = own.id
      returning c.id),
    code as (
      update :schema.mfa_recovery_codes r set used_at = ${now}::timestamptz from own
      where r.factor_id = ${factorId}::uuid and r.code_hash = ${recoveryCode}::text and r.used_at is null
      returning r.factor_id),
    factor as (
      update :schema.mfa_factors f set status = 'verified', updated_at = ${now}::timestamptz,
        last_used_step = coalesce(${step}::bigint, f.last_used_step),
        wrong_codes = greatest(0, f.wrong_codes - case when ${wasCounted}::boolean then 1 else 0 end),
        locked_until = case when ${wasCounted}::boolean then null else f.locked_until end
      from own where f.id = ${factorId}::uuid and f.user_id = ${userId}::uuid
        and (exists (select from challenge) or exists (select from code))
        and (${isFree}::boolean or f.locked_until is null or f.locked_until <= ${now}::timestamptz)
        and (${step}::bigint is null or f.last_used_step is null or f.last_used_step < ${step}::bigint)
        -- Who has the password alone may have begun a factor of his own before there was another.
        and (f.status = 'verified' or own.aal = 'aal2' or not own.guarded)
      returning f.id, f.user_id),
    person as (
      update :schema.users u set mfa_wrong_codes = greatest(0, u.mfa_wrong_codes - 1), mfa_locked_until = null
      from factor where ${wasCounted}::boolean and u.id = factor.user_id),
    leftovers as (
      delete from :schema.mfa_factors f using factor where f.user_id = factor.user_id and f.id <> factor.id
        and f.factor_type = ${proof.type} and f.status = 'unverified'),
    family as (
      update :schema.refresh_tokens t set token_hash = ${proof.tokenHash}, parent_hash = null, counter = t.counter + 1,
        rotated_at = ${now}::timestamptz
      from factor where t.session_id = ${sessionId}::uuid
      returning t.session_id, t.counter),
    raised as (
      update :schema.sessions s set aal = 'aal2', factor_id = ${factorId}::uuid, updated_at = ${now}::timestamptz
      from family where s.id = family.session_id
      returning s.id),
    claim as (
      insert into :schema.mfa_amr_claims as c (session_id, authentication_method, created_at, updated_at)
      select id, ${method}::text, ${now}::timestamptz, ${now}::timestamptz from raised
      on conflict (session_id, authentication_method) do update set updated_at = excluded.updated_at),
    ended as (select :schema.end_lower_sessions(${userId}::uuid, raised.id) from raised),
    audit as (
      insert into :schema.audit_log_entries (payload, ip_address, created_at)
      select entry, coalesce(${trace.ip}::text, ''), ${now}::timestamptz
      from raised, json_array_elements(${JSON.stringify(trace.audit)}::json) entry)
    select family.counter,
      (select coalesce(jsonb_agg(jsonb_build_object('method', c.authentication_method,
          'timestamp', floor(extract(epoch from c.updated_at))::bigint) order by c.updated_at desc), '[]')
        from :schema.mfa_amr_claims c
        where c.session_id = own.id and c.authentication_method <> ${method}::text) as amr
    from family, own where (select count(*) from ended) >= 0`;
}
