import { type Fragment, fragment } from '@croft/sql';
import type { Approvers } from '../../protections/protection-options.ts';

/**
 * Whether a person may write to the repository `r` and approve there, as `mayApprove` decides it.
 * @param person his id in the statement
 * @param approvers undefined for everybody
 */
export function personApproves(person: Fragment, approvers: Approvers | undefined): Fragment {
  const { users, teams } = approvers ?? { users: [], teams: [] };
  return fragment`(
    (not ${approvers !== undefined}::boolean or ${person} = any(${users}::bigint[]) or exists (
      select from :schema.team_members m join :schema.teams t on t.id = m.team_id
      where m.user_id = ${person} and m.team_id = any(${teams}::bigint[]) and t.organization_id = r.owner_id))
    and (exists (select from :schema.access_of(${person}, r.id, r.owner_id) a where a.code >= 2)
      or exists (select from :schema.users u where u.id = ${person} and u.is_admin)))`;
}

/** The same of a team of the owner. */
export function teamApproves(team: Fragment, approvers: Approvers | undefined): Fragment {
  return fragment`(${teamWrites(team)}
    and (not ${approvers !== undefined}::boolean or ${team} = any(${approvers?.teams ?? []}::bigint[])))`;
}

/** Whether a team may write to the code of the repository `r`, as its members may by being in it. */
export function teamWrites(team: Fragment): Fragment {
  return fragment`exists (
    select from :schema.teams t
    where t.id = ${team} and t.organization_id = r.owner_id and (t.level = 4 or ((t.level >= 3 or t.code >= 2)
      and (t.includes_all_repositories or exists (select from :schema.team_repositories x
        where x.team_id = t.id and x.repository_id = r.id)))))`;
}
