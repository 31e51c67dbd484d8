import { type Fragment, fragment, type Tx } from '@croft/sql';

/** How often something may be sent to an address. */
export interface SendLimit {
  /** Keyed hash of purpose and address. */
  key: Buffer;
  /** The last time after which there can be another one now. */
  notAfter: Date;
}

/**
 * In the `with` of a statement: notes that something is sent, so that of several at once one goes through. `allowed` has a
 * row if it may be; without a limit it may.
 */
export function sendOnce(limit: SendLimit | undefined, now: Date): Fragment {
  return fragment`noted as (
      insert into :schema.send_limits (key, sent_at) select ${limit?.key}::bytea, ${now}
      where ${limit?.key}::bytea is not null
      on conflict (key) do update set sent_at = excluded.sent_at where send_limits.sent_at <= ${limit?.notAfter}
      returning key),
    allowed as (select where ${limit?.key}::bytea is null or exists (select from noted))`;
}

/** The same for several things at once, all or none: `early` has the `place` and `sent_at` of the one with the longest wait. */
export function sendAllOnce(limits: readonly SendLimit[], now: Date): Fragment {
  const keys = limits.map(({ key }) => key);
  const notAfters = limits.map(({ notAfter }) => notAfter);
  return fragment`asked as (
      select * from unnest(${keys}::bytea[], ${notAfters}::timestamptz[]) with ordinality as l (key, not_after, place)),
    early as (
      select asked.place, s.sent_at from asked join :schema.send_limits s on s.key = asked.key
      where s.sent_at > asked.not_after order by s.sent_at - asked.not_after desc limit 1),
    noted as (
      insert into :schema.send_limits (key, sent_at)
      select key, ${now} from asked where not exists (select from early) order by key
      on conflict (key) do update set sent_at = excluded.sent_at
        where send_limits.sent_at <= (select not_after from asked where asked.key = send_limits.key)
      returning key),
    allowed as (select where (select count(*) from noted) = ${limits.length})`;
}

/**
 * Deletes some of the notes of what was sent before; none of them can refuse anything any more.
 * @returns how many
 */
export function deleteOld(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.send_limits where key = any(array(
      select key from :schema.send_limits where sent_at < ${before} limit ${most} for update skip locked))`;
}
