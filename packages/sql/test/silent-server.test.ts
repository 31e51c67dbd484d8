import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket, type TcpNetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { type TestDatabase, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isDatabaseUnavailable, openDatabase, type Tx } from '../src/index.ts';

// A server that is gone without a word, as one whose host lost its power.

let home: TestDatabase;

beforeAll(async () => {
  home = await testDatabase();
});
afterAll(() => home[Symbol.asyncDispose]());

/** Passes on what both say until it is told to be silent, as a host that lost its power. */
async function relay(): Promise<{ url: string; silence(): void } & AsyncDisposable> {
  const url = new URL(home.url);
  const [socketFolder, port] = [
    url.searchParams.get('host'),
    Number(url.port || url.searchParams.get('port') || 5432),
  ];
  const to =
    socketFolder === null ? { host: url.hostname, port } : { path: join(socketFolder, `.s.PGSQL.${port}`) };
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    const far = connect(to as TcpNetConnectOpts);
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => isSilent || other.write(chunk));
      from.on('error', () => {});
      from.on('close', () => isSilent || other.destroy());
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  for (const name of ['host', 'port']) url.searchParams.delete(name);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    silence: () => (isSilent = true),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const through = (url: string, poolSize: number) =>
  openDatabase({ url, schema: 'bank', log: silentLog, poolSize, statementTimeoutMs: 100 });

/** Why each failed. */
async function reasons(asked: readonly Promise<unknown>[]): Promise<unknown[]> {
  const outcomes = await Promise.allSettled(asked);
  return outcomes.map((one) => one.status === 'rejected' && one.reason);
}

it('is given up, told as unavailable, and keeps nobody from stopping', async () => {
  await using between = await relay();
  const far = through(between.url, 1);
  const begun = through(between.url, 1);
  await far.autocommit().row`select 1`;
  await far.reads().row`select 1`;
  await begun.transaction((tx) => tx.row`select 1`);
  between.silence();
  const told = await reasons([
    far.autocommit().row`select 2`,
    far.reads().row`select 2`,
    begun.transaction((tx) => tx.row`select 2`),
  ]);
  expect(told.map(isDatabaseUnavailable)).toEqual([true, true, true]);
  await Promise.all([far.close(), begun.close()]);
});

it('is given up in the middle of a transaction as well', async () => {
  await using between = await relay();
  const far = through(between.url, 5);
  const { promise: silence, resolve: fallSilent } = Promise.withResolvers<void>();
  let begun = 0;
  const afterSilence = (work: (tx: Tx) => Promise<unknown>) =>
    far.transaction(async (tx) => {
      await tx.row`select 1`;
      if (++begun === 5) {
        between.silence();
        fallSilent();
      }
      await silence;
      await work(tx);
    });
  const refusal = new Error('refused');
  const told = await reasons([
    afterSilence((tx) => tx.row`select 2`),
    afterSilence((tx) => Promise.all([tx.row`select 2`, tx.row`select 3`])),
    // Nobody notices, and goes on.
    afterSilence((tx) => tx.row`select 2`.catch(() => tx.row`select 3`).catch(() => {})),
    afterSilence(async () => {}),
    afterSilence(() => Promise.reject(refusal)),
  ]);
  expect(told.map(isDatabaseUnavailable)).toEqual([true, true, true, true, false]);
  expect(told[4]).toBe(refusal);
  await far.close();
});

it('is one that hangs only where statements may not take as long as they take', {
  timeout: 150_000,
}, async () => {
  const patient = through(home.url, 2);
  const asked = [
    patient.transaction((tx) => tx.row`select 'slept' as here from pg_sleep(5.5)`, { unlimited: true }),
    // The server ends those itself, and each has its time.
    patient.transaction((tx) => tx.row`select pg_sleep(5.5)`),
  ];
  expect(await Promise.allSettled(asked)).toMatchObject([
    { status: 'fulfilled', value: { here: 'slept' } },
    { status: 'rejected', reason: { code: '57014' } },
  ]);
  await patient.close();
});
