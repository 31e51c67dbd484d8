import type { Tx } from '@croft/sql';

/** Asks the server for an answer, whatever it be. */
export async function ping(tx: Tx): Promise<void> {
  await tx.run`select 1`;
}
