import { fragment, type Reader, type Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { identitiesOf } from './identities-of.ts';

/** How many codes a set has, and how many of them were not used. */
export interface RecoveryCodeCount {
  id: string;
  total: number;
  remaining: number;
}

type FoundCaller = Person & { hasSession: boolean; aal: string | null };

/** What is left of somebody's recovery codes, and whether a code is one of those. */
interface FoundSet {
  set: RecoveryCodeCount | null;
  isUnused: boolean;
}

/** The user an access token speaks of, and his recovery codes: one look for both. */
export function findByAccessToken(
  tx: Reader,
  { userId, sessionId }: { userId: string; sessionId: string | null },
  codeHash: string | null,
): Promise<(FoundCaller & FoundSet) | undefined> {
  return tx.row<FoundCaller & FoundSet>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities,
      exists (select from :schema.mfa_factors f join :schema.mfa_recovery_codes c on c.factor_id = f.id
        where f.user_id = u.id and c.code_hash = ${codeHash}::text and c.used_at is null) as "isUnused",
      exists (select from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as "hasSession",
      (select s.aal from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id) as aal,
      (select jsonb_build_object('id', f.id, 'total', count(c), 'remaining', count(c) filter (where c.used_at is null))
        from :schema.mfa_factors f join :schema.mfa_recovery_codes c on c.factor_id = f.id
        where f.user_id = u.id and f.factor_type = 'recovery_code' group by f.id) as set
    from :schema.users u
    where u.id = ${userId}::uuid and u.deleted_at is null`;
}

/** Codes in place of those of a set. */
export interface NewCodes {
  userId: string;
  sessionId: string;
  factorId: string;
  /** Keyed hashes. */
  hashes: readonly string[];
}

/**
 * Replaces the codes of a set.
 * @returns false when the set is gone, or the session does not show a second factor any more
 */
export async function replace(tx: Tx, codes: NewCodes, trace: Trace): Promise<boolean> {
  const now = tx.now;
  const row = await tx.row<{ id: string }>`
    with locked as (
      select id from :schema.users where id = ${codes.userId}::uuid and deleted_at is null for no key update),
    own as (
      select s.id from :schema.sessions s join locked on s.user_id = locked.id
      where s.id = ${codes.sessionId}::uuid and s.aal = 'aal2'
      for key share of s),
    factor as (
      update :schema.mfa_factors f set updated_at = ${now} from own
      where f.id = ${codes.factorId}::uuid and f.user_id = ${codes.userId}::uuid
      returning f.id),
    gone as (
      delete from :schema.mfa_recovery_codes c using factor where c.factor_id = factor.id returning c.code_hash),
    made as (
      insert into :schema.mfa_recovery_codes (factor_id, code_hash, created_at)
      select factor.id, hash, ${now} from factor, unnest(${codes.hashes}::text[]) as hash),
    audit as (${audited(trace, now, fragment`factor`)})
    select id from factor`;
  return row !== undefined;
}
