import type { Tx } from '@croft/sql';
import type { Tables } from '../tables.gen.ts';

/** An account. */
export type UserRow = Tables['users'];

/** What the auth service says of the account's owner. */
export interface Identity {
  authUserId: string;
  email: string;
  fullName: string;
  isAdmin: boolean;
}

/** The account of an auth user. */
export function findByAuthUserId(tx: Tx, authUserId: string): Promise<UserRow | undefined> {
  return tx.row<UserRow>`select * from :schema.users where auth_user_id = ${authUserId}`;
}

/** The account with a name, whatever its case. */
export function findByLogin(tx: Tx, login: string): Promise<UserRow | undefined> {
  return tx.row<UserRow>`select * from :schema.users where login_key = lower(${login})`;
}

/** The account that another row refers to. */
export async function getById(tx: Tx, id: number): Promise<UserRow> {
  const row = await tx.row<UserRow>`select * from :schema.users where id = ${id}`;
  if (row === undefined) throw new Error(`account ${id} is missing`);
  return row;
}

/** Accounts by their ids, as a map. */
export async function mapByIds(tx: Tx, ids: readonly number[]): Promise<Map<number, UserRow>> {
  const rows = await tx.rows<UserRow>`select * from :schema.users where id = any(${ids}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Makes an account; undefined when the name is taken or the auth user has one already. */
export function insert(tx: Tx, login: string, identity: Identity): Promise<UserRow | undefined> {
  return tx.row<UserRow>`
    insert into :schema.users (auth_user_id, login, full_name, email, is_admin, created_at)
    values (${identity.authUserId}, ${login}, ${identity.fullName}, ${identity.email}, ${identity.isAdmin}, ${tx.now})
    on conflict do nothing returning *`;
}

/** Takes over what may change on the auth side; the login stays. */
export async function updateIdentity(tx: Tx, id: number, identity: Identity): Promise<void> {
  await tx.run`
    update :schema.users set email = ${identity.email}, full_name = ${identity.fullName}, is_admin = ${identity.isAdmin}
    where id = ${id}`;
}
