import type { Tx } from '@croft/sql';

/** The pinned issues or pull requests of a repository, of which the first is shown first. */
export interface PinBoard {
  repositoryId: number;
  isPull: boolean;
}

/**
 * Holds the pins of a repository until the transaction ends, and an issue with them, each in the order of the ids.
 * @returns the ids of the pinned in their order; undefined when the issue is gone
 */
export async function hold(tx: Tx, board: PinBoard, issueId: number): Promise<number[] | undefined> {
  await tx.run`select pg_advisory_xact_lock(hashtextextended('croft pins ' || ${board.repositoryId}::text, 0))`;
  const rows = await tx.rows<{ id: number; pin_order: number }>`
    select id, pin_order from :schema.issues
    where repository_id = ${board.repositoryId} and is_pull = ${board.isPull} and (pin_order > 0 or id = ${issueId})
    order by id for no key update`;
  if (!rows.some(({ id }) => id === issueId)) return undefined;
  return rows
    .filter((row) => row.pin_order > 0)
    .sort((a, b) => a.pin_order - b.pin_order)
    .map(({ id }) => id);
}

/** How many are pinned. */
export async function count(tx: Tx, { repositoryId, isPull }: PinBoard): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.issues
    where repository_id = ${repositoryId} and is_pull = ${isPull} and pin_order > 0`;
  return row?.count ?? 0;
}

/** Writes the order of the pinned; who is not among them is not pinned. */
export async function arrange(
  tx: Tx,
  { repositoryId, isPull }: PinBoard,
  ids: readonly number[],
): Promise<void> {
  await tx.run`
    update :schema.issues i set pin_order = coalesce(array_position(${ids}::bigint[], i.id), 0)
    where i.repository_id = ${repositoryId} and i.is_pull = ${isPull}
      and (i.pin_order > 0 or i.id = any(${ids}::bigint[]))
      and i.pin_order <> coalesce(array_position(${ids}::bigint[], i.id), 0)`;
}

/** The numbers of the pinned, in their order. */
export async function listNumbers(tx: Tx, { repositoryId, isPull }: PinBoard): Promise<number[]> {
  const rows = await tx.rows<{ number: number }>`
    select number from :schema.issues
    where repository_id = ${repositoryId} and is_pull = ${isPull} and pin_order > 0 order by pin_order, id`;
  return rows.map((row) => row.number);
}
