import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import type { Viewer } from '../../viewer.ts';
import type { TeamRow } from '../people/teams.ts';
import { reviveUser, type UserRow } from '../people/users.ts';

/** A wish to give a repository away. */
export type RepositoryTransferRow = Tables['repository_transfers'];

/** The same with whom it is about. */
export type TransferWithPeople = RepositoryTransferRow & {
  doer: UserRow;
  recipient: UserRow;
  /** As far as the viewer may know of them. */
  teams: TeamRow[];
  /** Whether the viewer may take it: he is the recipient, or may make repositories in the recipient. */
  is_asked: boolean;
  /** Whether he may know of the recipient. */
  is_known: boolean;
};

/** The transfers that some repositories wait for. */
export async function listByRepositories(
  tx: Tx,
  ids: readonly number[],
  viewer: Viewer,
): Promise<TransferWithPeople[]> {
  const rows = await tx.rows<TransferWithPeople>`
    select t.*, to_jsonb(d) as doer, to_jsonb(u) as recipient, coalesce((
        select jsonb_agg(to_jsonb(x) order by x.id)
        from :schema.teams x where x.id = any(t.team_ids)
          and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, x)), '[]') as teams,
      t.recipient_id = ${viewer.userId} or exists (select from :schema.team_members m join :schema.teams x on x.id = m.team_id
        where m.user_id = ${viewer.userId} and x.organization_id = t.recipient_id
          and (x.can_create_repositories or x.level >= 4)) as is_asked,
      :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, u.id, u.visibility) as is_known
    from :schema.repository_transfers t join :schema.users d on d.id = t.doer_id
      join :schema.users u on u.id = t.recipient_id
    where t.repository_id = any(${ids}::bigint[])`;
  return rows.map((row) => ({
    ...row,
    doer: reviveUser(row.doer),
    recipient: reviveUser(row.recipient),
    teams: row.teams.map((team) => ({ ...team, created_at: new Date(team.created_at) })),
  }));
}

/** Announces a transfer; false when the repository waits for one already. */
export async function insert(
  tx: Tx,
  transfer: { repositoryId: number; doerId: number; recipientId: number; teamIds: readonly number[] },
): Promise<boolean> {
  return (
    (await tx.run`
      insert into :schema.repository_transfers (repository_id, doer_id, recipient_id, team_ids, created_at)
      values (${transfer.repositoryId}, ${transfer.doerId}, ${transfer.recipientId}, ${transfer.teamIds}::bigint[], ${tx.now})
      on conflict do nothing`) > 0
  );
}

/** Takes the wish back, whatever became of it; undefined when somebody else did. */
export function remove(tx: Tx, repositoryId: number): Promise<RepositoryTransferRow | undefined> {
  return tx.row<RepositoryTransferRow>`
    delete from :schema.repository_transfers where repository_id = ${repositoryId} returning *`;
}
