// A daemon as a process of its own, for tests that kill it: `node daemon-process.ts <folder> <system> [settings as JSON]`.
import { flushCompileCache } from 'node:module';
import { createLog, StartError } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { startState, stateSettings } from '../src/index.ts';

const [folder, system, more = '{}'] = process.argv.slice(2) as [string, string, string?];
const settings = readSettings(stateSettings, {
  STATESVC_STORAGE: 'vault',
  STATESVC_VAULT_SYSTEM: system,
  STATESVC_MIN_FREE: '0',
  ...(JSON.parse(more) as Record<string, string>),
});
try {
  const service = await startState({
    settings,
    folder,
    log: createLog({ level: 'warn' }),
    version: '0.0.0-test',
    onStop: () => void service.close(1000).then(() => process.exit(0)),
  });
  process.stdout.write(`${service.address}\n`);
  flushCompileCache();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
