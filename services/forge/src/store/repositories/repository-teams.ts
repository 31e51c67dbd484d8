import type { Tx } from '@croft/sql';
import type { TeamRow } from '../people/teams.ts';

/** Teams that reach a repository, those of owners first. */
export function list(tx: Tx, repositoryId: number): Promise<TeamRow[]> {
  return tx.rows<TeamRow>`
    select t.* from :schema.teams t join :schema.repositories r on r.owner_id = t.organization_id
    where r.id = ${repositoryId} and (t.level = 4 or t.includes_all_repositories or exists (
      select from :schema.team_repositories x where x.team_id = t.id and x.repository_id = r.id))
    order by (t.level < 4), t.name_key`;
}

/** A team of an organization. */
export function findByName(tx: Tx, organizationId: number, name: string): Promise<TeamRow | undefined> {
  return tx.row<TeamRow>`
    select * from :schema.teams where organization_id = ${organizationId} and name_key = lower(${name})`;
}
