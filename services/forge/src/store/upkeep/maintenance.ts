import type { Tx } from '@croft/sql';

/** A repository whose turn it is. */
export interface MaintenanceTurn {
  id: number;
  failures: number;
}

/**
 * The repository that changed and was left alone longest, marked as looked after. One that somebody pushes to is not
 * disturbed, and one that failed waits twice as long each time, a day at most.
 * @param quietSince changed later is changed by somebody who is not done yet
 * @param waitSeconds between two turns of one repository
 */
export function takeTurn(
  tx: Tx,
  quietSince: Date,
  waitSeconds: number,
): Promise<MaintenanceTurn | undefined> {
  return tx.row<MaintenanceTurn>`
    update :schema.repositories set maintained_at = ${tx.now} where id = (
      select id from :schema.repositories r
      where state = 'ready' and (maintained_at is null or updated_at > maintained_at or maintenance_failures > 0)
        and updated_at < ${quietSince}
        and (maintained_at is null or maintained_at + least(
          ${waitSeconds} * power(2, least(maintenance_failures, 20)), 86400) * interval '1 second' < ${tx.now})
        and not exists (select from :schema.pushes p where p.repository_id = r.id)
      order by maintained_at nulls first, id limit 1 for update skip locked)
    returning id, maintenance_failures as failures`;
}

/** Records what came of it; how large the repository is, when that is known. */
export async function endTurn(
  tx: Tx,
  id: number,
  result: { failed: boolean; bytes: number | null },
): Promise<void> {
  await tx.run`
    update :schema.repositories set size_bytes = coalesce(${result.bytes}, size_bytes),
      maintenance_failures = case when ${result.failed} then maintenance_failures + 1 else 0 end
    where id = ${id}`;
}
