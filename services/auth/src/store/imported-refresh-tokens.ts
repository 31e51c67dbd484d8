import type { Tx } from '@croft/sql';

/** The session a refresh token of another service belongs to. */
export async function findSession(tx: Tx, tokenHash: Buffer): Promise<string | undefined> {
  const row = await tx.row<{ sessionId: string }>`
    select session_id as "sessionId" from :schema.imported_refresh_tokens where token_hash = ${tokenHash}`;
  return row?.sessionId;
}

/** Whether there are any. */
export async function exist(tx: Tx): Promise<boolean> {
  const row = await tx.row<{ some: boolean }>`
    select exists (select from :schema.imported_refresh_tokens) as some`;
  return row?.some === true;
}

/** A token to be taken over. */
export interface GivenToken {
  /** In hexadecimal. */
  token_hash: string;
  session_id: string;
  position: number;
  is_live: boolean;
}

/** How many tokens were noted, and how many had been before. */
export interface Noted {
  made: number;
  known: number;
}

/** Notes tokens of sessions that nobody refreshed here yet, anew those that were noted. */
export async function note(tx: Tx, given: readonly GivenToken[]): Promise<Noted> {
  const row = await tx.row<Noted>`
    with noted as (
      insert into :schema.imported_refresh_tokens as i (token_hash, session_id, position, is_live)
      select distinct on (g.token_hash) decode(g.token_hash, 'hex'), g.session_id, g.position, g.is_live
      from json_to_recordset(${JSON.stringify(given)}::json)
        as g (token_hash text, session_id uuid, position bigint, is_live boolean)
      join :schema.refresh_tokens t on t.session_id = g.session_id and t.counter = -1
      order by g.token_hash, g.position desc
      on conflict (token_hash) do update set position = excluded.position, is_live = excluded.is_live
        where i.session_id = excluded.session_id
      -- Only of a row that was there is there an earlier version.
      returning xmax = 0 as is_new)
    select count(*) filter (where is_new) as made, count(*) filter (where not is_new) as known from noted`;
  return row ?? { made: 0, known: 0 };
}

/** What `note` would find: tokens that were noted before, all others being new. */
export async function countKnown(tx: Tx, given: readonly GivenToken[]): Promise<Noted> {
  const row = await tx.row<{ known: number }>`
    select count(*) as known from :schema.imported_refresh_tokens
    where token_hash = any (${given.map(({ token_hash: hex }) => Buffer.from(hex, 'hex'))}::bytea[])`;
  const { known = 0 } = row ?? {};
  return { made: given.length - known, known };
}

/**
 * Makes the last live token of each session the active one of its family; sessions without one are over. Goes through the
 * sessions in the order of their ids, for an index of those that wait would make every refresh dearer.
 * @param after where the batch before ended
 * @param most sessions of a batch, imported or not
 * @returns the last session of this batch, undefined when there was none
 */
export async function settle(tx: Tx, after: string, most: number): Promise<string | undefined> {
  const row = await tx.row<{ last: string | null }>`
    with batch as materialized (
      select session_id from :schema.refresh_tokens where session_id > ${after}::uuid
      order by session_id limit ${most}),
    waiting as materialized (
      select t.session_id from :schema.refresh_tokens t join batch b on b.session_id = t.session_id
      where t.counter = -1 for update of t),
    live as (
      select distinct on (i.session_id) i.session_id, i.token_hash
      from :schema.imported_refresh_tokens i join waiting w on w.session_id = i.session_id
      where i.is_live order by i.session_id, i.position desc),
    -- Other live ones are neither of use nor a sign of theft.
    others as (
      delete from :schema.imported_refresh_tokens i using live
      where i.session_id = live.session_id and i.is_live and i.token_hash <> live.token_hash),
    settled as (
      update :schema.refresh_tokens t set token_hash = live.token_hash from live where t.session_id = live.session_id),
    over as (
      update :schema.refresh_tokens t set revoked_at = ${tx.now} from waiting w
      where t.session_id = w.session_id and t.revoked_at is null
        and not exists (select from live where live.session_id = t.session_id))
    select (select session_id from batch order by session_id desc limit 1) as last`;
  return row?.last ?? undefined;
}
