import type { Tx } from '@croft/sql';
import type { Person, SignInTokenType } from '../rows.ts';
import type { Trace } from './audit-log.ts';

/** The code and the mail of a confirmation. */
export interface Confirmation {
  /** Keyed hash of the code. */
  tokenHash: string;
  /** Payload of the outbox row. */
  mail: object;
}

/** A code that was sent, and to whom. */
export interface FoundCode extends Person {
  tokenType: SignInTokenType;
  sentAt: Date;
  wrongGuesses: number;
}

/** The code a link stands for. */
export function findByHash(
  tx: Tx,
  tokenHash: string,
  types: readonly SignInTokenType[],
): Promise<FoundCode | undefined> {
  return tx.row<FoundCode>`
    select t.token_type as "tokenType", t.created_at as "sentAt", t.wrong_guesses as "wrongGuesses",
      to_jsonb(u) as "user",
      (select coalesce(jsonb_agg(to_jsonb(i) order by i.created_at), '[]') from :schema.identities i
        where i.user_id = u.id) as identities
    from :schema.one_time_tokens t join :schema.users u on u.id = t.user_id
    where t.token_hash = ${tokenHash} and t.token_type::text = any (${types}::text[]) and u.deleted_at is null`;
}

/**
 * The code somebody typed for an address. What does not match counts as a guess at every open code of that address,
 * in the statement that compares, so that guesses made at the same moment are counted one by one.
 */
export function guess(
  tx: Tx,
  email: string,
  tokenHash: string,
  types: readonly SignInTokenType[],
  maxWrongGuesses: number,
): Promise<FoundCode | undefined> {
  return tx.row<FoundCode>`
    with tried as (
      update :schema.one_time_tokens t set
        wrong_guesses = t.wrong_guesses + case when t.token_hash = ${tokenHash} then 0 else 1 end
      from :schema.users u
      where u.email = ${email} and u.is_sso_user = false and u.deleted_at is null and t.user_id = u.id
        and t.token_type::text = any (${types}::text[]) and t.wrong_guesses < ${maxWrongGuesses}
      returning t.token_hash, t.token_type, t.created_at, t.wrong_guesses, t.user_id)
    select t.token_type as "tokenType", t.created_at as "sentAt", t.wrong_guesses as "wrongGuesses",
      to_jsonb(u) as "user",
      (select coalesce(jsonb_agg(to_jsonb(i) order by i.created_at), '[]') from :schema.identities i
        where i.user_id = u.id) as identities
    from tried t join :schema.users u on u.id = t.user_id
    where t.token_hash = ${tokenHash}`;
}

/**
 * Gives an unconfirmed user a new code in place of the old one, and the row of its mail, unless a sign-up was
 * answered after `notAfter`.
 * @returns false then: nothing was written, and wrong guesses at the old code count on
 */
export async function replaceConfirmation(
  tx: Tx,
  userId: string,
  notAfter: Date | undefined,
  confirmation: Confirmation,
  trace: Trace,
): Promise<boolean> {
  const now = tx.now;
  const written = await tx.run`
    with person as (
      update :schema.users set confirmation_sent_at = ${now}, updated_at = ${now}, signup_answered_at = ${now}
      where id = ${userId}::uuid and (${notAfter}::timestamptz is null or signup_answered_at is null
        or signup_answered_at <= ${notAfter})
      returning id, email),
    code as (
      insert into :schema.one_time_tokens (user_id, token_type, token_hash, relates_to, created_at, updated_at)
      select id, 'confirmation_token', ${confirmation.tokenHash}, email, ${now}, ${now} from person
      on conflict (user_id, token_type) do update set token_hash = excluded.token_hash, wrong_guesses = 0,
        relates_to = excluded.relates_to, created_at = excluded.created_at, updated_at = excluded.updated_at),
    mail as (
      insert into :schema.outbox (topic, payload, created_at, run_at)
      select 'mail', ${JSON.stringify(confirmation.mail)}::jsonb, ${now}, ${now} from person
      returning pg_notify('croft_outbox', ''))
    insert into :schema.audit_log_entries (payload, ip_address, created_at)
    select entry, coalesce(${trace.ip}::text, ''), ${now}
    from person, json_array_elements(${JSON.stringify(trace.audit)}::json) entry`;
  return written > 0;
}
