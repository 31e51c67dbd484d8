import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasProgram, skipWithout } from '@croft/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { type LookupProgram, lookupPrograms } from '../../src/outside/identity/peer-lookup.ts';
import { type Daemon, startDaemon, temporaryFolder, vaultFacts } from '../daemon.ts';
import { callAs, needRoot, startPublicDaemon, users } from './other-users.ts';

beforeEach(needRoot);

const [perl, python] = lookupPrograms as [LookupProgram, LookupProgram];
const pathOf = (daemon: Daemon) => daemon.service.address.replace('unix:', '');

function open(daemon: Daemon): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(pathOf(daemon), () => resolve(socket));
    socket.once('error', reject);
  });
}

it('Node tells the descriptor of a connection, which the look-up hands on', async () => {
  const path = join(temporaryFolder(), 'socket');
  const server = createServer().listen(path);
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const socket = connect(path);
  const { _handle: handle } = (await accepted) as unknown as { _handle: { fd: number } };
  expect(handle.fd).toBeGreaterThan(2);
  socket.destroy();
  server.close();
});

describe('the socket for everybody', () => {
  it('has its mode before anybody can connect, and the mask is as it was', async () => {
    const modeOfNew = () => {
      const file = join(temporaryFolder(), 'file');
      writeFileSync(file, '', { mode: 0o777 });
      return statSync(file).mode;
    };
    const before = modeOfNew();
    const folder = join(temporaryFolder(), 'run');
    const daemon = await startPublicDaemon({ settings: { STATESVC_SOCKET: join(folder, 'public.sock') } });
    expect(statSync(pathOf(daemon)).mode & 0o777).toBe(0o666);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    expect(modeOfNew()).toBe(before);
  });

  it('does not lie in the data folder, where only its owner comes', async () => {
    await expect(startDaemon({ settings: { STATESVC_SOCKET_MODE: '0666' } })).rejects.toThrow(
      /needs a place outside of the data folder/,
    );
  });

  it.for([
    ['perl', perl],
    ['python3', python],
  ] as const)('knows its callers by %s', async ([name, program], context) => {
    if (!hasProgram(name)) skipWithout(context, name);
    const daemon = await startPublicDaemon({ lookupPrograms: [program] });
    const gc = [{ name: 'GC', request: {} }];
    expect(await callAs(users.root, daemon.service.address, gc)).toMatchObject([{ code: 0 }]);
    expect(await callAs(users.other, daemon.service.address, gc)).toMatchObject([{ code: 7 }]);
  });

  it('takes nobody for somebody else when two hundred come at once', async () => {
    const daemon = await startPublicDaemon();
    const homepath = join(temporaryFolder(), 'home');
    mkdirSync(homepath);
    await daemon.call('CreateUserData', { user: users.ada.name, homepath });
    const call = {
      name: 'RemoveUserState',
      request: { userName: users.ada.name, stateName: 'not-there' },
    };
    const ask = (user: { uid: number; gid: number }, connections: number) =>
      callAs(user, daemon.service.address, [call], { connections });
    const [ada, other, root] = await Promise.all([
      ask(users.ada, 50),
      ask(users.other, 50),
      ask(users.root, 100),
    ]);
    // Most come while as many of the same user are in flight as may be, and the refusal says whose.
    const seen = (answers: typeof ada) =>
      new Set(answers.map(({ code, details }) => (code === 8 ? details.split(' ', 2).join(' ') : code)));
    expect([...seen(ada)].filter((one) => one !== 'uid 65534')).toEqual([5]);
    expect([...seen(other)].filter((one) => one !== 'uid 2')).toEqual([7]);
    expect(root.map(({ code }) => code)).toEqual(Array(100).fill(5));
  });

  it('attack: a user who opens more and more connections keeps nobody out', async () => {
    const daemon = await startPublicDaemon();
    const version = [{ name: 'Version', request: {} }];
    const many = await callAs(users.other, daemon.service.address, version, { connections: 100 });
    expect(many.filter(({ code }) => code === 0)).toHaveLength(64);
    expect(many.filter(({ code }) => code === 14)).toHaveLength(36);
    expect(await callAs(users.ada, daemon.service.address, version)).toMatchObject([{ code: 0 }]);
  });

  it('attack: connections that say nothing stop nobody, not even the end', async () => {
    const daemon = await startPublicDaemon();
    const silent = await Promise.all(Array.from({ length: 300 }, () => open(daemon)));
    expect((await daemon.call('Version')).code).toBe(0);
    const began = performance.now();
    await daemon.service.close(0);
    expect(performance.now() - began).toBeLessThan(3000);
    for (const socket of silent) socket.destroy();
  });

  it('attack: connections that are gone before they are looked at leave nothing behind', async () => {
    const daemon = await startPublicDaemon();
    for (let round = 0; round < 5; round++)
      for (const socket of await Promise.all(Array.from({ length: 50 }, () => open(daemon))))
        socket.destroy();
    expect((await daemon.call('Version')).code).toBe(0);
    expect(await callAs(users.other, daemon.service.address, [{ name: 'GC', request: {} }])).toMatchObject([
      { code: 7 },
    ]);
  });
});

it('attack: clients that are gone in the middle of a call harm nobody', async () => {
  const daemon = await startPublicDaemon();
  // A message without fields, as gRPC frames it.
  const message = Buffer.alloc(5);
  const headers = {
    ':method': 'POST',
    ':path': '/statesvc.StateService/Version',
    'content-type': 'application/grpc',
    te: 'trailers',
  };
  const vanish = async (afterMs: number) => {
    const session = connectHttp2('http://localhost', {
      createConnection: () => connect(pathOf(daemon)),
    }).on('error', () => {});
    const stream = session.request(headers).on('error', () => {});
    stream.end(message);
    await sleep(afterMs);
    session.destroy();
  };
  for (let round = 0; round < 8; round++)
    await Promise.all(Array.from({ length: 40 }, (_, at) => vanish(at / 2)));
  expect((await daemon.call('Version')).code).toBe(0);
});

describe('when it cannot be found out who calls', () => {
  const sh = (script: string): LookupProgram => ({ command: 'sh', args: ['-c', script, 'sh'] });

  it.each<[string, readonly LookupProgram[], number]>([
    ['there is no program', [], 3000],
    ['the programs are not installed', [{ command: 'no-such-program', args: [] }], 3000],
    ['the program fails and says root', [sh('echo 0; exit 1')], 3000],
    ['the program says too much', [sh('echo 0; echo 0')], 3000],
    ['the program says nothing', [sh('true')], 3000],
    ['the program says no number', [sh('echo root')], 3000],
    ['the program says a negative one', [sh('echo -1')], 3000],
    ['the program hangs', [sh('exec sleep 60')], 8000],
    ['the program hangs with a child', [sh('sleep 60')], 8000],
  ])('because %s: everybody may read and nobody write', async (_why, programs, within) => {
    const daemon = await startPublicDaemon({ lookupPrograms: programs });
    const before = vaultFacts(daemon.folder);
    const began = performance.now();
    for (const name of ['SaveSystemState', 'SaveUserState', 'GC', 'DaemonStop', 'UpdateLastUsed']) {
      const answer = await daemon.call(name);
      expect([name, answer.code, answer.order]).toEqual([name, 16, []]);
      expect(answer.details).toMatch(/^who calls is not known: this system does not tell/);
      if (within > 3000) break;
    }
    expect(performance.now() - began).toBeLessThan(within);
    expect((await daemon.call('DumpStates')).code).toBe(0);
    expect(vaultFacts(daemon.folder)).toEqual(before);
  });

  it('attack: nor may they open more connections than a user that is known', async () => {
    const daemon = await startPublicDaemon({ lookupPrograms: [] });
    const version = [{ name: 'Version', request: {} }];
    const many = await callAs(users.other, daemon.service.address, version, { connections: 100 });
    expect(many.filter(({ code }) => code === 0).length).toBeLessThanOrEqual(64);
    expect((await callAs(users.root, daemon.service.address, version))[0]?.code).toBe(0);
  });

  it('the next program is asked', async () => {
    const daemon = await startPublicDaemon({ lookupPrograms: [sh('exit 1'), perl] });
    expect((await daemon.call('GC')).code).toBe(0);
  });

  it('a private socket needs nobody to tell: whoever reaches it is its owner or root', async () => {
    const daemon = await startDaemon({ lookupPrograms: [] });
    expect((await daemon.call('GC')).code).toBe(0);
    chmodSync(daemon.folder, 0o711);
    expect(
      await callAs(users.other, daemon.service.address, [{ name: 'Version', request: {} }]),
    ).toMatchObject([{ code: 14 }]);
  });
});
