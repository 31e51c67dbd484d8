import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, Context } from '../context.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { timeText } from '../rules/machines/machine-text.ts';
import { sizeText } from '../rules/machines/sizes.ts';

/** Status answers within a second, also when the disk does not. */
const STORAGE_WAIT_MS = 700;
const DIRECTORY_WAIT_MS = 200;
/** Of an error's message, so that a line of JSON is never cut. */
const MAX_MESSAGE = 1000;

/** How the storage is: what is wrong with it, or how much room there is. */
type Health =
  | { readonly trouble: string }
  | { readonly trouble: null; readonly pools: readonly { name: string; free: number; size: number }[] };

/** Tells how the daemon is; never writes and never waits for a writer. */
export async function showStatus(call: Call, context: Context): Promise<void> {
  const status = await readStatus(call, context);
  if (call.wantsJson) call.info(JSON.stringify(status, null, 2));
  else for (const line of statusLines(status)) call.info(line);
}

type Status = Awaited<ReturnType<typeof readStatus>>;

/** As programs have it; `docs/api/state.md` says what is in it. */
async function readStatus(call: Call, { index, ...context }: Context) {
  const { id, managed } = currentMachine(index.model);
  const health = await Promise.race([
    healthOf(context),
    sleep(STORAGE_WAIT_MS, { trouble: 'it does not answer' }, { ref: false }),
  ]);
  const errors = context.errors.list();
  // What went wrong may name a file in a home.
  const isTold = errors.length === 0 || (await isAdministratorSoon(call));
  return {
    version: context.version,
    upSeconds: Math.floor((performance.now() - context.startedMs) / 1000),
    storage: { driver: context.storage.driver, location: context.storage.location, ...health },
    machine: { id, managed, states: index.model.states.filter(({ machine }) => machine === id).length },
    writers: context.turns.list(),
    notOpenYet: context.late.waiting,
    errorCount: errors.length,
    errors: isTold
      ? errors.map(({ at, operation, message }) => ({
          at: at.toISOString(),
          operation,
          message: message.slice(0, MAX_MESSAGE),
        }))
      : null,
  };
}

function statusLines({ version, upSeconds, storage, machine, ...status }: Status): string[] {
  const { errors, errorCount } = status;
  return [
    `croft state ${version}, up ${upSeconds} s`,
    `storage: ${storage.driver} at ${storage.location}: ${healthText(storage)}`,
    `machine: ${machine.id} (${machine.managed ? 'managed' : 'not managed'}), states: ${machine.states}`,
    ...(status.writers.length === 0 ? ['writers: none'] : []),
    ...status.writers.map(
      ({ key, running, waiting }) => `writers: ${running} on ${key}, waiting: ${waiting}`,
    ),
    ...status.notOpenYet.map(
      ({ setting, address }) => `not open yet: ${address} (${setting}), which this machine does not have`,
    ),
    ...(errors === null ? [`errors: ${errorCount}, which administrators are told`] : []),
    ...(errors ?? []).map(({ at, operation, message }) => `error: ${timeText(at)} ${operation}: ${message}`),
  ];
}

/** A directory of users that does not answer must not keep anybody from the rest. */
async function isAdministratorSoon(call: Call): Promise<boolean> {
  const late = sleep(DIRECTORY_WAIT_MS, false, { ref: false });
  return Promise.race([call.isAdministrator().catch(() => false), late]);
}

async function healthOf({ health }: Pick<Context, 'health'>): Promise<Health> {
  const trouble = await health.trouble();
  return trouble === undefined ? { trouble: null, pools: await health.space() } : { trouble };
}

function healthText(health: Health): string {
  if (health.trouble !== null) return `in trouble: ${health.trouble}`;
  return `healthy, ${health.pools.map(({ free, size }) => `${sizeText(free)} of ${sizeText(size)} free`).join(', ')}`;
}
