import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A program to which people can sign in. */
export type ApplicationRow = Tables['oauth_applications'];

/** What its owner decides about one. */
export interface NewApplication {
  name: string;
  isConfidential: boolean;
  skipsConsent: boolean;
  redirectUris: readonly string[];
}

/** Records one. */
export async function insert(
  tx: Tx,
  userId: number,
  made: NewApplication & { clientId: string; secretHash: Buffer },
): Promise<ApplicationRow> {
  const row = await tx.row<ApplicationRow>`
    insert into :schema.oauth_applications
      (user_id, name, client_id, secret_hash, is_confidential, skips_consent, redirect_uris, created_at)
    values (${userId}, ${made.name}, ${made.clientId}, ${made.secretHash}, ${made.isConfidential},
      ${made.skipsConsent}, ${made.redirectUris}, ${tx.now})
    returning *`;
  if (row === undefined) throw new Error('the application was not recorded');
  return row;
}

/** Records one that nobody owns and that has no secret; nothing when it is there. */
export async function insertKnown(
  tx: Tx,
  known: { clientId: string; name: string; redirectUris: readonly string[] },
): Promise<void> {
  await tx.run`
    insert into :schema.oauth_applications (name, client_id, is_confidential, skips_consent, redirect_uris, created_at)
    values (${known.name}, ${known.clientId}, false, false, ${known.redirectUris}, ${tx.now})
    on conflict (client_id) do nothing`;
}

/** Changes one of somebody's, which gets a new secret; undefined when he has none of this id. */
export function update(
  tx: Tx,
  userId: number,
  id: number,
  edit: NewApplication & { secretHash: Buffer },
): Promise<ApplicationRow | undefined> {
  return tx.row<ApplicationRow>`
    update :schema.oauth_applications set name = ${edit.name}, secret_hash = ${edit.secretHash},
      is_confidential = ${edit.isConfidential}, skips_consent = ${edit.skipsConsent}, redirect_uris = ${edit.redirectUris}
    where id = ${id} and user_id = ${userId}
    returning *`;
}

/** One of somebody's. */
export function find(tx: Tx, userId: number, id: number): Promise<ApplicationRow | undefined> {
  return tx.row<ApplicationRow>`
    select * from :schema.oauth_applications where id = ${id} and user_id = ${userId}`;
}

/** The one that calls itself so, and its owner's name: null for those that every forge knows. */
export function findByClientId(
  tx: Tx,
  clientId: string,
): Promise<(ApplicationRow & { owner: string | null }) | undefined> {
  return tx.row<ApplicationRow & { owner: string | null }>`
    select a.*, u.login as owner from :schema.oauth_applications a left join :schema.users u on u.id = a.user_id
    where a.client_id = ${clientId}`;
}

/** Those of somebody, oldest first. */
export function listOfUser(
  tx: Tx,
  userId: number,
  page: { limit: number; offset: number },
): Promise<ApplicationRow[]> {
  return tx.rows<ApplicationRow>`
    select * from :schema.oauth_applications where user_id = ${userId}
    order by id limit ${page.limit} offset ${page.offset}`;
}

/** How many somebody has. */
export async function countOfUser(tx: Tx, userId: number): Promise<number> {
  const row = await tx.row<{
    count: number;
  }>`select count(*) from :schema.oauth_applications where user_id = ${userId}`;
  return row?.count ?? 0;
}

/** Removes one of somebody's, with all that people allowed it; false when he has none of this id. */
export async function remove(tx: Tx, userId: number, id: number): Promise<boolean> {
  return (await tx.run`delete from :schema.oauth_applications where id = ${id} and user_id = ${userId}`) > 0;
}
