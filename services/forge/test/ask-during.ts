import { silentLog } from '@croft/runtime';
import { openDatabase, type Tx } from '@croft/sql';
import { expect } from 'vitest';
import type { Reply, Scene } from './forge.ts';

/** Asks for something while a row is being deleted: the request has seen it, and must wait for what becomes of it. */
export async function askDuring(
  scene: Scene,
  remove: (tx: Tx) => Promise<unknown>,
  ask: () => Promise<Reply>,
): Promise<Reply> {
  const database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  const waiting = () =>
    scene.sql
      .rows`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const [isGone, isAsked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  try {
    const removal = database.transaction(async (tx) => {
      await remove(tx);
      isGone.resolve();
      await isAsked.promise;
    });
    await isGone.promise;
    const answer = ask();
    await expect
      .poll(waiting)
      .not.toEqual([])
      .finally(() => isAsked.resolve());
    await removal;
    return await answer;
  } finally {
    await database.close();
  }
}
