import type { Tx } from '@croft/sql';

/**
 * Locks the conversation of an issue, or opens it.
 * @param reason undefined opens it
 */
export async function update(tx: Tx, issueId: number, reason: string | undefined): Promise<void> {
  await tx.run`
    update :schema.issues set locked_at = ${reason === undefined ? null : tx.now}, lock_reason = ${reason ?? ''},
      updated_at = ${tx.now}
    where id = ${issueId}`;
}
