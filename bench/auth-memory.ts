import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { authSettings, migrateAuth, startAuth } from '@croft/auth';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import type { Figure } from './figure.ts';

const SIGN_UPS = 100_000;
/** One in so many brings a password: hashing all would take half an hour, and memory shows after the first few hundred. */
const WITH_PASSWORD = 100;
const CONCURRENCY = 50;
const LIMIT_MB = 200;
/** What is garbage by then has had its time to go. */
const REST_MS = 5_000;

const settings = readSettings(authSettings, {
  AUTHSVC_SITE_URL: 'http://127.0.0.1',
  AUTHSVC_API_EXTERNAL_URL: 'http://127.0.0.1',
  AUTHSVC_API_PORT: '0',
  AUTHSVC_JWT_SECRET: 'the secret of a benchmark',
  AUTHSVC_MAILER_AUTOCONFIRM: 'true',
  AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  // Each comes from another client, so that the limits have as much to remember as they ever have.
  AUTHSVC_RATE_LIMIT_HEADER: 'x-client',
});

/** The memory of the service, a process of its own, after 100,000 sign-ups by as many clients. */
export async function* figures(): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-'));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning: 'test' });
  const databaseUrl = postgres.url('croft');
  await migrateAuth({ settings, databaseUrl, log: silentLog });
  const server = fork(import.meta.filename, [databaseUrl, folder]);
  try {
    const [address] = (await once(server, 'message')) as [string];
    await signUpAll(address);
    await sleep(REST_MS);
    server.send('memory');
    const [bytes] = (await once(server, 'message')) as [number];
    const ours = bytes / 1e6;
    yield {
      bench: 'auth-memory',
      figure: 'resident memory after 100,000 sign-ups',
      ratio: LIMIT_MB / ours,
      ours,
      theirs: LIMIT_MB,
      unit: 'MB',
      limit: '≥ 1',
    };
  } finally {
    const ended = once(server, 'exit');
    if (server.exitCode === null && server.kill()) await ended;
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function signUpAll(address: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  let next = 0;
  const workers = Array.from({ length: CONCURRENCY }, async () => {
    while (next < SIGN_UPS) {
      const number = next++;
      const withPassword = number % WITH_PASSWORD === 0;
      const body = withPassword ? { email: `user-${number}@example.com`, password: 'correct horse' } : {};
      await signUp(agent, address, number, JSON.stringify(body));
    }
  });
  await Promise.all(workers);
  agent.destroy();
}

/** One sign-up by the client of that number, which has to succeed: a refusal would leave nothing behind. */
function signUp(agent: Agent, address: string, number: number, body: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const client = `203.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  const headers = { 'content-type': 'application/json', 'x-client': client };
  request(`${address}/signup`, { agent, method: 'POST', headers }, (answer) => {
    answer.resume();
    answer.once('end', () =>
      answer.statusCode === 200
        ? resolve()
        : reject(new Error(`a sign-up was answered ${answer.statusCode}`)),
    );
  })
    .once('error', reject)
    .end(body);
  return promise;
}

// Forked by `figures`: the service whose memory is measured.
if (import.meta.main) {
  const [, , databaseUrl = '', dataFolder = ''] = process.argv;
  const secrets = { atRestKey: new Secret('the key of a benchmark') };
  const log = silentLog;
  const service = await startAuth({ settings, databaseUrl, dataFolder, log, version: 'bench', secrets });
  process.once('SIGTERM', () => void service.close(1_000).then(() => process.exit(0)));
  process.on('message', () => process.send?.(process.memoryUsage.rss()));
  process.send?.(service.address);
}
