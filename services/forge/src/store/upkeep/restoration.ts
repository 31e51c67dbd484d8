import type { Tx } from '@croft/sql';

/** A repository whose folder is not in the backup: the next start removes its row. */
export async function markGone(tx: Tx, id: number): Promise<void> {
  await tx.run`update :schema.repositories set state = 'removing' where id = ${id}`;
}

/** Refs are ahead of the rows: the next start takes that over as it does with an interrupted push. */
export async function announceMoves(
  tx: Tx,
  repositoryId: number,
  moves: readonly { ref: string; before: string; after: string }[],
): Promise<void> {
  await tx.run`
    insert into :schema.pushes (repository_id, details, started_at)
    values (${repositoryId}, ${JSON.stringify({ moves })}::jsonb, ${tx.now})`;
}

/** Takes everything back that a failed restore made. */
export async function dropSchema(tx: Tx): Promise<void> {
  await tx.run`drop schema if exists :schema cascade`;
}
