import type { Tx } from '@croft/sql';

/**
 * Deletes some of the notes of what was sent before; none of them can refuse anything any more.
 * @returns how many
 */
export function deleteOld(tx: Tx, before: Date, most: number): Promise<number> {
  return tx.run`
    delete from :schema.send_limits where key = any(array(
      select key from :schema.send_limits where sent_at < ${before} limit ${most} for update skip locked))`;
}
