import type { Tx } from '@croft/sql';

/** Asks the server for nothing, to see whether it answers. */
export async function ping(tx: Tx): Promise<void> {
  await tx.run`select 1`;
}
