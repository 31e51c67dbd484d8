import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A request that must not be done twice, and what was answered. */
export type IdempotencyKeyRow = Tables['idempotency_keys'];

/** So long a key stands for its request. */
const KEPT_SECONDS = 24 * 60 * 60;

/** Whose key it is. */
export interface KeyId {
  userId: number;
  key: string;
}

/** Takes a key for a request; false when it is taken. */
export async function begin(
  tx: Tx,
  { userId, key, requestHash }: KeyId & { requestHash: Buffer },
): Promise<boolean> {
  const taken = await tx.run`
    insert into :schema.idempotency_keys as k (user_id, key, request_hash, created_at)
    values (${userId}, ${key}, ${requestHash}, ${tx.now})
    on conflict (user_id, key) do update
      set request_hash = excluded.request_hash, status = null, answer = null, created_at = excluded.created_at
      where k.created_at < excluded.created_at - ${KEPT_SECONDS} * interval '1 second'`;
  return taken > 0;
}

/** What is known of a key. */
export function find(tx: Tx, { userId, key }: KeyId): Promise<IdempotencyKeyRow | undefined> {
  return tx.row<IdempotencyKeyRow>`
    select * from :schema.idempotency_keys where user_id = ${userId} and key = ${key}`;
}

/** Keeps what was answered. */
export async function finish(
  tx: Tx,
  { userId, key }: KeyId,
  { status, answer }: { status: number; answer: string },
): Promise<void> {
  await tx.run`
    update :schema.idempotency_keys set status = ${status}, answer = ${answer}
    where user_id = ${userId} and key = ${key}`;
}

/** Gives a key back. */
export async function remove(tx: Tx, { userId, key }: KeyId): Promise<void> {
  await tx.run`delete from :schema.idempotency_keys where user_id = ${userId} and key = ${key}`;
}

/** Forgets keys whose time is over, some at once. */
export async function sweep(tx: Tx): Promise<number> {
  return await tx.run`
    delete from :schema.idempotency_keys where (user_id, key) in (
      select user_id, key from :schema.idempotency_keys
      where created_at < ${tx.now}::timestamptz - ${KEPT_SECONDS} * interval '1 second'
      order by created_at limit 1000)`;
}
