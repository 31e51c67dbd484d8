import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, Context } from '../context.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { timeText } from '../rules/machines/machine-text.ts';
import { sizeText } from '../rules/machines/sizes.ts';

/** Status answers within a second, also when the disk does not. */
const STORAGE_WAIT_MS = 700;
const DIRECTORY_WAIT_MS = 200;

/** Tells how the daemon is; never writes and never waits for a writer. */
export async function showStatus(call: Call, context: Context): Promise<void> {
  const { model } = context.index;
  const machine = currentMachine(model);
  const up = performance.now() - context.startedMs;
  const states = model.states.filter((state) => state.machine === machine.id).length;
  const storage = await Promise.race([
    storageHealth(context),
    sleep(STORAGE_WAIT_MS, 'does not answer', { ref: false }),
  ]);
  call.info(`croft state ${context.version}, up ${Math.floor(up / 1000)} s`);
  call.info(`storage: ${context.storage.driver} at ${context.storage.location}: ${storage}`);
  call.info(`machine: ${machine.id} (${machine.managed ? 'managed' : 'not managed'}), states: ${states}`);
  const turns = context.turns.list();
  if (turns.length === 0) call.info('writers: none');
  for (const { key, running, waiting } of turns) {
    call.info(`writers: ${running} on ${key}, waiting: ${waiting}`);
  }
  for (const { setting, address } of context.late.waiting)
    call.info(`not open yet: ${address} (${setting}), which this machine does not have`);
  const errors = context.errors.list();
  // What went wrong may name a file in a home.
  if (errors.length > 0 && !(await isAdministratorSoon(call))) {
    call.info(`errors: ${errors.length}, which administrators are told`);
    return;
  }
  for (const { at, operation, message } of errors) {
    call.info(`error: ${timeText(at.toISOString())} ${operation}: ${message}`);
  }
}

/** A directory of users that does not answer must not keep anybody from the rest. */
async function isAdministratorSoon(call: Call): Promise<boolean> {
  const late = sleep(DIRECTORY_WAIT_MS, false, { ref: false });
  return Promise.race([call.isAdministrator().catch(() => false), late]);
}

async function storageHealth({ storage }: Context): Promise<string> {
  const trouble = await storage.trouble();
  if (trouble !== undefined) return `in trouble: ${trouble}`;
  const pools = await storage.space();
  return `healthy, ${pools.map((pool) => `${sizeText(pool.free)} of ${sizeText(pool.size)} free`).join(', ')}`;
}
