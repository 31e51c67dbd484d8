import type { Tx } from '@croft/sql';

/** What is asked of one bucket. */
export interface Asked {
  key: Buffer;
  /** Tokens that are gone whatever is left; negative gives back. */
  spent: number;
  /** Tokens to take as far as they are there. */
  wanted: number;
  burst: number;
  perMs: number;
}

/** What came of it. */
export interface Taken {
  granted: number;
  /** What is left; below 1 there is none to take, below 0 more was spent than there was. */
  tokens: number;
}

type TakenOf = Taken & { key: Buffer };

/**
 * Takes from the buckets that exist, each refilled for the time since it was last looked at. Rows are locked in the
 * order of their keys, so that two processes never wait for each other.
 */
export function take(tx: Tx, asked: readonly Asked[]): Promise<TakenOf[]> {
  const { keys, spent, wanted, bursts, perMs } = columns(asked);
  return tx.rows<TakenOf>`
    with asked as (
      select * from unnest(${keys}::bytea[], ${spent}::float8[], ${wanted}::float8[], ${bursts}::float8[],
        ${perMs}::float8[]) as a (key, spent, wanted, burst, per_ms)),
    held as (
      select r.key, r.tokens, r.refilled_at from :schema.rate_limits r join asked a on a.key = r.key
      where r.key = any(${keys}::bytea[]) order by r.key for update of r),
    level as (
      select a.key, a.wanted, greatest(h.refilled_at, ${tx.now}::timestamptz) as refilled_at,
        least(a.burst, least(a.burst, h.tokens + a.per_ms * greatest(0,
          extract(epoch from ${tx.now}::timestamptz - h.refilled_at)::float8 * 1000)) - a.spent) as tokens
      from asked a join held h on h.key = a.key),
    granted as (select *, greatest(0, least(wanted, floor(tokens + 1e-6))) as granted from level)
    update :schema.rate_limits r set tokens = g.tokens - g.granted, refilled_at = g.refilled_at
    from granted g where r.key = g.key
    returning r.key, g.granted, r.tokens`;
}

/** Makes full buckets and takes from them; those that exist by now are left out of the answer. */
export async function insert(tx: Tx, asked: readonly Asked[]): Promise<TakenOf[]> {
  const { keys, spent, wanted, bursts } = columns(asked);
  return await tx.rows<TakenOf>`
    with asked as (
      select key, wanted, least(burst, burst - spent) as tokens
      from unnest(${keys}::bytea[], ${spent}::float8[], ${wanted}::float8[], ${bursts}::float8[])
        as a (key, spent, wanted, burst)),
    granted as (select *, greatest(0, least(wanted, floor(tokens + 1e-6))) as granted from asked),
    made as (
      insert into :schema.rate_limits (key, tokens, refilled_at)
      select key, tokens - granted, ${tx.now} from granted order by key
      on conflict (key) do nothing
      returning key, tokens)
    select m.key, g.granted, m.tokens from made m join granted g on g.key = m.key`;
}

/**
 * Deletes some of the buckets nobody has taken from since, chosen once (see `expired-rows.ts`).
 * @returns how many
 */
export function deleteIdle(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.rate_limits where key = any(array(
      select key from :schema.rate_limits where refilled_at < ${before} limit ${most} for update skip locked))`;
}

function columns(asked: readonly Asked[]) {
  return {
    keys: asked.map(({ key }) => key),
    spent: asked.map(({ spent }) => spent),
    wanted: asked.map(({ wanted }) => wanted),
    bursts: asked.map(({ burst }) => burst),
    perMs: asked.map(({ perMs }) => perMs),
  };
}
