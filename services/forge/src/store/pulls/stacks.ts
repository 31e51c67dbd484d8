import type { Tx } from '@croft/sql';
import type { StackMember } from '../../stacks/stack-member.ts';
import type { PullRow, PullWithIssue } from './pulls.ts';

/** An open pull request that may stand on another one, or the other way round. */
export type StackedPull = StackMember & {
  title: string;
  head_branch: string;
  head_sha: string;
};

/** More than anybody merges together. */
const MOST = 200;

/**
 * Open pull requests that one of the same repository stands on, directly or because another one does, and those that
 * stand on it. Which of them count is a rule's business; in circles each comes once. Nothing stands on one whose head is the
 * default branch: that is no step on the way, such as a release from it.
 */
export async function listAround(
  tx: Tx,
  pull: PullRow,
): Promise<{ below: StackedPull[]; above: StackedPull[] }> {
  const rows = await tx.rows<StackedPull & { is_above: boolean }>`
    with recursive lasting as (
      select default_branch as branch from :schema.repositories where id = ${pull.repository_id}
    ), below (id, base) as (
      select ${pull.id}::bigint, ${pull.base_branch}::text
      union
      select p.id, p.base_branch from below b
        join :schema.pulls p on p.head_repository_id = ${pull.repository_id} and p.head_branch = b.base
        join :schema.issues i on i.id = p.issue_id
      where p.repository_id = ${pull.repository_id} and p.merged_at is null and i.closed_at is null
        and p.head_branch <> (select branch from lasting)
    ), above (id, head) as (
      select ${pull.id}::bigint,
        case when ${pull.head_repository_id}::bigint = ${pull.repository_id}::bigint
          and ${pull.head_branch}::text <> (select branch from lasting) then ${pull.head_branch}::text end
      union
      select p.id, case when p.head_repository_id = p.repository_id
        and p.head_branch <> (select branch from lasting) then p.head_branch end from above a
        join :schema.pulls p on p.repository_id = ${pull.repository_id} and p.base_branch = a.head
        join :schema.issues i on i.id = p.issue_id
      where p.merged_at is null and i.closed_at is null
    ), around as (
      (select id, false as is_above from below limit ${MOST}) union all
      (select id, true from above limit ${MOST})
    )
    select p.id, i.number, i.title, p.base_branch, p.head_branch, p.head_sha, a.is_above,
      case when p.head_repository_id = p.repository_id then p.head_branch end as own_head
    from around a join :schema.pulls p on p.id = a.id join :schema.issues i on i.id = p.issue_id
    where p.id <> ${pull.id} order by i.number`;
  return { below: rows.filter((row) => !row.is_above), above: rows.filter((row) => row.is_above) };
}

/** Pull requests with some ids, in any order. */
export function listByIds(tx: Tx, ids: readonly number[]): Promise<PullWithIssue[]> {
  return tx.rows<PullWithIssue>`
    select i.*, p.* from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.id = any(${ids}::bigint[])`;
}
