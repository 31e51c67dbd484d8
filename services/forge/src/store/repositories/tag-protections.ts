import { type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A protection of tags. */
export type TagProtectionRow = Tables['tag_protections'] & {
  user_ids: readonly number[];
  team_ids: readonly number[];
};

/** What a protection says. */
export interface TagProtectionFields {
  namePattern: string;
  userIds: readonly number[];
  teamIds: readonly number[];
}

/** All protections of tags of a repository, the oldest first. */
export function list(tx: Tx, repositoryId: number): Promise<TagProtectionRow[]> {
  return tx.rows<TagProtectionRow>`
    select * from :schema.tag_protections where repository_id = ${repositoryId} order by id`;
}

/** The protection of a repository with this id. */
export function findById(tx: Tx, repositoryId: number, id: number): Promise<TagProtectionRow | undefined> {
  return tx.row<TagProtectionRow>`
    select * from :schema.tag_protections where repository_id = ${repositoryId} and id = ${id}`;
}

/** How many a repository has. */
export async function count(tx: Tx, repositoryId: number): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*)::integer as count from :schema.tag_protections where repository_id = ${repositoryId}`;
  return row?.count ?? 0;
}

/** Adds a protection; undefined when there is one of its pattern. */
export function insert(
  tx: Tx,
  repositoryId: number,
  { namePattern, userIds, teamIds }: TagProtectionFields,
): Promise<TagProtectionRow | undefined> {
  return tx.row<TagProtectionRow>`
    insert into :schema.tag_protections (repository_id, name_pattern, user_ids, team_ids, created_at, updated_at)
    select r.id, ${namePattern}, ${JSON.stringify(userIds)}::jsonb, ${JSON.stringify(teamIds)}::jsonb, ${tx.now}::timestamptz, ${tx.now}::timestamptz
    from :schema.repositories r where r.id = ${repositoryId} for key share
    on conflict (repository_id, name_pattern) do nothing returning *`;
}

/** Changes what is given. */
export function update(
  tx: Tx,
  id: number,
  { namePattern, userIds, teamIds }: Partial<TagProtectionFields>,
): Promise<TagProtectionRow | undefined> {
  return tx.row<TagProtectionRow>`
    update :schema.tag_protections set name_pattern = coalesce(${namePattern ?? null}::text, name_pattern),
      user_ids = coalesce(${listOf(userIds)}::jsonb, user_ids),
      team_ids = coalesce(${listOf(teamIds)}::jsonb, team_ids), updated_at = ${tx.now}
    where id = ${id} returning *`;
}

/** Lifts a protection. */
export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.tag_protections where id = ${id}`;
}

const listOf = (ids: readonly number[] | undefined) => (ids === undefined ? null : JSON.stringify(ids));
