import type { Tx } from '@croft/sql';

/** The user behind an administrator's token. */
export interface Administrator {
  role: string | null;
  /** As `to_jsonb` writes a time. */
  bannedUntil: string | null;
  /** Whether the session the token names is the user's and not over. */
  sessionLives: boolean;
}

/** The living user of a token, and what became of the session it names: one look for both. */
export function find(tx: Tx, userId: string, sessionId: string | null): Promise<Administrator | undefined> {
  return tx.row<Administrator>`
    select u.role, to_jsonb(u.banned_until) #>> '{}' as "bannedUntil",
      exists (select from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = u.id
        and (s.not_after is null or s.not_after > ${tx.now})) as "sessionLives"
    from :schema.users u
    where u.id = ${userId}::uuid and u.deleted_at is null`;
}
