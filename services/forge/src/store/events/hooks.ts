import type { Reader, Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** Where a hook stands: on a repository, on an account with all its repositories, or on the system with everything. */
export type HookScope =
  | { repositoryId: number; ownerId: null }
  | { repositoryId: null; ownerId: number }
  | { repositoryId: null; ownerId: null };

/** A hook; secret and header are sealed. */
export type HookRow = Tables['hooks'];

/** What may change about a hook. */
export type HookChange = Pick<
  HookRow,
  'url' | 'content_type' | 'secret' | 'authorization_header' | 'events' | 'branch_filter' | 'active' | 'name'
>;

/** A page of the hooks of a place, oldest first. */
export function list(tx: Tx, scope: HookScope, page: { limit: number; offset: number }): Promise<HookRow[]> {
  return tx.rows<HookRow>`
    select * from :schema.hooks
    where repository_id is not distinct from ${scope.repositoryId} and owner_id is not distinct from ${scope.ownerId}
    order by id limit ${page.limit} offset ${page.offset}`;
}

/** How many hooks a place has. */
export async function count(tx: Tx, scope: HookScope): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.hooks
    where repository_id is not distinct from ${scope.repositoryId} and owner_id is not distinct from ${scope.ownerId}`;
  return row?.count ?? 0;
}

/** The hook with an id, if it belongs to the place. */
export function find(tx: Tx, scope: HookScope, id: number): Promise<HookRow | undefined> {
  return tx.row<HookRow>`
    select * from :schema.hooks
    where id = ${id} and repository_id is not distinct from ${scope.repositoryId}
      and owner_id is not distinct from ${scope.ownerId}`;
}

/** The hook with an id, for whoever changes it next: nobody else does until the end of the transaction. */
export function lock(tx: Tx, id: number): Promise<HookRow | undefined> {
  return tx.row<HookRow>`select * from :schema.hooks where id = ${id} for no key update`;
}

/** Adds a hook, in a transaction; undefined when the place has as many as it may. */
export async function insert(
  tx: Tx,
  scope: HookScope,
  hook: HookChange & { type: string },
  most: number,
): Promise<HookRow | undefined> {
  const place = `croft hooks ${scope.repositoryId} ${scope.ownerId}`;
  await tx.run`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`;
  return await tx.row<HookRow>`
    insert into :schema.hooks (repository_id, owner_id, type, url, content_type, secret, authorization_header, events,
      branch_filter, active, name, created_at, updated_at)
    select ${scope.repositoryId}::bigint, ${scope.ownerId}::bigint, ${hook.type}, ${hook.url}, ${hook.content_type},
      ${hook.secret}::bytea, ${hook.authorization_header}::bytea, ${hook.events}::text[], ${hook.branch_filter},
      ${hook.active}, ${hook.name}, ${tx.now}, ${tx.now}
    where (select count(*) from :schema.hooks where repository_id is not distinct from ${scope.repositoryId}::bigint
      and owner_id is not distinct from ${scope.ownerId}::bigint) < ${most}
    returning *`;
}

/** Writes the changed hook, which whoever does it has locked. */
export async function update(tx: Tx, id: number, hook: HookChange): Promise<HookRow> {
  const row = await tx.row<HookRow>`
    update :schema.hooks set url = ${hook.url}, content_type = ${hook.content_type}, secret = ${hook.secret},
      authorization_header = ${hook.authorization_header}, events = ${hook.events}, branch_filter = ${hook.branch_filter},
      active = ${hook.active}, name = ${hook.name}, updated_at = ${tx.now}
    where id = ${id} returning *`;
  if (row === undefined) throw new Error(`the webhook ${id} went away although it was locked`);
  return row;
}

/** Forgets a hook with its deliveries. */
export async function deleteById(tx: Tx, id: number): Promise<void> {
  await tx.run`delete from :schema.hooks where id = ${id}`;
}

/** Active hooks of some repositories, their owners and the system. */
export function listOfPlaces(
  tx: Reader,
  places: readonly { repositoryId: number; ownerId: number }[],
): Promise<HookRow[]> {
  return tx.rows<HookRow>`
    select * from :schema.hooks
    where active and (repository_id = any(${places.map(({ repositoryId }) => repositoryId)}::bigint[])
      or owner_id = any(${places.map(({ ownerId }) => ownerId)}::bigint[])
      or (repository_id is null and owner_id is null))
    order by id`;
}
