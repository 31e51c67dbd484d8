import { fragment, type Tx } from '@croft/sql';
import type { MergeFacts } from '../../pulls/merge-facts.ts';
import { teamWrites } from '../reviews/approvers.ts';

/**
 * What people, build servers and dependencies say of a pull request that would be merged with a head: one statement. Of
 * reviews the latest word of each reviewer counts, or none of his when that was dismissed or he may no longer write, as his
 * would not if he gave it now, nor does asking people or teams that may not; one of before the head moved is not fresh, also
 * when the row does not say so yet.
 */
export async function load(
  tx: Tx,
  pull: { id: number; issue_id: number; repository_id: number; head_sha: string },
  head: string,
): Promise<MergeFacts> {
  const row = await tx.row<MergeFacts>`
    with repository as (
      select id, owner_id from :schema.repositories where id = ${pull.repository_id}
    ), latest as (
      select distinct on (reviewer_id) reviewer_id, kind, official and dismissed_at is null as counts,
        not stale and (${pull.head_sha === head} or commit_sha = ${head}) as fresh
      from :schema.reviews
      where pull_id = ${pull.id} and kind in ('APPROVED', 'REQUEST_CHANGES') and reviewer_id is not null
      order by reviewer_id, submitted_at desc, id desc
    ), words as (
      select l.kind, l.fresh from latest l cross join repository r
      where l.counts and (exists (select from :schema.access_of(l.reviewer_id, r.id, r.owner_id) a where a.code >= 2)
        or exists (select from :schema.users u where u.id = l.reviewer_id and u.is_admin))
    )
    select (select count(*)::int from words where kind = 'APPROVED') as approvals,
      (select count(*)::int from words where kind = 'APPROVED' and fresh) as "freshApprovals",
      exists (select from words where kind = 'REQUEST_CHANGES') as rejected,
      exists (select from :schema.review_requests q cross join repository r
        where q.pull_id = ${pull.id} and q.official and (${teamWrites(fragment`q.team_id`)}
          or exists (select from :schema.access_of(q.reviewer_id, r.id, r.owner_id) a where a.code >= 2)
          or exists (select from :schema.users u where u.id = q.reviewer_id and u.is_admin))) as asked,
      exists (select from :schema.dependencies d join :schema.issues i on i.id = d.blocked_by
          join :schema.repositories r on r.id = ${pull.repository_id} and r.has_dependencies
        where d.issue_id = ${pull.issue_id} and i.closed_at is null) as waits,
      coalesce((select jsonb_agg(jsonb_build_object('context', s.context, 'state', s.state)) from (
        select distinct on (context) context, state from :schema.commit_statuses
        where repository_id = ${pull.repository_id} and sha = ${head} order by context, id desc) s), '[]') as statuses`;
  if (row === undefined) throw new Error('a select without a table returned no row');
  return row;
}
