import type { Tx } from '@croft/sql';
import type { Person } from '../rows.ts';

/** What is known of a message that was signed, and of whoever did. */
export interface SpentMessage {
  /** False when the message had signed somebody in before, or tried to. */
  isFresh: boolean;
  /** Whose identity the wallet is. */
  person: Person | undefined;
}

/** Uses a message up, of several requests with it for one alone, and looks who has the wallet: one statement for both. */
export async function spend(
  tx: Tx,
  message: { hash: Buffer; expiresAt: Date; provider: string; subject: string },
): Promise<SpentMessage> {
  const row = await tx.row<{ isFresh: boolean } & { [Member in keyof Person]: Person[Member] | null }>`
    with spent as (
      insert into :schema.web3_messages (message_hash, expires_at) values (${message.hash}, ${message.expiresAt})
      on conflict do nothing
      returning message_hash),
    known as (
      select u.* from :schema.identities i join :schema.users u on u.id = i.user_id
      where i.provider = ${message.provider} and i.provider_id = ${message.subject} and u.deleted_at is null)
    select exists (select from spent) as "isFresh", (select to_jsonb(known) from known) as "user",
      (select coalesce(jsonb_agg(to_jsonb(i) order by i.created_at, i.provider), '[]') from :schema.identities i
        join known on known.id = i.user_id) as identities`;
  const { isFresh = false, user = null, identities } = row ?? {};
  return { isFresh, person: user === null ? undefined : { user, identities: identities ?? [] } };
}

/** Messages that are too old to be taken anyway. */
export function deleteExpired(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.web3_messages where message_hash = any(array(
      select message_hash from :schema.web3_messages where expires_at < ${before}
      order by expires_at limit ${most} for update skip locked))`;
}
