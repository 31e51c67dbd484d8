/** A forge in a process of its own, for tests that kill it: reports its address once it is up. */
import { flushCompileCache } from 'node:module';
import type { Report } from './steps.ts';

const [databaseUrl, dataFolder, secret] = process.argv.slice(2) as [string, string, string];
const { silentLog } = await import('@croft/runtime');
const { readSettings, Secret } = await import('@croft/settings');
const { forgeSettings, startForge } = await import('../src/index.ts');
const { stopRequests } = await import('./steps.ts');

stopRequests();
// Tests that hook something up receive on loopback.
const environment = { FORGE_HTTP_PORT: '0', FORGE_WEBHOOK_ALLOWED_HOSTS: 'loopback' };
const service = await startForge({
  settings: readSettings(forgeSettings, environment),
  databaseUrl,
  dataFolder,
  log: silentLog,
  version: '0.1.0',
  atRestKey: new Secret(secret),
  tokens: { secret: new Secret(secret) },
  authUrl: undefined,
});
process.send?.({ address: service.address } satisfies Report);
flushCompileCache();
