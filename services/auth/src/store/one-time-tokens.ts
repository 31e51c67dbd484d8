import { enqueued, fragment, type Tx } from '@croft/sql';
import type { CodeChallenge, Person, TokenType } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { identitiesOf } from './identities-of.ts';
import { type SendLimit, sendOnce } from './send-limits.ts';

/** A code as it is stored, and the outbox row that brings it. */
export interface StoredCode {
  tokenType: TokenType;
  /** The address or number it was sent to. */
  relatesTo: string;
  /** Keyed hash of the code. */
  tokenHash: string;
  /** Keyed hash of the link's token; null for codes that come without a link. */
  linkHash: string | null;
  expiresAt: Date;
  /** What the verifier of whoever asked has to fit before the link signs in. */
  challenge?: CodeChallenge | undefined;
  effect: { topic: 'mail' | 'sms'; payload: object } | undefined;
  /**
   * Password hash and metadata of the sign-up that asked for this code. Once it is proven they take the place of what
   * an unproven account had; with metadata alone the account has no password then. The hash is the account's own where
   * the password is: any other is another password, and from then on no code that is sent again brings one.
   */
  pendingPassword?: string;
  pendingData?: object;
}

/** Which column of the user tells when something was sent. */
export type SentAtColumn =
  | 'confirmation_sent_at'
  | 'recovery_sent_at'
  | 'invited_at'
  | 'email_change_sent_at'
  | 'phone_change_sent_at'
  | 'reauthentication_sent_at';

/** Codes to be sent. */
export interface Sending {
  /** Undefined for an address nobody has: the limit is noted then, and nothing else. */
  userId: string | undefined;
  limit: SendLimit | undefined;
  codes: readonly StoredCode[];
  sentAt: readonly SentAtColumn[];
  /** The address that is to take the place of the present one. */
  emailChange?: string;
  trace: Trace;
}

/** What became of it. */
export interface Sent {
  /** False when the limit forbade it: nothing was written then. */
  allowed: boolean;
  /** When something was sent last, before this. */
  lastSentAt: Date | null;
  /** The user as it is now. */
  person: Person | undefined;
}

/** The codes and their outbox rows as one JSON value; statements unfold it. */
export function codesJson(codes: readonly StoredCode[]): string {
  return JSON.stringify(
    codes.map((code) => ({
      token_type: code.tokenType,
      relates_to: code.relatesTo,
      token_hash: code.tokenHash,
      link_hash: code.linkHash,
      expires_at: code.expiresAt,
      pending_password: code.pendingPassword ?? null,
      pending_data: code.pendingData ?? null,
      code_challenge: code.challenge?.challenge ?? null,
      code_challenge_method: code.challenge?.method ?? null,
      topic: code.effect?.topic ?? null,
      payload: code.effect?.payload ?? null,
    })),
  );
}

/**
 * Gives a user new codes in place of those of the same type, and the rows of what brings them. Wrong guesses start
 * anew. What a sign-up left pending with the old code stays if nobody signed the address up with another password;
 * else nobody can tell whose it is, and the code proves the address alone.
 */
export async function send(tx: Tx, sending: Sending): Promise<Sent> {
  const { userId, limit, codes, sentAt, trace } = sending;
  const now = tx.now;
  const row = await tx.row<Sent & Partial<Person>>`
    with ${sendOnce(limit, now)},
    person as (
      update :schema.users set updated_at = ${now},
        confirmation_sent_at = case when 'confirmation_sent_at' = any (${sentAt}::text[]) then ${now} else confirmation_sent_at end,
        recovery_sent_at = case when 'recovery_sent_at' = any (${sentAt}::text[]) then ${now} else recovery_sent_at end,
        invited_at = case when 'invited_at' = any (${sentAt}::text[]) then ${now} else invited_at end,
        email_change_sent_at = case when 'email_change_sent_at' = any (${sentAt}::text[]) then ${now} else email_change_sent_at end,
        phone_change_sent_at = case when 'phone_change_sent_at' = any (${sentAt}::text[]) then ${now} else phone_change_sent_at end,
        reauthentication_sent_at = case when 'reauthentication_sent_at' = any (${sentAt}::text[]) then ${now} else reauthentication_sent_at end,
        email_change = coalesce(${sending.emailChange}, email_change),
        email_change_begun_at = case when ${sending.emailChange}::text is null then email_change_begun_at else ${now} end,
        email_change_confirm_status = case when ${sending.emailChange}::text is null then email_change_confirm_status else 0 end
      where id = ${userId}::uuid and deleted_at is null and exists (select from allowed)
      returning *),
    wanted as (
      select c.* from person, jsonb_to_recordset(${codesJson(codes)}::jsonb) as c (token_type text, relates_to text,
        token_hash text, link_hash text, expires_at timestamptz, pending_password text, pending_data jsonb,
        code_challenge text, code_challenge_method text, topic text, payload jsonb)),
    code as (
      insert into :schema.one_time_tokens as t (user_id, token_type, relates_to, token_hash, link_hash, expires_at,
        pending_password, pending_data, is_contested, code_challenge, code_challenge_method, created_at, updated_at)
      select person.id, w.token_type, w.relates_to, w.token_hash, w.link_hash, w.expires_at, w.pending_password,
        w.pending_data, w.pending_data is not null and w.pending_password is distinct from person.encrypted_password,
        w.code_challenge, w.code_challenge_method, ${now}, ${now} from person, wanted w
      on conflict (user_id, token_type) do update set token_hash = excluded.token_hash, link_hash = excluded.link_hash,
        relates_to = excluded.relates_to, expires_at = excluded.expires_at, wrong_guesses = 0,
        pending_password = case when excluded.pending_data is not null then excluded.pending_password
          when not t.is_contested then t.pending_password end,
        pending_data = case when excluded.pending_data is not null then excluded.pending_data
          when t.is_contested and t.pending_data is not null then '{"email_verified": false, "phone_verified": false}'
          else t.pending_data end,
        is_contested = t.is_contested or excluded.is_contested,
        code_challenge = excluded.code_challenge, code_challenge_method = excluded.code_challenge_method,
        created_at = excluded.created_at, updated_at = excluded.updated_at),
    effect as (
      ${enqueued(now, fragment`select topic, payload, '' from wanted where topic is not null`)}),
    audit as (${audited(trace, now, fragment`person`)})
    select exists (select from allowed) as allowed,
      (select sent_at from :schema.send_limits where key = ${limit?.key}::bytea) as "lastSentAt",
      (select to_jsonb(person) from person) as "user",
      ${identitiesOf(fragment`${userId}::uuid`)} as identities,
      -- What nothing reads would not be carried out in this order, but it is carried out.
      (select count(*) from effect) as effects,
      -- For nobody, only an unlogged table is written, and the commit would not wait for the disk: time would tell.
      case when not exists (select from person) then pg_logical_emit_message(true, 'croft', '') end as logged`;
  const { allowed = false, lastSentAt = null, user, identities = [] } = row ?? {};
  return { allowed, lastSentAt, person: user ? { user, identities } : undefined };
}

/** Notes that something would have been sent, and records why nothing was. */
export async function pretend(tx: Tx, limit: SendLimit | undefined, trace: Trace): Promise<Sent> {
  const row = await tx.row<Omit<Sent, 'person'>>`
    with ${sendOnce(limit, tx.now)},
    audit as (${audited(trace, tx.now, fragment`allowed`)})
    select exists (select from allowed) as allowed,
      (select sent_at from :schema.send_limits where key = ${limit?.key}::bytea) as "lastSentAt"`;
  return { allowed: row?.allowed ?? false, lastSentAt: row?.lastSentAt ?? null, person: undefined };
}

/** A code that was sent, and to whom. */
export interface FoundCode extends Person {
  tokenType: TokenType;
  /** The keyed hash, by which it is consumed. */
  tokenHash: string;
  relatesTo: string;
  expiresAt: Date;
  /** Of a link that only whoever asked for it can use. */
  challenge?: CodeChallenge | null;
  /** Whether the account has no password any more once this is proven, as far as it was not proven before. */
  dropsPassword?: boolean;
}

/** The code a link stands for. */
export function findByLink(
  tx: Tx,
  linkHash: string,
  types: readonly TokenType[],
): Promise<FoundCode | undefined> {
  return tx.row<FoundCode>`
    select t.token_type as "tokenType", t.token_hash as "tokenHash", t.relates_to as "relatesTo",
      t.expires_at as "expiresAt", to_jsonb(u) as "user",
      case when t.code_challenge is not null
        then jsonb_build_object('challenge', t.code_challenge, 'method', t.code_challenge_method) end as challenge,
      t.pending_data is not null and t.pending_password is null as "dropsPassword",
      ${identitiesOf(fragment`u.id`)} as identities
    from :schema.one_time_tokens t join :schema.users u on u.id = t.user_id
    where t.link_hash = ${linkHash} and t.token_type = any (${types}::text[]) and u.deleted_at is null`;
}

/**
 * The code somebody typed for an address or number. What does not match counts as a guess at every open code of it, in
 * the statement that compares, so that guesses made at the same moment are counted one by one.
 */
export function guess(
  tx: Tx,
  address: string,
  tokenHash: string,
  types: readonly TokenType[],
  maxWrongGuesses: number,
): Promise<FoundCode | undefined> {
  return tx.row<FoundCode>`
    with tried as (
      update :schema.one_time_tokens t set
        wrong_guesses = t.wrong_guesses + case when t.token_hash = ${tokenHash} then 0 else 1 end
      from :schema.users u
      where t.relates_to = ${address} and t.token_type = any (${types}::text[])
        and t.wrong_guesses < ${maxWrongGuesses} and u.id = t.user_id and u.deleted_at is null
      returning t.token_hash, t.token_type, t.relates_to, t.expires_at, t.user_id, t.pending_data, t.pending_password, t.created_at),
    -- Where nothing is counted, as for addresses nobody has, the answer would not wait for the disk: time would tell.
    logged as (select pg_logical_emit_message(true, 'croft', '') where not exists (select from tried))
    select t.token_type as "tokenType", t.token_hash as "tokenHash", t.relates_to as "relatesTo",
      t.expires_at as "expiresAt", to_jsonb(u) as "user",
      t.pending_data is not null and t.pending_password is null as "dropsPassword",
      ${identitiesOf(fragment`u.id`)} as identities
    from tried t join :schema.users u on u.id = t.user_id
    where t.token_hash = ${tokenHash} and (select count(*) from logged) >= 0
    order by t.created_at desc, t.token_type limit 1`;
}
