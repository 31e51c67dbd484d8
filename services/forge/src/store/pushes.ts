import type { Tx } from '@croft/sql';

/** Announces a push. */
export async function insert(tx: Tx, repositoryId: number): Promise<number> {
  const row = await tx.row<{ id: number }>`
    insert into :schema.pushes (repository_id, started_at) values (${repositoryId}, ${tx.now}) returning id`;
  if (row === undefined) throw new Error('insert returned no row');
  return row.id;
}

/** What the push changed is recorded. */
export async function deleteById(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.pushes where id = ${id}`;
}

/** Repositories with a push that nobody finished. */
export function listRepositories(tx: Tx): Promise<{ repository_id: number }[]> {
  return tx.rows<{ repository_id: number }>`select distinct repository_id from :schema.pushes`;
}

/** Forgets the pushes of a repository that began before `before`. */
export async function deleteBefore(tx: Tx, repositoryId: number, before: Date): Promise<void> {
  await tx.run`delete from :schema.pushes where repository_id = ${repositoryId} and started_at < ${before}`;
}
