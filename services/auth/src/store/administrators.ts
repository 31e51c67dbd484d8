import { fragment, type Tx } from '@croft/sql';
import type { FactorRow } from '../rows.ts';
import { hasNewer, kindOf, type LivingSessions, withinItsTime } from './refresh-tokens.ts';

/** The user behind an administrator's token. */
export interface Administrator {
  role: string | null;
  /** As `to_jsonb` writes a time. */
  bannedUntil: string | null;
  factors: FactorRow[];
  /** How strongly the session the token names is proven; null when it is not the user's, or could not be refreshed any more. */
  aal: string | null;
}

/** The living user of a token, and what became of the session it names: one look for both. */
export function find(
  tx: Tx,
  userId: string,
  sessionId: string | null,
  limits: LivingSessions,
): Promise<Administrator | undefined> {
  const rows = { session: fragment`s`, family: fragment`t`, user: fragment`u` };
  const own = {
    id: fragment`s.id`,
    kind: kindOf(limits.tags, rows.session),
    rotatedAt: fragment`t.rotated_at`,
  };
  return tx.row<Administrator>`
    select u.role, to_jsonb(u.banned_until) #>> '{}' as "bannedUntil", u.factors,
      (select s.aal from :schema.sessions s join :schema.refresh_tokens t on t.session_id = s.id
        where s.id = ${sessionId}::uuid and s.user_id = u.id and t.revoked_at is null
          and ${withinItsTime(limits, tx.now, rows)}
          and not (${limits.singlePerUser}::boolean and ${hasNewer(limits, tx.now, rows.user, own)})) as aal
    from :schema.users u
    where u.id = ${userId}::uuid and u.deleted_at is null`;
}
