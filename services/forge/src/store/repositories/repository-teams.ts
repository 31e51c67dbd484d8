import type { Tx } from '@croft/sql';
import type { Viewer } from '../../viewer.ts';
import type { TeamRow } from '../people/teams.ts';

/** Teams that reach a repository, as far as somebody may know of them; those of owners first. */
export function list(tx: Tx, repositoryId: number, viewer: Viewer): Promise<TeamRow[]> {
  return tx.rows<TeamRow>`
    select t.* from :schema.teams t join :schema.repositories r on r.owner_id = t.organization_id
    where r.id = ${repositoryId} and (t.level = 4 or t.includes_all_repositories or exists (
      select from :schema.team_repositories x where x.team_id = t.id and x.repository_id = r.id))
      and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, t)
    order by (t.level < 4), t.name_key`;
}

/** A team of an organization. */
export function findByName(tx: Tx, organizationId: number, name: string): Promise<TeamRow | undefined> {
  return tx.row<TeamRow>`
    select * from :schema.teams where organization_id = ${organizationId} and name_key = lower(${name})`;
}
