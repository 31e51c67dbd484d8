import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A merge that happens once everything is there. When it is looked at and when it goes is up to triggers (0020). */
export type ScheduledMergeRow = Tables['scheduled_merges'];

/** Schedules the merge of a pull request whose issue is held; false when one is scheduled already. */
export async function insert(
  tx: Tx,
  merge: Omit<ScheduledMergeRow, 'scheduled_at' | 'scheduled_by'> & { scheduled_by: number },
): Promise<boolean> {
  const inserted = await tx.run`
    insert into :schema.scheduled_merges (pull_id, repository_id, scheduled_by, style, title, message, delete_branch,
      scheduled_at)
    values (${merge.pull_id}, ${merge.repository_id}, ${merge.scheduled_by}, ${merge.style}, ${merge.title},
      ${merge.message}, ${merge.delete_branch}, ${tx.now})
    on conflict (pull_id) do nothing`;
  return inserted > 0;
}

/** What is scheduled for a pull request. */
export function find(tx: Tx, pullId: number): Promise<ScheduledMergeRow | undefined> {
  return tx.row<ScheduledMergeRow>`select * from :schema.scheduled_merges where pull_id = ${pullId}`;
}

/** Nothing is scheduled any more; false when nothing was. */
export async function remove(tx: Tx, pullId: number): Promise<boolean> {
  return (await tx.run`delete from :schema.scheduled_merges where pull_id = ${pullId}`) > 0;
}

/**
 * Nothing is scheduled any more, unless somebody may write to the base, which nobody (null) may not. False when nothing was,
 * or he may.
 */
export async function removeUnlessWriter(tx: Tx, pullId: number, userId: number | null): Promise<boolean> {
  const removed = await tx.run`
    delete from :schema.scheduled_merges s using :schema.repositories r
    where s.pull_id = ${pullId} and r.id = s.repository_id and not exists (
      select from :schema.access_of(${userId}::bigint, r.id, r.owner_id) a where a.code >= 2)
      and not exists (select from :schema.users u where u.id = ${userId}::bigint and u.is_admin)`;
  return removed > 0;
}
