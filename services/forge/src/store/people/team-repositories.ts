import type { Tx } from '@croft/sql';

/** Gives a team of its owner a repository; nothing happens when one of them is gone. */
export async function add(tx: Tx, teamId: number, repositoryId: number): Promise<void> {
  await tx.run`
    insert into :schema.team_repositories (team_id, repository_id)
    select t.id, r.id from :schema.teams t join :schema.repositories r on r.owner_id = t.organization_id
    where t.id = ${teamId} and r.id = ${repositoryId} for key share
    on conflict do nothing`;
}

/** Takes a repository from a team; false when it had none. */
export async function remove(tx: Tx, teamId: number, repositoryId: number): Promise<boolean> {
  return (
    (await tx.run`
      delete from :schema.team_repositories where team_id = ${teamId} and repository_id = ${repositoryId}`) >
    0
  );
}

/** Whether a team reaches a repository: it was given it, or reaches all of its owner's. */
export async function reaches(tx: Tx, teamId: number, repositoryId: number): Promise<boolean> {
  const row = await tx.row`
    select from :schema.teams t join :schema.repositories r on r.owner_id = t.organization_id
    where t.id = ${teamId} and r.id = ${repositoryId} and (t.level = 4 or t.includes_all_repositories or exists (
      select from :schema.team_repositories x where x.team_id = t.id and x.repository_id = r.id))`;
  return row !== undefined;
}
