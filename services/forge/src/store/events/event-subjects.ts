import type { Tx } from '@croft/sql';

/** Where the issue is that an event happened to; undefined when it is gone. */
export function findIssuePlace(
  tx: Tx,
  issueId: number,
): Promise<{ repository_id: number; number: number } | undefined> {
  return tx.row<{ repository_id: number; number: number }>`
    select repository_id, number from :schema.issues where id = ${issueId}`;
}
