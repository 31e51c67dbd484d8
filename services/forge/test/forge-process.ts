/** A forge in a process of its own, for tests that kill it: prints its address once it is up. */
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { forgeSettings, startForge } from '../src/index.ts';

const [databaseUrl, dataFolder, secret] = process.argv.slice(2) as [string, string, string];
const service = await startForge({
  settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' }),
  databaseUrl,
  dataFolder,
  log: silentLog,
  version: '0.1.0',
  tokens: { secret: new Secret(secret) },
  authUrl: undefined,
});
console.log(service.address);
