import { type Fragment, fragment, type Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { identitiesOf } from './identities-of.ts';

/** How a session was opened, as the access token repeats it. */
export interface AmrClaim {
  method: string;
  /** Seconds since the epoch. */
  timestamp: number;
}

/** Which sessions go on: those that began and were used after these times. */
export interface LivingSessions {
  begun: Date | null;
  used: Date | null;
  /** Of those that did not show the second factor their user has. */
  lowBegun: Date | null;
  singlePerUser: boolean;
  /** Kinds of sessions, of which a user then has one each; what is of none of them is of the first. */
  tags: readonly string[];
}

/**
 * The condition under which a session goes on by its own times, whatever became of its tokens.
 * @param session a row of the sessions, `family` of its refresh tokens, `user` of its owner
 */
export function withinItsTime(
  { begun, used, lowBegun }: Pick<LivingSessions, 'begun' | 'used' | 'lowBegun'>,
  now: Date | string,
  { session, family, user }: Record<'session' | 'family' | 'user', Fragment>,
): Fragment {
  return fragment`((${session}.not_after is null or ${session}.not_after > ${now})
          and (${begun}::timestamptz is null or ${session}.created_at > ${begun}::timestamptz)
          and (${used}::timestamptz is null or ${family}.rotated_at > ${used}::timestamptz)
          and (${lowBegun}::timestamptz is null or ${session}.created_at > ${lowBegun}::timestamptz
            or ${session}.aal <> 'aal1' or not ${user}.factors @> '[{"status": "verified"}]'))`;
}

/** The kind of a session, of which a user with one session at a time may have one each. */
export function kindOf(tags: readonly string[], session: Fragment): Fragment {
  return fragment`case when ${session}.tag = any (${tags}::text[]) then ${session}.tag else (${tags}::text[])[1] end`;
}

/**
 * Whether a user has another session of the same kind that goes on and began or was refreshed since.
 * @param own a session: its id, its kind, and when its tokens were renewed last
 */
export function hasNewer(
  limits: LivingSessions,
  now: Date | string,
  user: Fragment,
  own: Record<'id' | 'kind' | 'rotatedAt', Fragment>,
): Fragment {
  const rows = { session: fragment`newer_one`, family: fragment`newer_family`, user };
  return fragment`exists (
        select from :schema.sessions newer_one join :schema.refresh_tokens newer_family on newer_family.session_id = newer_one.id
        where newer_one.user_id = ${user}.id and newer_one.id <> ${own.id} and newer_family.revoked_at is null
          and ${kindOf(limits.tags, rows.session)} is not distinct from ${own.kind}
          and (newer_family.rotated_at, newer_one.id) > (${own.rotatedAt}, ${own.id})
          and ${withinItsTime(limits, now, rows)})`;
}

/** A family as it was before the statement, its session and its user. */
export interface RotatedFamily extends Person {
  activeHash: Buffer;
  parentHash: Buffer | null;
  /** When a proof of a second factor took the place of the presented token; null when none did. */
  replacedAt: Date | null;
  revokedAt: Date | null;
  notAfter: Date | null;
  createdAt: Date;
  refreshedAt: Date;
  /** Whether another session of the user, whose time is not over, began or was refreshed since; asked only where that counts. */
  hasNewer: boolean;
  /** Whether this statement replaced the active token. */
  rotated: boolean;
  aal: string;
  amr: AmrClaim[];
}

/**
 * Replaces the presented token by its child if it is the active one of a family that may go on; whatever the
 * outcome, tells how the family stood. The row lock lets refreshes of one family pass one by one, each seeing what
 * the one before it left, so of any number with the same token one rotates. The user is not known before, which is
 * why this statement writes its own audit entries.
 */
export function rotate(
  tx: Tx,
  sessionId: string,
  presentedHash: Buffer,
  childHash: Buffer,
  limits: LivingSessions,
  origin: Omit<Trace, 'audit'>,
): Promise<RotatedFamily | undefined> {
  // As text: the driver would turn each use of a Date into one by itself.
  const now = tx.now.toISOString();
  const own = {
    id: fragment`${sessionId}::uuid`,
    kind: fragment`u.kind`,
    rotatedAt: fragment`family.rotated_at`,
  };
  return tx.row<RotatedFamily>`
    with family as materialized (
      select token_hash, parent_hash, revoked_at, rotated_at, replaced_hashes, replaced_at from :schema.refresh_tokens
      where session_id = ${sessionId}::uuid for update),
    subject as (
      select u.*, s.aal, s.not_after, s.created_at as begun_at,
        ${kindOf(limits.tags, fragment`s`)} as kind,
        ${withinItsTime(limits, now, { session: fragment`s`, family: fragment`family`, user: fragment`u` })} as goes_on
      from family, :schema.sessions s join :schema.users u on u.id = s.user_id
      where s.id = ${sessionId}::uuid and u.deleted_at is null),
    newer as (
      select ${hasNewer(limits, now, fragment`u`, own)} as one
      from family, subject u where ${limits.singlePerUser}::boolean),
    rotated as (
      update :schema.refresh_tokens t set
        parent_hash = t.token_hash, token_hash = ${childHash}, counter = t.counter + 1, rotated_at = ${now}
      from family, subject u
      where t.session_id = ${sessionId}::uuid and family.token_hash = ${presentedHash} and family.revoked_at is null
        and (u.banned_until is null or u.banned_until <= ${now}) and u.goes_on
        and not exists (select from newer where one)
      returning t.session_id),
    origin as (
      update :schema.sessions s set user_agent = ${origin.userAgent}, ip = ${origin.ip}::inet, updated_at = ${now}
      from rotated where s.id = ${sessionId}::uuid
        and (s.user_agent, s.ip) is distinct from (${origin.userAgent}::text, ${origin.ip}::inet)),
    audit as (
      insert into :schema.audit_log_entries (payload, ip_address, created_at)
      select json_build_object('action', action, 'actor_id', u.id, 'actor_username', coalesce(u.phone, u.email, ''),
        'actor_via_sso', u.is_sso_user, 'log_type', 'token'), coalesce(${origin.ip}::text, ''), ${now}
      from rotated, subject u, unnest(array['token_refreshed', 'token_revoked']) action)
    select exists (select from rotated) as rotated,
      family.token_hash as "activeHash", family.parent_hash as "parentHash",
      case when ${presentedHash}::bytea = any (family.replaced_hashes) then family.replaced_at end as "replacedAt",
      family.revoked_at as "revokedAt", u.not_after as "notAfter", u.begun_at as "createdAt",
      family.rotated_at as "refreshedAt", exists (select from newer where one) as "hasNewer", u.aal,
      to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities,
      (select coalesce(jsonb_agg(jsonb_build_object('method', c.authentication_method,
          'timestamp', floor(extract(epoch from c.updated_at))::bigint) order by c.updated_at desc, c.authentication_method desc), '[]')
        from :schema.mfa_amr_claims c where c.session_id = ${sessionId}::uuid) as amr
    from family, subject u`;
}

/** Ends a family: none of its tokens is accepted from now on. */
export async function revokeFamily(tx: Tx, sessionId: string, trace: Trace): Promise<void> {
  await tx.run`
    with revoked as (
      update :schema.refresh_tokens set revoked_at = ${tx.now}
      where session_id = ${sessionId}::uuid and revoked_at is null
      returning session_id)
    ${audited(trace, tx.now, fragment`revoked`)}`;
}
