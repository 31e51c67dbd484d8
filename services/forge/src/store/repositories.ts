import type { Tx } from '@croft/sql';
import type { Tables } from '../tables.gen.ts';

/** A repository. */
export type RepositoryRow = Tables['repositories'] & { state: 'making' | 'ready' | 'removing' };

/** The repository a path names. */
export function findByName(tx: Tx, owner: string, name: string): Promise<RepositoryRow | undefined> {
  return tx.row<RepositoryRow>`
    select r.* from :schema.repositories r join :schema.users u on u.id = r.owner_id
    where u.login_key = lower(${owner}) and r.name_key = lower(${name}) and r.state = 'ready'`;
}

/** A repository in whatever state. */
export function findById(tx: Tx, id: number): Promise<RepositoryRow | undefined> {
  return tx.row<RepositoryRow>`select * from :schema.repositories where id = ${id}`;
}

/** Repositories of an owner, newest first. */
export function listOfOwner(
  tx: Tx,
  ownerId: number,
  page: { limit: number; offset: number },
  publicOnly: boolean,
): Promise<RepositoryRow[]> {
  return tx.rows<RepositoryRow>`
    select * from :schema.repositories
    where owner_id = ${ownerId} and state = 'ready' and not (private and ${publicOnly}::boolean)
    order by id desc limit ${page.limit} offset ${page.offset}`;
}

/** How many repositories an owner has. */
export async function countOfOwner(tx: Tx, ownerId: number, publicOnly: boolean): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.repositories
    where owner_id = ${ownerId} and state = 'ready' and not (private and ${publicOnly}::boolean)`;
  return row?.count ?? 0;
}

/** Announces a repository whose folder is made next; undefined when the name is taken. */
export function insert(
  tx: Tx,
  repository: { ownerId: number; name: string; description: string; private: boolean; defaultBranch: string },
): Promise<RepositoryRow | undefined> {
  return tx.row<RepositoryRow>`
    insert into :schema.repositories
      (owner_id, name, description, private, default_branch, state, created_at, updated_at)
    values (${repository.ownerId}, ${repository.name}, ${repository.description}, ${repository.private},
      ${repository.defaultBranch}, 'making', ${tx.now}, ${tx.now})
    on conflict (owner_id, name_key) do nothing returning *`;
}

/** The folder is there. */
export function markReady(tx: Tx, id: number, empty: boolean): Promise<RepositoryRow | undefined> {
  return tx.row<RepositoryRow>`
    update :schema.repositories set state = 'ready', empty = ${empty} where id = ${id} and state = 'making' returning *`;
}

/** The folder goes next; from now on nobody finds the repository. */
export async function beginRemoval(tx: Tx, id: number): Promise<boolean> {
  return (
    (await tx.run`update :schema.repositories set state = 'removing' where id = ${id} and state = 'ready'`) >
    0
  );
}

/** Repositories whose creation or removal a crash interrupted. */
export function listUnsettled(tx: Tx): Promise<RepositoryRow[]> {
  return tx.rows<RepositoryRow>`select * from :schema.repositories where state <> 'ready' order by id`;
}

/** Forgets a repository and everything in it. */
export async function deleteById(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.repositories where id = ${id}`;
}

/** Takes over what a push changed. */
export async function updateAfterPush(
  tx: Tx,
  id: number,
  after: { empty: boolean; defaultBranch: string },
): Promise<void> {
  await tx.run`
    update :schema.repositories set empty = ${after.empty}, default_branch = ${after.defaultBranch}, updated_at = ${tx.now}
    where id = ${id}`;
}

/** The next number of issues and pull requests; holds the row until the transaction ends, so no number is lost. */
export async function takeNumber(tx: Tx, id: number, kind: 'issue' | 'pull'): Promise<number> {
  const row = await tx.row<{ last_number: number }>`
    update :schema.repositories set last_number = last_number + 1, updated_at = ${tx.now},
      issues = issues + ${kind === 'issue' ? 1 : 0}::int, pulls = pulls + ${kind === 'pull' ? 1 : 0}::int
    where id = ${id} and state = 'ready' returning last_number`;
  if (row === undefined) throw new Error(`repository ${id} went away`);
  return row.last_number;
}

/** Holds the row until the transaction ends. */
export async function lock(tx: Tx, id: number): Promise<void> {
  await tx.run`select from :schema.repositories where id = ${id} for update`;
}

/** Counts issues or pull requests that were closed (+1) or reopened (−1). */
export async function addClosed(tx: Tx, id: number, kind: 'issue' | 'pull', change: 1 | -1): Promise<void> {
  await tx.run`
    update :schema.repositories set
      closed_issues = closed_issues + ${kind === 'issue' ? change : 0}::int,
      closed_pulls = closed_pulls + ${kind === 'pull' ? change : 0}::int
    where id = ${id}`;
}
