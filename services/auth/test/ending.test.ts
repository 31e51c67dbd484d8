import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { openDatabase } from '@croft/sql';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { authSettings, startAuth } from '../src/index.ts';
import { JWT_SECRET } from './harness.ts';

// How the service ends, and what it says when it starts.

let database: Awaited<ReturnType<typeof testDatabase>>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let warnings: string[];
beforeEach(async () => {
  database = await testDatabase();
  folder = await temporaryFolder();
  warnings = [];
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});
function start(more: Record<string, string> = {}, databaseUrl = database.url) {
  const settings = readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_API_PORT: '0',
    AUTHSVC_JWT_SECRET: JWT_SECRET,
    ...more,
  });
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  const secrets = { atRestKey: new Secret('key') };
  return startAuth({ settings, databaseUrl, dataFolder: folder.path, log, version: '1.2.3', secrets });
}

test('a clean-up that hangs holds nothing up', async () => {
  const service = await start({ AUTHSVC_DB_CLEANUP_INTERVAL: '50ms' });
  const other = openDatabase({ url: database.url, schema: 'auth', log: silentLog });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const lock = other.transaction(async (tx) => {
    await tx.run`lock table :schema.one_time_tokens in access exclusive mode`;
    await held;
  });
  await sleep(500);
  const startedAt = performance.now();
  await service.close(300);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect(warnings.join()).toContain('did not close in time {"part":"cleanUp"}');
  release();
  await lock;
  await other.close();
});

test('a start that fails closes what it had opened', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await expect(start({ AUTHSVC_API_PORT: String(port) })).rejects.toThrow('is in use');
  server.close();
  const look = openDatabase({ url: database.url, schema: 'auth', log: silentLog, poolSize: 1 });
  const others = () =>
    look.autocommit().rows`select application_name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  for (let n = 0; n < 50 && (await others()).length > 0; n++) await sleep(20);
  expect(await others()).toEqual([]);
  await look.close();
  expect(warnings).toEqual([]);
});

test('a start without a database says so, whatever closing then comes to', async () => {
  await expect(start({}, 'postgresql://127.0.0.1:1/none')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a way back to another origin is doubted at start, once each', async () => {
  const github = { CLIENT_ID: 'id', SECRET: 'secret', ENABLED: 'true' };
  const environment = Object.fromEntries(
    Object.entries(github).flatMap(([name, value]) => [
      [`AUTHSVC_EXTERNAL_GITHUB_${name}`, value],
      [`AUTHSVC_EXTERNAL_GITLAB_${name}`, value],
    ]),
  );
  const service = await start({
    ...environment,
    AUTHSVC_EXTERNAL_GITHUB_REDIRECT_URI: 'https://AUTH.example:443/callback',
    AUTHSVC_EXTERNAL_GITLAB_REDIRECT_URI: 'http://auth.example/callback',
    // Not enabled, so nothing is wrong with it.
    AUTHSVC_EXTERNAL_FIGMA_REDIRECT_URI: 'https://elsewhere.example/callback',
  });
  await service.close(1_000);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^AUTHSVC_EXTERNAL_GITLAB_REDIRECT_URI is not at https:\/\/auth\.example,/);
});
