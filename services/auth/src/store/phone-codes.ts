import { fragment, type Tx } from '@croft/sql';
import type { Person, TokenType } from '../rows.ts';
import { identitiesOf } from './identities-of.ts';
import type { FoundCode } from './one-time-tokens.ts';

/** Who has a number, and what was last sent there. */
export interface Waiting extends Person {
  /** Type of the newest code of the account that was sent to a phone to sign in; null when there is none. */
  lastType: TokenType | null;
}

/** The living user of a number, and the kind of code that went there last. */
export function findWaiting(tx: Tx, phone: string): Promise<Waiting | undefined> {
  return tx.row<Waiting>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities,
      (select t.token_type from :schema.one_time_tokens t where t.user_id = u.id and t.relates_to = ${phone}
        and t.token_type in ('phone_token', 'confirmation_token') order by t.created_at desc, t.token_type limit 1) as "lastType"
    from :schema.users u
    where u.phone = ${phone} and u.deleted_at is null`;
}

/**
 * Counts an attempt at every open code of a number, before somebody else says whether it was right: attempts made at
 * the same moment are counted one by one, and none is free.
 * @returns the codes, newest first, of all users who wait for one at that number
 */
export function takeAttempt(
  tx: Tx,
  phone: string,
  types: readonly TokenType[],
  maxAttempts: number,
): Promise<FoundCode[]> {
  return tx.rows<FoundCode>`
    with tried as (
      update :schema.one_time_tokens t set wrong_guesses = t.wrong_guesses + 1
      from :schema.users u
      where t.relates_to = ${phone} and t.token_type = any (${types}::text[]) and t.expires_at > ${tx.now}
        and t.wrong_guesses < ${maxAttempts} and u.id = t.user_id and u.deleted_at is null
      returning t.token_hash, t.token_type, t.relates_to, t.expires_at, t.created_at, t.user_id)
    select t.token_type as "tokenType", t.token_hash as "tokenHash", t.relates_to as "relatesTo",
      t.expires_at as "expiresAt", to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities
    from tried t join :schema.users u on u.id = t.user_id
    order by t.created_at desc, t.token_type`;
}
