import { enqueued, fragment, type Tx } from '@croft/sql';
import { audited, type Trace } from './audit-log.ts';
import { type SendLimit, sendAllOnce } from './send-limits.ts';

// What proves a factor: challenges and wrong answers; raised-sessions.ts has the right one.

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
  const row = await tx.row<Challenged>`
    with ${sendAllOnce(limits, now)},
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
      ${enqueued(
        now,
        fragment`select ${effect?.topic}::text, ${effect && JSON.stringify(effect.payload)}::jsonb, '' from made
          where ${effect?.topic}::text is not null`,
      )}),
    audit as (${audited(trace, now, fragment`made`)})
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
    audit as (${audited(trace, tx.now, fragment`factor`)})
    select exists (select from factor) as counted`;
  return row?.counted ?? false;
}
