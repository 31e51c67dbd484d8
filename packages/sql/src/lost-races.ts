import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Whether PostgreSQL gave the work up for others that met it: a deadlock or a failed serialization. */
function isLostRace(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40P01' || error.code === '40001');
}

/** Waits until those it was given up for have what they waited for; who comes back at once would take it again. */
async function letOthersPass(): Promise<void> {
  await sleep(10 + Math.random() * 40);
}

/**
 * Runs a unit of work, and once more when it was given up for others: nothing of it was done. Lock orders are made so
 * that this does not happen; what nobody thought of is no error of the server yet.
 */
export async function onceMore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isLostRace(error)) throw error;
    await letOthersPass();
    return await work();
  }
}
