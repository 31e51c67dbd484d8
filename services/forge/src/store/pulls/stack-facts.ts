import { fragment, type Tx } from '@croft/sql';
import type { Approvers } from '../../protections/protection-options.ts';
import type { MergeFacts } from '../../pulls/merge-facts.ts';
import { personApproves, teamApproves } from '../reviews/approvers.ts';
import type { PullWithIssue } from './pulls.ts';

/**
 * What reviewers say of a pull request for a branch that is not its base: of those who may write and approve there, the latest word
 * of each, unless it was dismissed. An approval must also have been one where it was given.
 * @param approvers undefined for everybody
 */
export async function loadVerdicts(
  tx: Tx,
  pull: PullWithIssue,
  head: string,
  approvers: Approvers | undefined,
): Promise<Pick<MergeFacts, 'approvals' | 'freshApprovals' | 'rejected' | 'asked'>> {
  const row = await tx.row<Pick<MergeFacts, 'approvals' | 'freshApprovals' | 'rejected' | 'asked'>>`
    with people as (
      select reviewer_id as id from :schema.reviews where pull_id = ${pull.id} and reviewer_id is not null
      union
      select reviewer_id from :schema.review_requests where pull_id = ${pull.id} and reviewer_id is not null
    ), approvers as (
      select p.id from people p join :schema.repositories r on r.id = ${pull.repository_id}
      where ${personApproves(fragment`p.id`, approvers)}
    ), latest as (
      select distinct on (reviewer_id) kind, official, dismissed_at,
        not stale and (${pull.head_sha === head}::boolean or commit_sha = ${head}) as fresh
      from :schema.reviews
      where pull_id = ${pull.id} and reviewer_id in (select id from approvers)
        and kind in ('APPROVED', 'REQUEST_CHANGES')
      order by reviewer_id, submitted_at desc, id desc
    ), words as (
      select kind, official, fresh from latest where dismissed_at is null
    )
    select (select count(*)::int from words where kind = 'APPROVED' and official) as approvals,
      (select count(*)::int from words where kind = 'APPROVED' and official and fresh) as "freshApprovals",
      exists (select from words where kind = 'REQUEST_CHANGES') as rejected,
      exists (select from :schema.review_requests q join :schema.repositories r on r.id = ${pull.repository_id}
        where q.pull_id = ${pull.id}
          and (q.reviewer_id in (select id from approvers) or ${teamApproves(fragment`q.team_id`, approvers)})) as asked`;
  if (row === undefined) throw new Error('a select without a table returned no row');
  return row;
}
