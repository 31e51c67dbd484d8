import type { Reader } from '@croft/sql';
import type { BranchProtectionRow } from '../repositories/branch-protections.ts';
import type { PullWithIssue } from './pulls.ts';

/** A pull request that somebody wants merged, as it is, and what of the database decides whether he may. */
export interface MergeStart {
  pull: PullWithIssue;
  /** Whether a merge of it is under way, or was when we crashed. */
  interrupted: boolean;
  /** Whether he was told something of it that he has not read. */
  unread: boolean;
  /** All of the repository, in the order of their priority. */
  protections: Pick<BranchProtectionRow, 'rule_name' | 'priority' | 'options'>[];
  /** Teams of the repository's owner that he is in. */
  teamIds: number[];
}

/**
 * What a merge starts with, by what its path says: one statement, which needs to wait for no other. Whether he may know of
 * the repository, another one says.
 */
export async function find(
  tx: Reader,
  { owner, repo }: { owner: string; repo: string },
  number: number,
  userId: number,
): Promise<MergeStart | undefined> {
  const row = await tx.row<PullWithIssue & Omit<MergeStart, 'pull'>>`
    select i.*, p.*, exists (select from :schema.merges m where m.pull_id = p.id) as interrupted,
      exists (select from :schema.notifications n
        where n.issue_id = i.id and n.user_id = ${userId} and n.status = 'unread') as unread,
      coalesce((select jsonb_agg(jsonb_build_object('rule_name', b.rule_name, 'priority', b.priority,
          'options', b.options) order by b.priority, b.id)
        from :schema.branch_protections b where b.repository_id = r.id), '[]') as protections,
      coalesce((select jsonb_agg(t.id) from :schema.teams t join :schema.team_members m on m.team_id = t.id
        where m.user_id = ${userId} and t.organization_id = r.owner_id), '[]') as "teamIds"
    from :schema.users o join :schema.repositories r on r.owner_id = o.id
      join :schema.issues i on i.repository_id = r.id join :schema.pulls p on p.issue_id = i.id
    where o.login_key = lower(${owner}) and r.name_key = lower(${repo}) and i.number = ${number}`;
  if (row === undefined) return undefined;
  const { interrupted, unread, protections, teamIds, ...pull } = row;
  return { pull, interrupted, unread, protections, teamIds };
}
