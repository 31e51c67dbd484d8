import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A merge that happens once everything is there. When it is looked at and when it goes is up to triggers (0020). */
export type ScheduledMergeRow = Tables['scheduled_merges'];

/** Schedules the merge of a pull request whose issue is held; false when one is scheduled already. */
export async function insert(
  tx: Tx,
  merge: Omit<ScheduledMergeRow, 'scheduled_at' | 'scheduled_by' | 'awaits_checks'> & {
    scheduled_by: number;
  },
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

/** Has what is scheduled wait until checks of its head begin, if there were any of the one that it had. */
export async function awaitChecks(tx: Tx, pullId: number, formerHead: string): Promise<void> {
  await tx.run`
    update :schema.scheduled_merges s set awaits_checks = true
    where s.pull_id = ${pullId} and not s.awaits_checks and exists (
      select from :schema.commit_statuses c where c.repository_id = s.repository_id and c.sha = ${formerHead})`;
}

/** Somebody as the protection of the base sees him into which something is scheduled; nobody may write. */
export interface Decider {
  base_branch: string;
  userId: number;
  /** Teams of the repository's owner that he is in. */
  teamIds: number[];
  mayWrite: boolean;
}

/** How somebody, or nobody (null), stands to what is scheduled for a pull request; undefined when nothing is. */
export function findDecider(tx: Tx, pullId: number, userId: number | null): Promise<Decider | undefined> {
  return tx.row<Decider>`
    select p.base_branch, ${userId ?? 0}::bigint as "userId",
      coalesce((select jsonb_agg(t.id) from :schema.teams t join :schema.team_members m on m.team_id = t.id
        where m.user_id = ${userId}::bigint and t.organization_id = r.owner_id), '[]') as "teamIds",
      exists (select from :schema.access_of(${userId}::bigint, r.id, r.owner_id) a where a.code >= 2)
        or exists (select from :schema.users u where u.id = ${userId}::bigint and u.is_admin) as "mayWrite"
    from :schema.scheduled_merges s join :schema.pulls p on p.id = s.pull_id
      join :schema.repositories r on r.id = s.repository_id
    where s.pull_id = ${pullId}`;
}
