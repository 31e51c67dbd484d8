/** A forge in a process of its own, for tests that kill it: prints its address once it is up. */
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { forgeSettings, startForge } from '../src/index.ts';

const [databaseUrl, dataFolder, secret] = process.argv.slice(2) as [string, string, string];
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
console.log(service.address);
