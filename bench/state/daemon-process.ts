// A state daemon in a process of its own: `node daemon-process.ts <place> [settings as JSON]`; told "stop" it ends.
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { startState, stateSettings } from '@croft/state';

/** What it tells when it is up. */
export interface Started {
  readonly address: string;
  readonly startedMs: number;
}

const [place, more = '{}'] = process.argv.slice(2) as [string, string?];
const settings = readSettings(stateSettings, {
  STATESVC_VAULT_SYSTEM: join(place, 'tree'),
  STATESVC_MIN_FREE: '0',
  STATESVC_CMDLINE_FILE: join(place, 'cmdline'),
  STATESVC_POLICY: join(place, 'policy.yaml'),
  STATESVC_BOOT_LOADER: 'none',
  ...(JSON.parse(more) as Record<string, string>),
});
const start = performance.now();
const service = await startState({
  settings,
  folder: join(place, 'state'),
  log: silentLog,
  version: 'bench',
});
process.send?.({ address: service.address, startedMs: performance.now() - start } satisfies Started);
process.once('message', () => void service.close(1000).then(() => process.exit(0)));
