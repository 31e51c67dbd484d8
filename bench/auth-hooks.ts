import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { type Client, client, type Session, signUp, startService } from './auth/service.ts';
import { type Figure, median } from './figure.ts';

const ROUNDS = 1_000;
const WARM_UP = 300;
const MAX_OVERHEAD_MS = 1;
const HOOK = 'AUTHSVC_HOOK_CUSTOM_ACCESS_TOKEN';
const SECRET = `v1,whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/**
 * Refreshes whose token a hook has a say in, against refreshes without one and against the hook alone, asked directly:
 * what is left is ours. One at a time and in turns, so that all of them see the same machine.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const hook = fork(import.meta.filename);
  try {
    const [address] = (await once(hook, 'message')) as [string];
    const { hostname, port } = new URL(address);
    const direct = await client(`http://${hostname}:${port}`);
    const ask = () => direct.send('POST', '/', QUESTION);
    yield* measure('an endpoint', { [`${HOOK}_URI`]: address, [`${HOOK}_SECRETS`]: SECRET }, async () => ask);
    await direct.end();
    yield* measure('a function', { [`${HOOK}_URI`]: 'pg-functions://croft/public/claims' }, askFunction);
  } finally {
    hook.kill();
  }
}

async function* measure(
  what: string,
  settings: Record<string, string>,
  openDirect: (databaseUrl: string) => Promise<() => Promise<unknown>>,
): AsyncGenerator<Figure> {
  await using without = await startService();
  await using asking = await startService({ ...settings, [`${HOOK}_ENABLED`]: 'true' });
  const direct = await openDirect(asking.databaseUrl);
  const [plain, hooked] = [await client(without.address), await client(asking.address)];
  const work = [await refreshing(plain), await refreshing(hooked), direct];
  const times: number[][] = [[], [], []];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [index, one] of work.entries()) {
      const startedAt = performance.now();
      await one();
      if (round >= 0) times[index]?.push(performance.now() - startedAt);
    }
  }
  await Promise.all([plain.end(), hooked.end()]);
  const [alone = [], together = [], own = []] = times;
  // Round by round: what else the machine does hits the three of a round alike.
  const overheads = together.map((time, round) => time - (alone[round] ?? 0) - (own[round] ?? 0));
  const ours = Math.max(0.001, median(overheads));
  const shown = (values: readonly number[]): string => median(values).toFixed(2);
  yield {
    bench: 'auth-hooks',
    figure: `a refresh with ${what}, over ${shown(alone)} ms without and ${shown(own)} ms of the hook's own`,
    ratio: MAX_OVERHEAD_MS / ours,
    ours,
    theirs: MAX_OVERHEAD_MS,
    unit: 'ms',
    limit: '≥ 1',
  };
}

/** Refreshes of one session, each with the token of the one before. */
async function refreshing(by: Client): Promise<() => Promise<void>> {
  let { refresh_token } = await signUp(by, 'hooked');
  return async () => {
    const answer = await by.send('POST', '/token?grant_type=refresh_token', { refresh_token });
    ({ refresh_token } = JSON.parse(answer) as Session);
  };
}

const CLAIMS = {
  sub: '0f0e7b1a-3f63-4a41-9d0c-6f1f0a7b2c11',
  aud: 'authenticated',
  exp: 2,
  iat: 1,
  email: 'hooked@example.com',
  phone: '',
  app_metadata: { provider: 'email', providers: ['email'] },
  user_metadata: {},
  role: 'authenticated',
  aal: 'aal1',
  amr: [{ method: 'password', timestamp: 1 }],
  session_id: '0f0e7b1a-3f63-4a41-9d0c-6f1f0a7b2c11',
  is_anonymous: false,
};
/** As large as ours. */
const QUESTION = {
  metadata: { uuid: CLAIMS.sub, time: '2026-01-01T00:00:00.000Z', name: 'customize-access-token' },
  user_id: CLAIMS.sub,
  claims: CLAIMS,
  authentication_method: 'token_refresh',
};

async function askFunction(databaseUrl: string): Promise<() => Promise<unknown>> {
  const driver = new pg.Client({ connectionString: databaseUrl });
  await driver.connect();
  // The server goes away with the service.
  driver.on('error', () => undefined);
  await driver.query(`create function public.claims(event jsonb) returns jsonb language sql as
    $$ select jsonb_build_object('claims', event -> 'claims' || '{"tenant": 7}') $$`);
  const values = [JSON.stringify(QUESTION)];
  return async () =>
    await driver.query({ name: 'ask', text: 'select to_jsonb(public.claims($1)) as answer', values });
}

// Forked by `figures`: somebody's hook, that does next to nothing.
if (import.meta.main) {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const { claims } = JSON.parse(text) as typeof QUESTION;
      const body = JSON.stringify({ claims: { ...claims, tenant: 7 } });
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
}
