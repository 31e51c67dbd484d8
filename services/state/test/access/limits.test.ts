import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { skipWithout } from '@croft/testing';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Daemon, type DaemonOptions, startDaemon, temporaryFolder, vaultFacts } from '../daemon.ts';
import { callAs, floodAs, needRoot, startPublicDaemon, users } from './other-users.ts';

beforeEach(needRoot);

const pathOf = (daemon: Daemon) => daemon.service.address.replace('unix:', '');
const GC = [{ name: 'GC', request: {} }];

/** Asks for the version on a connection of its own. @returns milliseconds; undefined when the connection was closed */
function versionOnNewConnection(path: string): Promise<number | undefined> {
  const began = performance.now();
  return new Promise((resolve) => {
    const createConnection = () => connect(path);
    const session = connectHttp2('http://localhost', { createConnection }).on('error', () => {});
    const headers = {
      ':method': 'POST',
      ':path': '/statesvc.StateService/Version',
      'content-type': 'application/grpc',
      te: 'trailers',
    };
    const stream = session.request(headers).on('error', () => {});
    stream.once('trailers', (found) => {
      resolve(found['grpc-status'] === '0' ? performance.now() - began : undefined);
      session.destroy();
    });
    stream.once('close', () => resolve(undefined));
    stream.resume().end(Buffer.alloc(5));
  });
}

describe('attack: calls without end', () => {
  it.each([
    ['/statesvc.StateExtras/Watch', 8],
    ['/grpc.health.v1.Health/Watch', 8],
    ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', 64],
  ])('of %s: only %i of one user stay, and others have theirs', async (method, most) => {
    const daemon = await startPublicDaemon();
    const flood = { ...users.other, path: pathOf(daemon), method, connections: 4, streams: 100 };
    const { statuses, stop } = await floodAs(flood);
    await vi.waitFor(() => expect(statuses).toHaveLength(400 - most), 40_000);
    expect(new Set(statuses)).toEqual(new Set([8]));
    const watch = { name: 'Watch', request: {} };
    const [refused] = await callAs(users.other, daemon.service.address, [watch], { deadlineMs: 1000 });
    expect(refused).toMatchObject({
      code: 8,
      details: expect.stringMatching(/^uid 2 has (8 Watch calls|64 calls) in flight, which is the most/),
    });
    // It goes on until its deadline.
    const ada = await callAs(users.ada, daemon.service.address, [watch], { deadlineMs: 1000 });
    expect(ada).toMatchObject([{ code: 4 }]);
    expect((await daemon.call('Version')).code).toBe(0);
    await stop();
    await sleep(200);
    const again = await callAs(users.other, daemon.service.address, [watch], { deadlineMs: 1000 });
    expect(again).toMatchObject([{ code: 4 }]);
  });
});

/** A daemon for everybody, with a home of ada. */
async function withHome(options: DaemonOptions = {}) {
  const daemon = await startPublicDaemon(options);
  const homepath = join(temporaryFolder(), 'home');
  expect((await daemon.call('CreateUserData', { user: users.ada.name, homepath })).code).toBe(0);
  return daemon;
}

const userName = users.ada.name;

describe('attack: many at once', () => {
  it.each([
    ['DumpStates', 8, 'calls of DumpStates, MachineList and MachineShow', {}],
    ['MachineShow', 8, 'calls of DumpStates, MachineList and MachineShow', {}],
    ['SaveUserState', 4, 'calls that write', { userName }],
    ['Describe', 4, 'calls that write', { userName, stateName: 'hers', description: 'x' }],
  ])(
    'of %s: only %i of one user stay, others have theirs, and nothing changes',
    async (name, most, what, request) => {
      const daemon = await withHome();
      const { address } = daemon.service;
      await daemon.call('SaveUserState', { userName, stateName: 'hers' });
      const before = [await daemon.dump(), vaultFacts(daemon.folder)];
      const service = name === 'Describe' ? 'StateExtras' : 'StateService';
      const method = `/statesvc.${service}/${name}`;
      const flood = { ...users.ada, path: pathOf(daemon), method, connections: 4, streams: 100 };
      const { statuses, stop } = await floodAs(flood);
      await vi.waitFor(() => expect(statuses).toHaveLength(400 - most), 40_000);
      expect(new Set(statuses)).toEqual(new Set([8]));
      expect(await callAs(users.ada, address, [{ name, request }])).toMatchObject([
        {
          code: 8,
          messages: 0,
          details: `uid 65534 has ${most} ${what} in flight, which is the most there may be: wait until one of them has ended`,
        },
      ]);
      expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
      const read = [{ name: 'DumpStates', request: {} }];
      expect(await callAs(users.other, address, read)).toMatchObject([{ code: 0 }]);
      // She has calls of other kinds, and the machine is free.
      expect(await callAs(users.ada, address, [{ name: 'Version', request: {} }])).toMatchObject([
        { code: 0 },
      ]);
      expect(await daemon.save('of-the-machine')).toBe('of-the-machine');
      await stop();
      await sleep(200);
      expect(await callAs(users.ada, address, [{ name, request }])).toMatchObject([{ code: 0 }]);
    },
  );
});

it('attack: a user saves his home without end', async () => {
  const first = await withHome();
  await first.call('SaveUserState', { userName, stateName: 's0' });
  const [saved] = (await first.dump()).machines[0]?.states ?? [];
  await first.service.close(0);
  const fileOf = (id: string) => join(first.folder, 'vault/states', `${id}.json`);
  const record = readFileSync(fileOf(saved?.id as string), 'utf8');
  // As so many calls would have left them.
  for (let at = 1; at < 1000; at++)
    writeFileSync(
      fileOf(`id-${at}`),
      record.replace(saved?.id as string, `id-${at}`).replace('"s0"', `"s${at}"`),
    );
  const daemon = await startPublicDaemon({ folder: first.folder, tree: first.tree });
  const { address } = daemon.service;
  const save = [{ name: 'SaveUserState', request: { userName } }];
  const before = [await daemon.dump(), vaultFacts(daemon.folder)];
  expect(await callAs(users.ada, address, save)).toMatchObject([
    {
      code: 8,
      messages: 0,
      details: expect.stringMatching(/^1000 states of "nobody" .* remove some of them first$/),
    },
  ]);
  expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  // That binds neither administrators nor saves of the machine, and she helps herself.
  expect(await callAs(users.operator, address, save)).toMatchObject([{ code: 0 }]);
  await daemon.save('of-the-machine');
  const removals = ['s1', 's2'].map((stateName) => ({
    name: 'RemoveUserState',
    request: { userName, stateName },
  }));
  expect(await callAs(users.ada, address, [...removals, ...save])).toMatchObject([
    { code: 0 },
    { code: 0 },
    { code: 0 },
  ]);
});

it('attack: while two processes connect in a loop, root is served', async () => {
  const daemon = await startPublicDaemon();
  const flood = { ...users.other, path: pathOf(daemon), connections: 600, streams: 0 };
  await Promise.all([floodAs(flood), floodAs(flood)]);
  for (let round = 0; round < 10; round++) {
    const ms = await versionOnNewConnection(pathOf(daemon));
    expect(ms).toBeLessThan(20_000);
    await sleep(200);
  }
});

describe('the directory of users', () => {
  /** A daemon for which `getent` is a script. */
  async function startWithGetent(script: string) {
    const programs = temporaryFolder();
    writeFileSync(join(programs, 'getent'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(programs, 'getent'), 0o755);
    return startPublicDaemon({ settings: { STATESVC_SEARCH_PATH: `${programs}:/usr/bin:/bin` } });
  }

  it.each([
    ['fails', 'exit 1'],
    ['hangs', 'exec sleep 60'],
  ])('that %s denies nobody his rights: the call is to be repeated', async (_what, script) => {
    const daemon = await startWithGetent(script);
    const before = vaultFacts(daemon.folder);
    const [answer] = await callAs(users.operator, daemon.service.address, GC);
    expect(answer).toMatchObject({
      code: 14,
      details: expect.stringMatching(/^the directory of users and groups did not answer/),
    });
    expect(vaultFacts(daemon.folder)).toEqual(before);
    expect((await daemon.call('GC')).code).toBe(0);
    const status = await callAs(users.operator, daemon.service.address, [{ name: 'Status', request: {} }]);
    expect(status).toMatchObject([{ code: 0 }]);
  });

  it('attack: is asked once for hundreds of refused calls', async () => {
    const log = join(temporaryFolder(), 'log');
    const daemon = await startWithGetent(`echo "$3" >> ${log}; exec /usr/bin/getent "$@"`);
    const calls = Array.from({ length: 10 }, () => GC).flat();
    const answers = await callAs(users.other, daemon.service.address, calls, { connections: 40 });
    expect(answers.filter(({ code }) => code !== 7)).toEqual([]);
    const asked = execFileSync('sort', [log], { encoding: 'utf8' }).trim().split('\n');
    expect(asked.length).toBeLessThanOrEqual(6);
    expect(new Set(asked)).toEqual(new Set(['2', 'daemon']));
  });
});

it('an address that comes after the daemon is listened on when it is there', async (context) => {
  const ip = (verb: string) => execFileSync('ip', ['addr', verb, '198.51.100.77/32', 'dev', 'lo']);
  try {
    ip('add');
    ip('del');
  } catch {
    skipWithout(context, 'the right to give this machine an address');
  }
  const daemon = await startDaemon({ settings: { STATESVC_METRICS_LISTEN: '198.51.100.77:0' } });
  const status = async () => (await daemon.call('Status')).lines.join('\n');
  expect(await status()).toContain('not open yet: 198.51.100.77:0 (STATESVC_METRICS_LISTEN)');
  expect(daemon.service.metricsAddress).toBeUndefined();
  onTestFinished(() => void ip('del'));
  ip('add');
  await vi.waitFor(() => expect(daemon.service.metricsAddress).toBeDefined(), 40_000);
  expect((await fetch(daemon.service.metricsAddress as string)).status).toBe(200);
  await vi.waitFor(async () => expect(await status()).not.toContain('not open yet'));
});
