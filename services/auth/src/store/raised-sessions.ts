import { fragment, type Tx } from '@croft/sql';
import type { FactorType } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import type { AmrClaim } from './refresh-tokens.ts';

/** A right answer, and what must still hold when it raises the session. */
export interface Proof {
  userId: string;
  sessionId: string;
  /** What the token that asks showed. */
  aal: string;
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
 * the family goes on with another. Sessions that show less end, and so does what was begun of the same type. With the
 * first factor ends what could be finished without it: a change of address or number or a link, begun with the password alone.
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
        and (f.status = 'verified' or own.aal = 'aal2' and ${proof.aal}::text = 'aal2' or not own.guarded)
      returning f.id, f.user_id, not own.guarded as is_first),
    person as (
      update :schema.users u set mfa_wrong_codes = greatest(0, u.mfa_wrong_codes - case when ${wasCounted}::boolean then 1 else 0 end),
        mfa_locked_until = case when ${wasCounted}::boolean then null else u.mfa_locked_until end,
        email_change = case when is_first then null else u.email_change end,
        email_change_confirm_status = case when is_first then 0 else u.email_change_confirm_status end,
        phone_change = case when is_first then null else u.phone_change end
      from factor where u.id = factor.user_id
        and (${wasCounted}::boolean or is_first and (u.email_change is not null or u.phone_change is not null))),
    codes as (
      delete from :schema.one_time_tokens t using factor where is_first and t.user_id = factor.user_id
        and t.token_type in ('email_change_token_new', 'email_change_token_current', 'phone_change_token')),
    flows as (
      delete from :schema.flow_state s using factor where is_first and s.linking_user_id = factor.user_id),
    links as (
      delete from :schema.auth_codes a using factor
      where is_first and a.user_id = factor.user_id and a.linking is not null),
    leftovers as (
      delete from :schema.mfa_factors f using factor where f.user_id = factor.user_id and f.id <> factor.id
        and f.factor_type = ${proof.type} and f.status = 'unverified'),
    family as (
      update :schema.refresh_tokens t set token_hash = ${proof.tokenHash}, parent_hash = null, counter = t.counter + 1,
        rotated_at = ${now}::timestamptz, replaced_at = ${now}::timestamptz,
        replaced_hashes = array_remove(array[t.token_hash, t.parent_hash], null)
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
    audit as (${audited(trace, tx.now, fragment`raised`)})
    select family.counter,
      (select coalesce(jsonb_agg(jsonb_build_object('method', c.authentication_method,
          'timestamp', floor(extract(epoch from c.updated_at))::bigint) order by c.updated_at desc, c.authentication_method desc), '[]')
        from :schema.mfa_amr_claims c
        where c.session_id = own.id and c.authentication_method <> ${method}::text) as amr
    from family, own where (select count(*) from ended) >= 0`;
}
