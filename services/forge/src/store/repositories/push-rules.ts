import type { Tx } from '@croft/sql';
import type { BranchProtectionRow } from './branch-protections.ts';
import type { TagProtectionRow } from './tag-protections.ts';

/** What of the database decides who moves branches and tags of a repository. */
export interface PushRulesRow {
  /** In the order of their priority. */
  protections: Pick<BranchProtectionRow, 'rule_name' | 'priority' | 'options'>[];
  tags: Pick<TagProtectionRow, 'name_pattern' | 'user_ids' | 'team_ids'>[];
  /** Teams of the repository's owner that somebody is in. */
  teamIds: number[];
}

/** The protections of a repository, and the teams of somebody in it: one statement, as every push asks for them. */
export async function find(
  tx: Tx,
  { repositoryId, ownerId, userId }: { repositoryId: number; ownerId: number; userId: number },
): Promise<PushRulesRow> {
  const row = await tx.row<PushRulesRow>`
    select
      coalesce((select jsonb_agg(jsonb_build_object('rule_name', b.rule_name, 'priority', b.priority,
          'options', b.options) order by b.priority, b.id)
        from :schema.branch_protections b where b.repository_id = ${repositoryId}), '[]') as protections,
      coalesce((select jsonb_agg(jsonb_build_object('name_pattern', g.name_pattern, 'user_ids', g.user_ids,
          'team_ids', g.team_ids) order by g.id)
        from :schema.tag_protections g where g.repository_id = ${repositoryId}), '[]') as tags,
      coalesce((select jsonb_agg(t.id) from :schema.teams t join :schema.team_members m on m.team_id = t.id
        where m.user_id = ${userId} and t.organization_id = ${ownerId}), '[]') as "teamIds"`;
  return row ?? { protections: [], tags: [], teamIds: [] };
}
