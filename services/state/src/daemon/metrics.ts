import type { Log } from '@croft/runtime';
import { openTelemetry, type Reading, type Telemetry } from '@croft/telemetry';
import type { StateIndex } from '../model/state-index.ts';
import type { LateAddresses } from '../outside/late-addresses.ts';
import type { StateSettings } from '../settings.ts';
import type { Turns } from '../turns.ts';
import type { StorageHealth } from './storage-health.ts';

/** Seconds: a look takes a millisecond, a save minutes. */
const BOUNDS = [0.001, 0.01, 0.1, 0.5, 1, 5, 30, 60, 300, 1800];
/** A disk that does not answer must not hold up whoever looks. */
const STORAGE_MS = 2000;

/** What is counted and measured while metrics are on. */
export interface Metrics {
  /** Where they are fetched. */
  readonly address: string | undefined;
  /** A call has ended. */
  ended(operation: string, status: string, seconds: number): void;
  close(): Promise<void>;
}

/** What is looked at whenever somebody fetches metrics. */
interface Sources {
  readonly index: StateIndex;
  readonly health: StorageHealth;
  readonly turns: Turns;
}

/** Metrics for Prometheus, if the settings want them. @throws StartError when the address cannot be used */
export async function openMetrics(
  { METRICS_LISTEN: place }: StateSettings,
  sources: Sources,
  { version, log, late }: { version: string; log: Log; late: LateAddresses },
): Promise<Metrics | undefined> {
  if (place === undefined) return undefined;
  const setting = 'STATESVC_METRICS_LISTEN';
  let metrics: Metrics | undefined;
  await late.open({ setting, address: `${place.host}:${place.port}` }, async () => {
    const telemetry = await openTelemetry({
      service: 'croft-state',
      attributes: { 'state.version': version },
      metrics: { scrape: { ...place, portSetting: setting } },
      debug: false,
      log,
    });
    metrics = measure(telemetry, sources);
  });
  return {
    get address() {
      return metrics?.address;
    },
    ended: (...call) => metrics?.ended(...call),
    close: async () => metrics?.close(),
  };
}

function measure(telemetry: Telemetry | undefined, { index, health, turns }: Sources): Metrics {
  const calls = telemetry?.histogram(
    'state.call.duration',
    'Calls that ended, by operation and status.',
    BOUNDS,
  );
  telemetry?.gauge('state.states', 'States that are kept, by kind.', async () => statesOf(index));
  telemetry?.gauge('state.storage.free.bytes', 'Free space of each pool.', () => spaceOf(health, 'free'));
  telemetry?.gauge('state.storage.size.bytes', 'Size of each pool.', () => spaceOf(health, 'size'));
  telemetry?.gauge('state.writers.waiting', 'Calls that wait for their turn.', async () => [
    { value: turns.list().reduce((sum, { waiting }) => sum + waiting, 0) },
  ]);
  return {
    address: telemetry?.scrapeAddress,
    ended: (operation, status, seconds) => calls?.record(seconds, { operation, status }),
    close: async () => telemetry?.close(),
  };
}

function statesOf({ model }: StateIndex): Reading[] {
  const kinds = ['system', 'user'].flatMap((kind) => [true, false].map((automatic) => ({ kind, automatic })));
  return kinds.map(({ kind, automatic }) => ({
    value: model.states.filter((state) => state.kind === kind && state.automatic === automatic).length,
    labels: { kind, automatic: String(automatic) },
  }));
}

async function spaceOf(health: StorageHealth, what: 'free' | 'size'): Promise<Reading[]> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('the storage does not answer')), STORAGE_MS);
  const pools = await Promise.race([health.space(), promise]).finally(() => clearTimeout(timer));
  return pools.map((pool) => ({ value: pool[what], labels: { pool: pool.name } }));
}
