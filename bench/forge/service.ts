import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { accessTokens } from '@croft/access-token';
import { forgeSettings, startForge } from '@croft/forge';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

/** Ids of repositories are folders of this one; benches of issues have none. */
export interface Place {
  databaseUrl: string;
  dataFolder: string;
}

/** A forge under load. */
export interface Forge extends AsyncDisposable {
  address: string;
}

/** Starts a forge in a process of its own; the load comes from here. */
export async function startForgeProcess({ databaseUrl, dataFolder }: Place): Promise<Forge> {
  const server = fork(import.meta.filename, [databaseUrl, dataFolder]);
  const [address] = (await Promise.race([once(server, 'message'), neverStarted(server)])) as [string];
  return {
    address,
    async [Symbol.asyncDispose]() {
      const ended = once(server, 'exit');
      if (server.exitCode === null && server.kill()) await ended;
    },
  };
}

async function neverStarted(server: ChildProcess): Promise<never> {
  const [code] = (await once(server, 'exit')) as [number | null];
  throw new Error(`the forge ended with ${code} before it was ready; it says why above`);
}

/** An access token such as the auth service makes for somebody who has an account. */
export function tokenOf(account: { auth_user_id: string; email: string; full_name: string }): string {
  return accessTokens(SECRET).sign({
    sub: account.auth_user_id,
    email: account.email,
    role: 'authenticated',
    exp: Math.floor(Date.now() / 1000) + 3_600,
    user_metadata: { full_name: account.full_name },
  });
}

// Forked by `startForgeProcess`: the service under load.
if (import.meta.main) {
  const [, , databaseUrl = '', dataFolder = ''] = process.argv;
  const service = await startForge({
    settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' }),
    databaseUrl,
    dataFolder,
    log: silentLog,
    version: 'bench',
    atRestKey: new Secret(SECRET),
    tokens: { secret: new Secret(SECRET) },
    authUrl: undefined,
  });
  process.once('SIGTERM', () => void service.close(1_000).then(() => process.exit(0)));
  process.send?.(service.address);
}
