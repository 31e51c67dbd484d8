import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { authSettings } from '@croft/auth/settings';
import { skipWithout, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfiguration } from '../launcher/configuration.ts';
import type { ServiceName } from '../launcher/registry/index.ts';
import { croft, finish, postmaster, ready, until } from './support/command-line.ts';
import { environment, type Place, placeFor, root, startCroft } from './support/croft.ts';

let base: string;
let dispose: () => Promise<void>;
/** One data folder for the tests that only need some: making a database takes a second. */
let shared: Place;
beforeAll(async () => {
  const folder = await temporaryFolder();
  base = folder.path;
  dispose = async () => await folder[Symbol.asyncDispose]();
  shared = await newPlace();
});
afterAll(() => dispose());

let count = 0;
const newPlace = (env: Record<string, string> = {}) => placeFor(join(base, `data-${count++}`), env);

describe('npm start', () => {
  it('answers, keeps its data to itself, tells the password once and ends with 0', {
    timeout: 150_000,
  }, async () => {
    const place = await newPlace();
    const first = await startCroft(place);
    expect(first.printed).toContain(first.auth);
    expect(first.printed).toContain(first.forge);
    expect(first.printed).toContain(first.socket);
    expect(first.printed).toMatch(/password {2}\S{20}/);
    const modeOf = (name: string) => statSync(join(place.data, name)).mode & 0o777;
    expect([modeOf('.'), modeOf('secrets.json'), modeOf('postgres')]).toEqual([0o700, 0o600, 0o700]);
    const written = () => JSON.parse(readFileSync(join(place.data, 'secrets.json'), 'utf8')) as object;
    await until(() => !('administratorPassword' in written()), 'the shown password was forgotten');
    expect(Object.keys(written())).toEqual(['jwtSecret', 'atRestKey']);
    const secrets = readFileSync(join(place.data, 'secrets.json'));
    expect(await first.stop('SIGTERM')).toBe(0);
    expect(postmaster(place)).toBeUndefined();

    const second = await startCroft(place);
    expect(second.printed).not.toMatch(/password/);
    expect(readFileSync(join(place.data, 'secrets.json'))).toEqual(secrets);
    expect(await second.stop('SIGINT')).toBe(0);
  });

  it('lets a request in flight finish', async () => {
    const place = shared;
    const running = croft(place, ['start', 'auth']);
    await ready(running);
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    const answer = fetch(`http://127.0.0.1:${place.authPort}/token?grant_type=password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body.readable,
      duplex: 'half',
    } as RequestInit);
    await writer.write(Buffer.from('{"email":"nobody@example.test",'));
    await sleep(100);
    running.kill('SIGTERM');
    await sleep(200);
    await writer.write(Buffer.from('"password":"not the password"}'));
    await writer.close();
    expect((await answer).status).toBe(400);
    expect(await once(running, 'exit')).toEqual([0, null]);
  });

  it('starts only what is named', async () => {
    const place = await newPlace();
    const running = croft(place, ['start', 'state']);
    const printed = await ready(running);
    expect(printed).not.toMatch(/auth|forge|password/);
    expect(readdirSync(place.data)).not.toContain('postgres');
    running.kill('SIGINT');
    expect(await once(running, 'exit')).toEqual([0, null]);
  });

  it('ends at once when asked twice', async () => {
    const place = shared;
    const running = croft(place, ['start', 'auth']);
    await ready(running);
    const open = createConnectionThatSendsHalf(place.authPort);
    await sleep(100);
    running.kill('SIGINT');
    await sleep(1000);
    running.kill('SIGINT');
    const asked = Date.now();
    expect(await once(running, 'exit')).toEqual([1, null]);
    expect(Date.now() - asked).toBeLessThan(1000);
    await open;
    await until(() => postmaster(place) === undefined, 'the database had stopped');
  });

  it('gives requests of all services together ten seconds', async () => {
    const place = shared;
    const running = croft(place, ['start', 'auth', 'forge']);
    await ready(running);
    for (const port of [place.authPort, place.forgePort]) {
      const client = connect(port, '127.0.0.1').on('error', () => {});
      // The answer to the first request shows that the server has the beginning of the second.
      client.write('GET / HTTP/1.1\r\nHost: croft\r\n\r\nGET / HTTP/1.1\r\n');
      await once(client, 'data');
    }
    const asked = Date.now();
    running.kill('SIGTERM');
    expect(await once(running, 'exit')).toEqual([0, null]);
    // One after the other each had ten.
    expect(Date.now() - asked).toBeLessThan(18_000);
  });

  it('ends when the bootstrap beside it is killed', async () => {
    const place = await newPlace();
    const older = `--import=data:text/javascript,${encodeURIComponent('delete process.execve')}`;
    const bootstrap = spawn(process.execPath, [join(root, 'bootstrap.js'), 'main.ts', 'start', 'state'], {
      cwd: base,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...environment(place), NODE_OPTIONS: older, LOG_LEVEL: 'error' },
    });
    await ready(bootstrap);
    const pid = Number(readFileSync(join(place.data, 'lock.pid'), 'utf8'));
    expect(pid).not.toBe(bootstrap.pid);
    bootstrap.kill('SIGKILL');
    await until(() => !existsSync(`/proc/${pid}`), 'Croft had ended');
    expect(existsSync(join(place.data, 'state/statesvc.sock'))).toBe(false);
  });

  it('ends with 1 and the reason when the database dies', async () => {
    const place = shared;
    const running = croft(place, ['start', 'auth']);
    await ready(running);
    process.kill(postmaster(place) as number, 'SIGKILL');
    const { code, errors } = await finish(running);
    expect(code).toBe(1);
    expect(errors).toContain('Croft stops: PostgreSQL ended by itself (signal 9)');
  });
});

async function createConnectionThatSendsHalf(port: number): Promise<void> {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{')) });
  await fetch(`http://127.0.0.1:${port}/token?grant_type=password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    duplex: 'half',
  } as RequestInit).catch(() => {});
}

it('an unknown variable is named with the nearest that exists', async () => {
  const place = await newPlace({ STATESVC_SOKET: 'x' });
  const running = croft(place, ['start', 'state']);
  await ready(running);
  running.kill();
  expect((await finish(running)).errors).toContain(
    'STATESVC_SOKET is no setting of Croft; did you mean STATESVC_SOCKET?',
  );
});

it('variables of Croft itself and of services that do not run are known, slips are not', async () => {
  const environment = {
    AUTHSVC_SITE_URL: 'http://a.test',
    AUTHSVC_JWT_SECRET: 'x'.repeat(32),
    CROFT_DATA: '/data',
    CROFT_DTA: '/data',
    CROFT_PARENT_PIPE: '3',
    CROFT_TEST_DATABASE_URL: 'postgresql://x',
    FORGE_HTTP_PORT: '1',
    FORGE_HTTP_PROT: '1',
  };
  expect((await readConfiguration(environment, ['auth'], true)).warnings).toEqual([
    'CROFT_DTA is no setting of Croft; did you mean CROFT_DATA?',
    'FORGE_HTTP_PROT is no setting of Croft; did you mean FORGE_HTTP_PORT?',
  ]);
});

it('PORT is the port of auth, and only when auth is named alone', async () => {
  const authUrl = async (name: ServiceName) =>
    (await readConfiguration({ PORT: '5000' }, [name], true)).authUrl;
  expect([await authUrl('auth'), await authUrl('forge')]).toEqual([
    'http://127.0.0.1:5000',
    'http://127.0.0.1:8081',
  ]);
});

it.each([
  [{}, authSettings.settings.JWT_ADMIN_ROLES.default.split(',')],
  [{ AUTHSVC_JWT_ADMIN_ROLES: 'root' }, ['root']],
])('forge honours the administrators that auth has: %j', async (environment, roles) => {
  expect((await readConfiguration(environment, ['forge'], true)).adminRoles).toEqual(roles);
});

it('standard output on a full disk ends nothing, and the password that nobody saw is shown at the next start', async (context) => {
  if (!existsSync('/dev/full')) skipWithout(context, '/dev/full');
  const place = await newPlace();
  const running = croft(place, ['start', 'auth'], { through: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'] });
  let log = '';
  running.stderr?.on('data', (text: Buffer) => {
    log += String(text);
  });
  await until(() => log.includes('"msg":"ready"') || running.exitCode !== null, 'Croft is ready');
  expect(log).toContain('what a start says could not be written to standard output');
  running.kill();
  expect(await once(running, 'exit')).toEqual([0, null]);
  const again = croft(place, ['start', 'auth']);
  expect(await ready(again)).toContain('The administrator of auth, shown only this once');
  again.kill();
  await once(again, 'exit');
});

it('a log file is for its owner alone', async () => {
  const file = join(base, 'logs/croft.log');
  const running = croft(await newPlace({ LOG_FILE: file }), ['start', 'state']);
  await ready(running);
  running.kill();
  await once(running, 'exit');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('on a database of its own nothing is embedded, and the first run says how an administrator is made', async () => {
  await using database = await testDatabase();
  const place = await newPlace({ DATABASE_URL: database.url });
  const printed = [];
  for (let run = 0; run < 2; run++) {
    const running = croft(place, ['start']);
    printed.push(await ready(running));
    running.kill();
    await once(running, 'exit');
  }
  expect(printed).toEqual([
    expect.stringContaining('npx croft auth admin create-user <email>'),
    expect.not.stringContaining('create-user'),
  ]);
  expect(existsSync(join(place.data, 'postgres'))).toBe(false);
});

it.each([
  ['development', true],
  ['test', true],
  ['production', false],
])('with NODE_ENV=%s the guard of transactions is %s', async (NODE_ENV, guarded) => {
  const probe = `import diagnostics from 'node:diagnostics_channel';
    process.on('exit', () => console.error('guarded', diagnostics.hasSubscribers('child_process')));`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(probe)}`;
  const running = croft(await newPlace({ NODE_ENV, NODE_OPTIONS }), ['start', 'state']);
  await ready(running);
  running.kill();
  expect((await finish(running)).errors).toContain(`guarded ${guarded}`);
});

it('.env in the working directory is read, and the environment wins', async () => {
  const place = await newPlace();
  const folder = join(base, 'with-env');
  mkdirSync(folder);
  writeFileSync(join(folder, '.env'), `CROFT_DATA=${join(folder, 'elsewhere')}\nLOG_LEVEL=loud\n`);
  const { CROFT_DATA: _, ...rest } = environment(place);
  const child = spawn(process.execPath, [join(root, 'main.ts'), 'start', 'state'], {
    cwd: folder,
    env: { ...rest, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(await ready(child)).toContain(join(folder, 'elsewhere'));
  child.kill();
  await once(child, 'exit');
  rmSync(folder, { recursive: true });
});

describe('commands', () => {
  it.each([
    [['--help'], 0],
    [['start', '--help'], 0],
    [['auth', '--help'], 0],
    [['state', '--help'], 0],
    [['--version'], 0],
    [[], 2],
    [['auth'], 2],
    [['auth', 'nonsense'], 2],
    [['start', 'nonsense'], 2],
    [['start', '--nonsense'], 2],
    [['auth', 'admin', 'create-user'], 2],
    [['state', 'nonsense'], 2],
  ])('%j ends with %i and makes nothing', async (words, expected) => {
    const place = await newPlace();
    const { code, out, errors } = await finish(croft(place, words));
    expect({ code, spoke: out + errors !== '' }).toEqual({ code: expected, spoke: true });
    expect(existsSync(place.data)).toBe(false);
  });

  it('migrate tells what it applied, and makes no administrator', async () => {
    const place = await newPlace();
    const first = await finish(croft(place, ['start', 'auth', 'migrate']));
    expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^applied \S+\n/) });
    expect(await finish(croft(place, ['auth', 'migrate']))).toMatchObject({
      code: 0,
      out: 'auth is up to date\n',
    });
    const made = await finish(croft(place, ['auth', 'admin', 'create-user', 'second@example.test']));
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringMatching(/second@example\.test\npassword {2}\S{20}\n/),
    });
    const again = await finish(croft(place, ['auth', 'admin', 'create-user', 'second@example.test']));
    expect(again.out).not.toBe(made.out); // the same account, a new password
  });
});
