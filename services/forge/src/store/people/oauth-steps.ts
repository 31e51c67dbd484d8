import type { Tx } from '@croft/sql';

/** Writes down a sign-in that waits for a code, and lets go of what has expired. */
export async function insert(tx: Tx, step: { id: string; key: Buffer; expiresAt: Date }): Promise<void> {
  await tx.run`
    with expired as (
      delete from :schema.oauth_steps where id in (
        select id from :schema.oauth_steps where expires_at < ${tx.now} for update skip locked)
    )
    insert into :schema.oauth_steps (id, key, expires_at) values (${step.id}, ${step.key}, ${step.expiresAt})`;
}

/** Uses one up: its key, for one of those who ask; undefined when it was used or has expired. */
export async function take(tx: Tx, id: string): Promise<Buffer | undefined> {
  const taken = await tx.row<{ key: Buffer; expires_at: Date }>`
    delete from :schema.oauth_steps where id = ${id} returning key, expires_at`;
  return taken !== undefined && taken.expires_at > tx.now ? taken.key : undefined;
}
