import type { Tx } from '@croft/sql';

// Each function deletes some of the rows that can do nothing any more, and says how many. Rows somebody works on are
// left for the next time. The rows are chosen in an array, once: as a set PostgreSQL may choose again for every row it
// deletes, and skips none that it has locked itself, so that the most would be no limit.

/**
 * Codes past their time. Those of a sign-up that brought a password stay until the address is proven or the user goes:
 * they tell that somebody typed another one before, and that one must not count when the code is sent anew.
 */
export function deleteCodes(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.one_time_tokens where id = any(array(
      select id from :schema.one_time_tokens
      where expires_at < ${before} and pending_password is null and pending_data is null
      order by expires_at limit ${most} for update skip locked))`;
}

/** Sign-ins with a provider that nobody came back from. */
export function deleteFlows(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.flow_state where id = any(array(
      select id from :schema.flow_state where created_at < ${before}
      order by created_at limit ${most} for update skip locked))`;
}

/** Codes that nobody came with a verifier for. */
export function deleteAuthCodes(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.auth_codes where id = any(array(
      select id from :schema.auth_codes where expires_at < ${before}
      order by expires_at limit ${most} for update skip locked))`;
}

/** Challenges nobody answered. */
export function deleteChallenges(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.mfa_challenges where id = any(array(
      select id from :schema.mfa_challenges where expires_at < ${before}
      order by expires_at limit ${most} for update skip locked))`;
}

/**
 * Factors nobody proved. Their users are locked first, as everything does that changes factors; a user somebody works
 * on is left with his.
 */
export function deleteUnproven(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.mfa_factors where status = 'unverified' and created_at < ${before} and user_id = any(array(
      select u.id from :schema.users u where u.id = any(array(
        select f.user_id from :schema.mfa_factors f where f.status = 'unverified' and f.created_at < ${before}
        order by f.created_at limit ${most}))
      for no key update skip locked))`;
}

/** Sessions past their end. Their refresh tokens are locked as well, because they go with them. */
export function deleteEndedSessions(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.sessions where id = any(array(
      select s.id from :schema.sessions s join :schema.refresh_tokens t on t.session_id = s.id
      where s.not_after < ${before} order by s.not_after limit ${most} for update of s, t skip locked))`;
}

/** Sessions whose refresh tokens were revoked, by a reuse or an end of the family. */
export function deleteRevokedSessions(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.sessions where id = any(array(
      select s.id from :schema.refresh_tokens t join :schema.sessions s on s.id = t.session_id
      where t.revoked_at < ${before} order by t.revoked_at limit ${most} for update of t, s skip locked))`;
}

/** Entries of the audit log from before the time it is kept for. */
export function deleteAuditEntries(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.audit_log_entries where id = any(array(
      select id from :schema.audit_log_entries where created_at < ${before}
      limit ${most} for update skip locked))`;
}

/**
 * Whether this process is the one that cleans, until the transaction ends; others do not wait.
 */
export async function takeTurn(tx: Tx, schema: string): Promise<boolean> {
  const turn = await tx.row<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('croft clean-up of ' || ${schema})) as taken`;
  return turn?.taken === true;
}
