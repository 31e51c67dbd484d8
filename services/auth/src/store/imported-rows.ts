import type { Tx } from '@croft/sql';

/** The database's own time: runs on different machines are compared by it. */
export async function beginRun(tx: Tx): Promise<Date> {
  const row = await tx.row<{ at: Date }>`select clock_timestamp() as at`;
  if (row === undefined) throw new Error('the database has no time');
  return row.at;
}

/** Notes that a run saw rows that are here because of it or of one before it. */
export async function noteSeen(
  tx: Tx,
  kind: 'user' | 'session',
  ids: readonly string[],
  runAt: Date,
): Promise<void> {
  await tx.run`
    update :schema.imported_rows set seen_at = greatest(seen_at, ${runAt})
    where kind = ${kind} and id = any (${ids}::uuid[])`;
}

/**
 * Ends sessions that a run did not see though it saw their user, and that nobody refreshed here yet. Those of users it did
 * not see may be from elsewhere.
 * @param most sessions at a time
 * @returns how many ended
 */
export function endUnseenSessions(tx: Tx, runAt: Date, most: number): Promise<number> {
  return tx.run`
    with unseen as materialized (
      select s.id, s.user_id from :schema.imported_rows r
      join :schema.sessions s on s.id = r.id
      join :schema.refresh_tokens t on t.session_id = s.id and t.counter = -1
      join :schema.imported_rows o on o.id = s.user_id and o.kind = 'user' and o.seen_at >= ${runAt}
      where r.kind = 'session' and (r.seen_at is null or r.seen_at < ${runAt})
      limit ${most}),
    owners as materialized (
      select id from :schema.users where id in (select user_id from unseen) order by id for no key update),
    families as materialized (
      select session_id from :schema.refresh_tokens
      where session_id in (select id from unseen) and counter = -1 and (select count(*) from owners) > 0
      order by session_id for update)
    delete from :schema.sessions s using families where s.id = families.session_id`;
}
