import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectPlainly } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { accessTokens } from '@croft/access-token';
import { StartError } from '@croft/runtime';
import { Secret } from '@croft/settings';
import { hasProgram, skipWithout } from '@croft/testing';
import { credentials, makeGenericClientConstructor } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runStateCommand } from '../../src/client/index.ts';
import { operationNames } from '../../src/rpc.ts';
import { type Daemon, startDaemon, temporaryFolder, vaultFacts } from '../daemon.ts';
import { makeCertificate, type Pair } from './certificates.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const READING = ['Version', 'Status', 'MachineList', 'MachineShow', 'DumpStates'];
const tokens = accessTokens(SECRET);
const inAnHour = Math.floor(Date.now() / 1000) + 3600;

/** Requests that change as little as possible when they are let through. */
const words: Record<string, string> = {
  Version: 'version',
  Status: 'status',
  MachineList: 'list',
  MachineShow: 'show',
  DumpStates: 'dump',
  SaveUserState: 'save -u nobody',
  RemoveUserState: 'remove x -u nobody',
  CreateUserData: 'users create .. /x',
  ChangeHomeOnUserData: 'users move /x /y',
  DissociateUser: 'users dissociate x',
  PrepareBoot: 'prepare-boot',
  CommitBoot: 'commit-boot',
  UpdateBootMenu: 'update-menu --auto',
  UpdateLastUsed: 'last-used',
  SaveSystemState: 'save ..',
  RemoveSystemState: 'remove x',
  DaemonStop: 'stop',
  LoggingLevel: 'log-level 1',
  Refresh: 'refresh',
  Trace: 'trace cpu --duration 9999 -o -',
  Reload: 'reload',
  GC: 'gc',
};

let folder: string;
let authority: Pair;
let server: Pair;

beforeEach((context) => {
  if (!hasProgram('openssl')) skipWithout(context, 'openssl');
  folder = temporaryFolder();
  authority = makeCertificate(folder, 'ca', '/CN=the authority');
  server = makeCertificate(folder, 'server', '/CN=localhost', { authority, names: 'DNS:localhost' });
});

function startWithTls(settings: Record<string, string> = {}): Promise<Daemon> {
  return startDaemon({
    onStop: () => {},
    tokens: { secret: new Secret(SECRET), adminRoles: ['service_role'] },
    settings: {
      STATESVC_LISTEN: 'localhost:0',
      STATESVC_TLS_CERT: server.cert,
      STATESVC_TLS_KEY: server.key,
      STATESVC_TLS_CLIENT_CA: authority.cert,
      STATESVC_TLS_ADMINS: 'operator, admin.example, ops@example.com',
      ...settings,
    },
  });
}

const addressOf = (daemon: Daemon) => `localhost:${daemon.service.tcpAddress?.split(':').at(-1)}`;

/** Runs `croft state` against the daemon's TCP address. */
async function run(daemon: Daemon, argv: string, { pair, token }: { pair?: Pair; token?: string } = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const words = [...argv.split(' '), '--address', addressOf(daemon), '--ca', authority.cert];
  if (pair !== undefined) words.push('--cert', pair.cert, '--key', pair.key);
  if (token !== undefined) {
    writeFileSync(join(folder, 'token'), `${token}\n`, { mode: 0o600 });
    words.push('--token', join(folder, 'token'));
  }
  const code = await runStateCommand(words, { socket: '/nonexistent', stdout, stderr });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

/** Makes a call that takes nothing. @returns its gRPC status */
function callStatus(session: ClientHttp2Session, operation: string, metadata = {}): Promise<unknown> {
  const headers = {
    ':method': 'POST',
    ':path': `/statesvc.StateService/${operation}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...metadata,
  };
  const stream = session.request(headers).on('error', () => {});
  stream.resume().end(Buffer.alloc(5));
  return new Promise((resolve) => {
    const tell = (found: object) => 'grpc-status' in found && resolve(found['grpc-status']);
    stream.on('response', tell).on('trailers', tell);
  });
}

const REFUSED = / is for .*administrators: root/;
const UNKNOWN = /who calls is not known: /;

/** Which operations a caller is refused, and with what. */
async function refusals(daemon: Daemon, who: Parameters<typeof run>[2]) {
  const found: Record<string, string[]> = { forbidden: [], unknown: [] };
  const before = { dump: await daemon.dump(), vault: vaultFacts(daemon.folder) };
  for (const name of operationNames) {
    const { code, err } = await run(daemon, words[name] as string, who);
    const kind = REFUSED.test(err) ? 'forbidden' : UNKNOWN.test(err) ? 'unknown' : undefined;
    if (kind === undefined) continue;
    expect([name, code]).toEqual([name, 1]);
    found[kind]?.push(name);
    expect({ dump: await daemon.dump(), vault: vaultFacts(daemon.folder) }).toEqual(before);
  }
  return { forbidden: found['forbidden'], unknown: found['unknown'] };
}

const notReading = operationNames.filter((name) => !READING.includes(name));
const client = (subject: string, names?: string) =>
  makeCertificate(folder, 'client', subject, { authority, ...(names === undefined ? {} : { names }) });
const bearer = (claims: object) => tokens.sign({ exp: inAnHour, ...claims });

describe('over TLS, of every operation,', () => {
  it('the test knows a command for each', () => {
    expect(Object.keys(words).sort()).toEqual([...operationNames].sort());
  });

  it.each<[string, () => Parameters<typeof run>[2], { forbidden: string[]; unknown: string[] }]>([
    [
      'a certificate of an administrator',
      () => ({ pair: client('/CN=operator') }),
      { forbidden: [], unknown: [] },
    ],
    [
      'a token of an administrator',
      () => ({ token: bearer({ role: 'service_role' }) }),
      { forbidden: [], unknown: [] },
    ],
    ['another certificate', () => ({ pair: client('/CN=monitor') }), { forbidden: notReading, unknown: [] }],
    [
      'a token of a user',
      () => ({ token: bearer({ role: 'authenticated', sub: 'root' }) }),
      { forbidden: [...operationNames], unknown: [] },
    ],
    ['nothing', () => ({}), { forbidden: [], unknown: [...operationNames] }],
    [
      'an expired token',
      () => ({ token: tokens.sign({ role: 'service_role', exp: inAnHour - 7200 }) }),
      { forbidden: [], unknown: [...operationNames] },
    ],
    [
      'a certificate of another authority',
      () => {
        const other = makeCertificate(folder, 'other-ca', '/CN=the authority');
        return { pair: makeCertificate(folder, 'client', '/CN=operator', { authority: other }) };
      },
      { forbidden: [], unknown: [...operationNames] },
    ],
  ])('%s may what it may', async (_who, who, expected) => {
    expect(await refusals(await startWithTls(), who())).toEqual(expected);
  });
});

it('health and reflection are for everybody', async () => {
  const daemon = await startWithTls();
  const Client = makeGenericClientConstructor(healthService, 'Health');
  const client = new Client(addressOf(daemon), credentials.createSsl(readFileSync(authority.cert)));
  const check = client['Check'] as unknown as (request: object, done: (...given: unknown[]) => void) => void;
  const answer = await new Promise((resolve) =>
    check.call(client, { service: '' }, (error, found) => resolve(error ?? found)),
  );
  client.close();
  expect(answer).toMatchObject({ status: 'SERVING' });
  const buf = join(import.meta.dirname, '../../../../node_modules/.bin/buf');
  const url = `https://${addressOf(daemon)}`;
  const words = ['curl', '--protocol', 'grpc', '--cacert', authority.cert, '--list-methods', url];
  expect((await promisify(execFile)(buf, words)).stdout).toContain('statesvc.StateService/Version');
});

describe('attack: over TLS', () => {
  it.each<[string, () => Parameters<typeof run>[2], boolean]>([
    [
      'an alternative name of an administrator counts',
      () => ({ pair: client('/CN=x', 'DNS:admin.example') }),
      true,
    ],
    ['so does a mail address', () => ({ pair: client('/CN=x', 'email:ops@example.com') }), true],
    ['two common names, one of them an administrator', () => ({ pair: client('/CN=operator/CN=x') }), false],
    ['the name in the organisation', () => ({ pair: client('/O=operator/CN=x') }), false],
    ['the name within another', () => ({ pair: client('/CN=operator.evil') }), false],
    ['a name with a comma', () => ({ pair: client('/CN=x\\, CN=operator') }), false],
    ['a wildcard for the name', () => ({ pair: client('/CN=x', 'DNS:*.example') }), false],
    ['a mail address of the same host', () => ({ pair: client('/CN=x', 'email:x@example.com') }), false],
    ['an address as the name', () => ({ pair: client('/CN=x', 'URI:operator') }), false],
    [
      'a certificate that signs itself',
      () => ({ pair: makeCertificate(folder, 'self', '/CN=operator') }),
      false,
    ],
    [
      'a token of another secret',
      () => ({ token: accessTokens('x'.repeat(40)).sign({ role: 'service_role', exp: inAnHour }) }),
      false,
    ],
    ['a good certificate with a bad token', () => ({ pair: client('/CN=operator'), token: 'x.y.z' }), false],
  ])('%s', async (_what, who, isAdministrator) => {
    const daemon = await startWithTls();
    const ran = await run(daemon, 'last-used', who());
    expect([ran.code, ran.err]).toEqual(
      isAdministrator
        ? [0, expect.stringContaining('was last used')]
        : [1, expect.stringMatching(/administrators|not known/)],
    );
  });

  it('a client without TLS, with an old TLS, or that never speaks gets nothing and stops nobody', async () => {
    const daemon = await startWithTls();
    const port = Number(addressOf(daemon).split(':')[1]);
    const plain = connectPlainly({ port, host: 'localhost' });
    plain.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    const silent = connectPlainly({ port, host: 'localhost' });
    await new Promise((resolve) => plain.once('close', resolve).once('error', resolve));
    const old = connect({ port, host: 'localhost', ca: readFileSync(authority.cert), maxVersion: 'TLSv1.1' });
    await expect(new Promise((_resolve, reject) => old.once('error', reject))).rejects.toThrow();
    expect((await run(daemon, 'version', { pair: client('/CN=x') })).out).toBe('1.2.3-test\n');
    const began = performance.now();
    await daemon.service.close(0);
    expect(performance.now() - began).toBeLessThan(3000);
    silent.destroy();
  });
});

it('as `npm start` runs it, tokens of auth and its roles of administrators count', async () => {
  const data = join(folder, 'data');
  const daemon = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../../../main.ts'), 'start', 'state'],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        CROFT_DATA: data,
        AUTHSVC_JWT_SECRET: SECRET,
        AUTHSVC_JWT_ADMIN_ROLES: 'boss',
        STATESVC_VAULT_SYSTEM: temporaryFolder(),
        STATESVC_MIN_FREE: '0',
        STATESVC_LISTEN: 'localhost:0',
        STATESVC_TLS_CERT: server.cert,
        STATESVC_TLS_KEY: server.key,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const ended = once(daemon, 'exit');
  onTestFinished(async () => {
    daemon.kill('SIGTERM');
    await ended;
  });
  let tcpAddress: string | undefined;
  for await (const line of createInterface({ input: daemon.stderr })) {
    tcpAddress = (JSON.parse(line) as { tcp?: string }).tcp;
    if (tcpAddress !== undefined) break;
  }
  daemon.stderr.resume();
  const running = { service: { tcpAddress } } as unknown as Daemon;
  expect(await run(running, 'last-used', { token: bearer({ role: 'boss' }) })).toMatchObject({ code: 0 });
  const { code, err } = await run(running, 'last-used', { token: bearer({ role: 'service_role' }) });
  expect([code, err]).toEqual([1, expect.stringMatching(REFUSED)]);
});

describe('the client', () => {
  it('does not speak to a daemon that its authority does not vouch for', async () => {
    const daemon = await startWithTls();
    const own = authority;
    authority = makeCertificate(folder, 'stranger', '/CN=stranger');
    const { code, err } = await run(daemon, 'version', { token: bearer({ role: 'service_role' }) });
    expect([code, err]).toEqual([1, expect.stringMatching(/does not answer at localhost:\d+, or not with/)]);
    authority = own;
  });

  it('says what to look at when the name of a machine is wrong', async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const argv = ['list', '--address', 'nowhere.invalid:7070'];
    expect(await runStateCommand(argv, { socket: '/nonexistent', stdout, stderr })).toBe(1);
    expect(String(stderr.read())).toMatch(
      /does not answer at nowhere\.invalid:7070.* whether the name is right/,
    );
  });

  it.each([
    ['list --ca x', 2, '--ca goes with --address'],
    ['list --token x', 2, '--token goes with --address'],
    ['list --address nowhere', 2, '--address is host:port'],
    ['list --address localhost:1 --cert x', 2, '--cert and --key go together'],
    ['list --address localhost:1 --token /nonexistent/token', 1, '/nonexistent/token cannot be read'],
    ['restore x /nonexistent/y --address localhost:1', 2, 'restore reads states where they lie'],
  ])('%s is refused with %i', async (argv, code, message) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    expect(await runStateCommand(argv.split(' '), { socket: '/nonexistent', stdout, stderr })).toBe(code);
    expect(String(stderr.read())).toContain(message);
  });
});

describe('certificates', () => {
  it('are read again at Reload, for new connections; wrong ones leave the old in force', async () => {
    const daemon = await startWithTls();
    const serial = async () => {
      const socket = connect({
        port: Number(addressOf(daemon).split(':')[1]),
        host: 'localhost',
        ca: readFileSync(authority.cert),
        ALPNProtocols: ['h2'],
      });
      await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };
    const before = await serial();
    writeFileSync(server.cert, 'no certificate');
    expect(await daemon.call('Reload')).toMatchObject({
      code: 3,
      details: expect.stringContaining('certificate and key'),
    });
    expect(await serial()).toBe(before);
    const renewed = makeCertificate(folder, 'renewed', '/CN=localhost', {
      authority,
      names: 'DNS:localhost',
    });
    copyFileSync(renewed.cert, server.cert);
    copyFileSync(renewed.key, server.key);
    expect((await daemon.call('Reload')).code).toBe(0);
    expect(await serial()).not.toBe(before);
    expect((await run(daemon, 'version', { pair: client('/CN=x') })).code).toBe(0);
  });
});

it('at Reload with another authority, connections that the old one vouched for lose their rights', async () => {
  const daemon = await startWithTls();
  const pair = client('/CN=operator');
  const session = connectHttp2(`https://${addressOf(daemon)}`, {
    ca: readFileSync(authority.cert),
    cert: readFileSync(pair.cert),
    key: readFileSync(pair.key),
  }).on('error', () => {});
  onTestFinished(() => session.destroy());
  const lastUsed = () => callStatus(session, 'UpdateLastUsed');
  expect(await lastUsed()).toBe('0');
  expect((await daemon.call('Reload')).code).toBe(0);
  await sleep(700);
  expect(await lastUsed()).toBe('0');
  copyFileSync(makeCertificate(folder, 'new-ca', '/CN=the authority').cert, authority.cert);
  expect((await daemon.call('Reload')).code).toBe(0);
  const before = { dump: await daemon.dump(), vault: vaultFacts(daemon.folder) };
  expect(await lastUsed()).toBe('16');
  await vi.waitFor(() => expect(session.destroyed).toBe(true), 40_000);
  expect({ dump: await daemon.dump(), vault: vaultFacts(daemon.folder) }).toEqual(before);
});

it('attack: connections that show nothing keep out neither a certificate nor a token', async () => {
  const daemon = await startWithTls();
  const port = Number(addressOf(daemon).split(':')[1]);
  const idle = Array.from({ length: 300 }, () =>
    connectPlainly({ port, host: 'localhost' }).on('error', () => {}),
  );
  const strangers = Array.from({ length: 300 }, () =>
    connect({ port, host: 'localhost', ca: readFileSync(authority.cert), ALPNProtocols: ['h2'] }).on(
      'error',
      () => {},
    ),
  );
  onTestFinished(() => {
    for (const socket of [...idle, ...strangers]) socket.destroy();
  });
  // Whoever does not read does not notice that he was closed.
  for (const socket of [...idle, ...strangers]) socket.resume();
  await vi.waitFor(
    () => expect([...idle, ...strangers].filter(({ closed }) => !closed).length).toBeLessThanOrEqual(64),
    20_000,
  );
  expect((await run(daemon, 'version', { pair: client('/CN=x') })).code).toBe(0);
  expect((await run(daemon, 'last-used', { token: bearer({ role: 'service_role' }) })).code).toBe(0);
});

it('attack: tokens of users, who may do nothing here, keep nobody out either', async () => {
  const daemon = await startWithTls();
  const before = { dump: await daemon.dump(), vault: vaultFacts(daemon.folder) };
  const ask = async (authorization: string) => {
    const session = connectHttp2(`https://${addressOf(daemon)}`, { ca: readFileSync(authority.cert) });
    onTestFinished(() => session.destroy());
    const status = callStatus(
      session.on('error', () => {}),
      'UpdateLastUsed',
      { authorization },
    );
    return { session, status: await status };
  };
  // Whoever signs up with auth has as many of them as he likes.
  const asked: Awaited<ReturnType<typeof ask>>[] = [];
  for (let user = 0; user < 80; user++)
    asked.push(await ask(`Bearer ${bearer({ role: 'authenticated', sub: `user-${user}` })}`));
  expect(new Set(asked.map(({ status }) => status))).toEqual(new Set(['7']));
  await vi.waitFor(
    () => expect(asked.filter(({ session }) => !session.destroyed).length).toBeLessThanOrEqual(64),
    5000,
  );
  expect({ dump: await daemon.dump(), vault: vaultFacts(daemon.folder) }).toEqual(before);
});

describe('starting with LISTEN is refused', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    ['without a certificate', { STATESVC_TLS_CERT: '' }, /needs STATESVC_TLS_CERT and STATESVC_TLS_KEY/],
    ['without a key', { STATESVC_TLS_KEY: '' }, /needs STATESVC_TLS_CERT and STATESVC_TLS_KEY/],
    ['with a file that is not there', { STATESVC_TLS_KEY: '/nonexistent/key' }, /STATESVC_TLS_KEY: ENOENT/],
    ['with a key that is none', { STATESVC_TLS_KEY: '/etc/hostname' }, /cannot be used together/],
    ['with keys of tokens that are none', { STATESVC_JWT_KEYS: '{}' }, /STATESVC_JWT_KEYS/],
    ['without a port', { STATESVC_LISTEN: 'localhost' }, /STATESVC_LISTEN: expected host:port/],
    ['with a port too far', { STATESVC_LISTEN: 'localhost:70000' }, /STATESVC_LISTEN: expected host:port/],
  ])('%s', async (_what, settings, message) => {
    await expect(startWithTls(settings)).rejects.toThrow(message);
  });

  it('where somebody else listens', async () => {
    const at = addressOf(await startWithTls());
    await expect(startWithTls({ STATESVC_LISTEN: at })).rejects.toThrow(`cannot listen on ${at}`);
  });

  it('when nobody could be let in', async () => {
    const settings = {
      STATESVC_LISTEN: 'localhost:0',
      STATESVC_TLS_CERT: server.cert,
      STATESVC_TLS_KEY: server.key,
    };
    await expect(startDaemon({ settings })).rejects.toThrow(StartError);
    await expect(startDaemon({ settings })).rejects.toThrow('nobody could be let in');
  });
});
