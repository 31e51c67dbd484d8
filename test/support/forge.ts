import { randomUUID } from 'node:crypto';
import { accessTokens } from '@croft/access-token';
import { forgeSettings, startForge } from '@croft/forge';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { temporaryFolder, testDatabase } from '@croft/testing';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

/** A forge alone, for its clients; `accessToken` stands in for auth. */
export interface ForgeForClients extends AsyncDisposable {
  address: string;
  /** An empty folder. */
  folder: string;
}

/** Starts a forge on a port, a database and a folder of its own. */
export async function forgeForClients(): Promise<ForgeForClients> {
  const stack = new AsyncDisposableStack();
  const migrations = new URL('../../services/forge/migrations/', import.meta.url);
  const { url } = stack.use(await testDatabase({ schema: 'forge', migrations }));
  const dataFolder = stack.use(await temporaryFolder()).path;
  const folder = stack.use(await temporaryFolder()).path;
  const forge = await startForge({
    settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0', FORGE_SIGNING_KEY: 'generate' }),
    databaseUrl: url,
    dataFolder,
    log: silentLog,
    version: '0.1.0',
    atRestKey: new Secret(SECRET),
    tokens: { secret: new Secret(SECRET), adminRoles: ['service_role'] },
    authUrl: undefined,
  });
  stack.defer(() => forge.close(1000));
  return { address: forge.address, folder, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** What auth gives a user who signs in. */
export function accessToken(name: string, role = 'authenticated'): string {
  return accessTokens(SECRET).sign({
    sub: randomUUID(),
    role,
    email: `${name}@example.test`,
    exp: Math.floor(Date.now() / 1000) + 3600,
    user_metadata: { user_name: name },
  });
}
