import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { canMount, temporaryFolder, withOwnMounts, works } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { croft, finish, type Options, postmaster, ready } from './support/command-line.ts';
import { type Place, placeFor } from './support/croft.ts';

let base: string;
let dispose: () => Promise<void>;
beforeAll(async () => {
  const folder = await temporaryFolder();
  base = folder.path;
  dispose = async () => await folder[Symbol.asyncDispose]();
});
afterAll(() => dispose());

let count = 0;
const newPlace = (env: Record<string, string> = {}) => placeFor(join(base, `data-${count++}`), env);

/** Everything that is there afterwards must have been there before. */
async function refusal(place: Place, words: string[], options: Options = {}): Promise<string> {
  const list = () =>
    existsSync(place.data) ? readdirSync(place.data, { recursive: true }).sort() : 'nothing';
  const before = list();
  const { code, out, errors } = await finish(croft(place, words, options));
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(errors).not.toMatch(/^\s+at /m); // a stack
  expect(list()).toEqual(before);
  return errors;
}

describe('refuses in a sentence and touches nothing', () => {
  it('a data folder that another Croft has', async () => {
    const place = await newPlace();
    const running = croft(place, ['start', 'state']);
    await ready(running);
    expect(await refusal(place, ['start', 'state'])).toMatch(
      new RegExp(`in use by another Croft \\(process ${running.pid}\\)`),
    );
    running.kill();
    await once(running, 'exit');
  });

  it('settings that cannot be read, all of them at once', async () => {
    const place = await newPlace({
      AUTHSVC_JWT_EXP: 'soon',
      FORGE_HTTP_PORT: '70000',
      LOG_LEVEL: 'loud',
      STATESVC_STORAGE: 'tape',
    });
    expect(await refusal(place, ['start'])).toMatch(
      /LOG_LEVEL[^]*AUTHSVC_JWT_EXP[^]*FORGE_HTTP_PORT[^]*STATESVC_STORAGE/,
    );
  });

  it('a port that is none, without a word about the addresses that would be made of it', async () => {
    const place = await newPlace({ AUTHSVC_API_PORT: 'abc', FORGE_HTTP_PORT: '70000' });
    const errors = await refusal(place, ['start', 'auth', 'forge']);
    expect(errors.match(/^ {2}- \w+/gm)).toEqual(['  - AUTHSVC_API_PORT', '  - FORGE_HTTP_PORT']);
  });

  it('what is required and was misspelt, with the name that was meant', async () => {
    const place = await newPlace({
      DATABASE_URL: 'postgresql://nobody:hidden@127.0.0.1:1/none',
      AUTHSVC_JWT_SECRT: 'hidden',
    });
    const errors = await refusal(place, ['start', 'auth']);
    expect(errors).toMatch(/AUTHSVC_JWT_SECRET is required/);
    expect(errors).toMatch(/AUTHSVC_JWT_SECRT is no setting of Croft; did you mean AUTHSVC_JWT_SECRET\?/);
    expect(errors).not.toContain('hidden');
  });

  it('a service on a database of its own without what is required', async () => {
    const place = await newPlace({ DATABASE_URL: 'postgresql://nobody:hidden@127.0.0.1:1/none' });
    expect(await refusal(place, ['start', 'auth'])).toMatch(
      /AUTHSVC_SITE_URL is required[^]*AUTHSVC_JWT_SECRET is required/,
    );
    expect(await refusal(place, ['start', 'forge'])).toMatch(/FORGE_JWT_SECRET is required/);
  });

  it.each([
    ['no git', 'exit 127', /"\S+ --version" fails\./],
    ['an old git', 'echo git version 2.30.2', /needs git 2\.38 or later, and this is git version 2\.30\.2\./],
  ])('%s', async (_what, script, message) => {
    const git = join(base, `git-${count++}`);
    writeFileSync(git, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    expect(await refusal(await newPlace({ FORGE_GIT_COMMAND: git }), ['start', 'forge'])).toMatch(message);
    expect(await refusal(await newPlace({ FORGE_GIT_COMMAND: `${git}-missing` }), ['start'])).toMatch(
      /there is none in .*auth state/,
    );
  });

  it('no git in the folders in which it is looked for', async () => {
    expect(await refusal(await newPlace({ FORGE_GIT_SEARCH_PATH: base }), ['start', 'forge'])).toContain(
      `there is none in ${base}. Install a newer one, name one with FORGE_GIT_COMMAND or its folder with FORGE_GIT_SEARCH_PATH`,
    );
  });

  it('two services at one port', async () => {
    const place = await newPlace({ AUTHSVC_API_PORT: '3000', FORGE_HTTP_PORT: '3000' });
    expect(await refusal(place, ['start'])).toContain(
      'AUTHSVC_API_PORT and FORGE_HTTP_PORT are both 3000: each service needs a port of its own',
    );
  });

  it('a log where nobody can make folders', async () => {
    const place = await newPlace({ LOG_FILE: '/proc/x/croft.log' });
    expect(await finish(croft(place, ['start', 'state']))).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^The log cannot be written: .* Choose another LOG_FILE\.\n$/),
    });
  });

  it('a data folder that is a file', async () => {
    const place = await newPlace();
    writeFileSync(place.data, 'mine');
    const { code, errors } = await finish(croft(place, ['start', 'state']));
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringMatching(/is a file, or below one: choose another/),
    });
    expect(readFileSync(place.data, 'utf8')).toBe('mine');
  });

  const nowhere = ['a link to what is not there', 'below such a link'];
  it.each(process.platform === 'linux' ? [...nowhere, 'where nobody can make folders'] : nowhere)(
    'a data folder that cannot be made: %s',
    async (what) => {
      const place = await newPlace();
      const link = `${place.data}-link`;
      symlinkSync('/mnt/disk-that-is-not-mounted/croft', link);
      if (what.startsWith('where')) place.data = '/proc/croft';
      else place.data = what.startsWith('below') ? join(link, 'data') : link;
      expect(await refusal(place, ['start', 'state'])).toContain(
        `The data folder ${place.data} cannot be made: it, or a folder on the way, is a link to what is not there`,
      );
    },
  );

  it('a folder of other things, which it would close to others', async () => {
    const place = await newPlace();
    mkdirSync(join(place.data, 'lost+found'), { recursive: true });
    writeFileSync(join(place.data, 'letter.txt'), '');
    chmodSync(place.data, 0o755);
    expect(await refusal(place, ['start', 'state'])).toMatch(/holds other things and no Croft/);
    expect(statSync(place.data).mode & 0o777).toBe(0o755);
  });

  it('a folder whose things only sound like ours', async () => {
    const place = await newPlace();
    for (const folder of ['postgres/data', 'repositories/work', 'state'])
      mkdirSync(join(place.data, folder), { recursive: true });
    chmodSync(place.data, 0o755);
    expect(await refusal(place, ['start', 'state'])).toMatch(/holds other things and no Croft/);
    expect(statSync(place.data).mode & 0o777).toBe(0o755);
    expect(readdirSync(place.data).sort()).toEqual(['postgres', 'repositories', 'state']);
  });

  it.each([
    ['auth', 'AUTHSVC_API_HOST'],
    ['forge', 'FORGE_HTTP_HOST'],
  ])('an address that nobody can listen on, before anything is made (%s)', async (service, name) => {
    for (const host of ['a b', 'http://localhost', '[::1]:80', 'localhost:80', '-', '..']) {
      const place = await newPlace({ [name]: host });
      const { code, errors } = await finish(croft(place, ['start', service]));
      expect({ code, errors }).toEqual({
        code: 1,
        errors: expect.stringMatching(new RegExp(`${name}.*expected a host name such as localhost`)),
      });
      expect(existsSync(place.data)).toBe(false);
    }
  });

  it('nothing where a first start was cut off while it wrote its secrets', async () => {
    const place = await newPlace({ LOG_FILE: `/tmp/${'long'.repeat(100)}` });
    mkdirSync(place.data);
    writeFileSync(join(place.data, 'secrets.json.tmp'), '{"jwt');
    const { errors } = await finish(croft(place, ['start', 'state']));
    // It came as far as the log.
    expect(errors).toMatch(/^The log cannot be written/);
    expect(readdirSync(place.data)).not.toContain('secrets.json.tmp');
  });

  it('a database of one service by the name it was given', async () => {
    const place = await newPlace({
      FORGE_DATABASE_URL: 'mysql://127.0.0.1/croft',
      FORGE_JWT_SECRET: 'x'.repeat(40),
    });
    const { errors } = await finish(croft(place, ['start', 'forge']));
    expect(errors).toMatch(/^FORGE_DATABASE_URL is no address/);
    expect(errors).not.toMatch(/(?<!_)DATABASE_URL is no address/);
  });

  it('secrets that are damaged', async () => {
    const place = await newPlace();
    mkdirSync(place.data);
    writeFileSync(join(place.data, 'secrets.json'), '{"jwtSecret":');
    const { code, errors } = await finish(croft(place, ['start', 'state']));
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringMatching(/secrets\.json is damaged.*from a backup/),
    });
    expect(readFileSync(join(place.data, 'secrets.json'), 'utf8')).toBe('{"jwtSecret":');
  });
});

it('a folder that only a task wrote its log to is taken', async () => {
  const place = await newPlace({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' });
  mkdirSync(place.data);
  for (const name of ['croft.log', 'croft.log.1']) writeFileSync(join(place.data, name), 'of a task\n');
  const { errors } = await finish(croft(place, ['start']));
  expect(errors).toMatch(/database/);
  expect(errors).not.toMatch(/holds other things/);
  expect(readFileSync(join(place.data, 'croft.log'), 'utf8')).toMatch(/^of a task\n/);
});

it('a busy port is named, and what was started is stopped', async () => {
  const place = await newPlace();
  const other = createServer().listen(place.forgePort, '127.0.0.1');
  await once(other, 'listening');
  const { code, out, errors } = await finish(croft(place, ['start']));
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(errors).toContain(`127.0.0.1:${place.forgePort} is in use`);
  expect(postmaster(place)).toBeUndefined();
  other.close();
});

it('a database that cannot be reached is named without its password', async () => {
  const place = await newPlace({ DATABASE_URL: 'postgresql://nobody:hidden@127.0.0.1:1/none' });
  const { code, errors } = await finish(croft(place, ['start']));
  expect(code).toBe(1);
  expect(errors).toMatch(/The database at 127\.0\.0\.1:1\/none cannot be used: .*ECONNREFUSED.*DATABASE_URL/);
  expect(errors).not.toContain('hidden');
  expect(readdirSync(place.data)).not.toContain('postgres');
});

it('a database that wants a password, where the address has none', async () => {
  const authentication = (kind: number, text: string) => {
    const message = Buffer.from(`R....\0\0\0${String.fromCharCode(kind)}${text}`, 'latin1');
    message.writeUInt32BE(message.length - 1, 1);
    return message;
  };
  // SCRAM-SHA-256 as far as its first answer.
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (data) => {
        const [, nonce] = /,r=(.+)$/.exec(data.toString('latin1')) ?? [];
        socket.write(
          nonce === undefined
            ? authentication(10, 'SCRAM-SHA-256\0\0')
            : authentication(11, `r=${nonce}x,s=c2FsdA==,i=4096`),
        );
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const place = await newPlace({ DATABASE_URL: `postgresql://nobody@127.0.0.1:${port}/none` });
  const { code, errors } = await finish(croft(place, ['start']));
  server.close();
  expect({ code, errors }).toEqual({
    code: 1,
    errors: expect.stringMatching(/cannot be used: it wants a password\. Write it into the address: /),
  });
});

it.runIf(works('openssl', ['version']))('a database whose certificate nobody knows', async () => {
  const [key, cert] = [join(base, 'key.pem'), join(base, 'cert.pem')];
  const request = [
    'req',
    '-x509',
    '-nodes',
    '-subj',
    '/CN=127.0.0.1',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
  ];
  execFileSync('openssl', [...request, '-newkey', 'rsa:2048', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const pair = { key: readFileSync(key), cert: readFileSync(cert) };
  // Says yes to SSLRequest, and shows its certificate.
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.write('S');
        new TLSSocket(socket, { isServer: true, ...pair }).on('error', () => {});
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `postgresql://nobody:hidden@127.0.0.1:${port}/none?sslmode=verify-full`;
  const { code, errors } = await finish(croft(await newPlace({ DATABASE_URL: url }), ['start']));
  server.close();
  expect(code).toBe(1);
  expect(errors).toMatch(
    /cannot be used: self-signed certificate\. Name the authority .* sslrootcert=<file>/,
  );
});

it('an address of a database that is none is refused with what one through a socket looks like', async () => {
  const place = await newPlace({ DATABASE_URL: 'postgresql://croft:hidden@/croft?host=/run/postgresql' });
  const { code, errors } = await finish(croft(place, ['start']));
  expect({ code, errors }).toEqual({
    code: 1,
    errors: expect.stringContaining('postgresql:///database?host=/run/postgresql&user=user'),
  });
  expect(errors).not.toContain('hidden');
});

it.runIf(canMount()).each([
  ['full', 'forge', 'size=8m,mode=700', /has \d+ MiB left, and Croft does not start with less than 50/],
  ['read-only', 'state', 'ro,mode=700', /is on a read-only file system: choose another folder/],
])('a %s disk is refused', async (_what, service, options, message) => {
  const place = await newPlace();
  mkdirSync(place.data, { mode: 0o700 });
  const through = withOwnMounts(`mount -t tmpfs -o ${options} tmpfs ${place.data}; exec "$@"`);
  expect(await refusal(place, ['start', service], { through })).toMatch(message);
});

it.runIf(canMount())(
  'the state daemon starts on a full disk and removes states from it, for nobody else would make room there',
  { timeout: 150_000 },
  async () => {
    const place = await newPlace();
    const system = `${place.data}-system`;
    for (const folder of [place.data, system]) mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(system, 'large'), randomBytes(4_000_000));
    const through = withOwnMounts(`
      export STATESVC_STORAGE=vault STATESVC_VAULT_SYSTEM=${system}
      mount -t tmpfs -o size=8m,mode=700 tmpfs ${place.data}
      run() { "$@" start state >${place.data}.out & until grep -q 'What next' ${place.data}.out; do sleep 0.1; done; }
      run "$@"
      "$@" state save one
      kill $!; wait
      head -c 20m /dev/zero >${place.data}/filler || true
      rm ${place.data}.out
      run "$@"
      "$@" state remove one --yes
      kill $!; wait
      df --output=avail ${place.data} | tail -1`);
    const { out } = await finish(croft(place, [], { through }));
    // Kilobytes, of the state's four million bytes.
    expect(Number(out.trim().split('\n').at(-1))).toBeGreaterThan(3_000);
  },
);

it.runIf(canMount())(
  'a task beside a running Croft does not mind that its disk is full',
  { timeout: 150_000 },
  async () => {
    const place = await newPlace();
    mkdirSync(place.data, { mode: 0o700 });
    const through = withOwnMounts(`
      mount -t tmpfs -o size=90m,mode=700 tmpfs ${place.data}
      "$@" start state >${place.data}.out &
      until grep -q 'What next' ${place.data}.out; do sleep 0.1; done
      head -c 60m /dev/zero >${place.data}/filler
      "$@" forge doctor || true
      "$@" start state || true
      kill $!
      wait`);
    const { out, errors } = await finish(croft(place, [], { through }));
    expect(out).toBe('');
    // It got as far as the database, which this Croft has none of.
    expect(errors).toMatch(/runs no database of its own[^]*in use by another Croft \(process \d+\)/);
    expect(errors).not.toContain('MiB left, and');
  },
);

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const canBeNobody =
  process.getuid?.() === 0 && works('setpriv', [...nobody.slice(1), process.execPath, '--version']);

it.runIf(canBeNobody)(
  'a folder of another user within the data folder is refused, as after one start with sudo',
  async () => {
    await using entered = await temporaryFolder();
    chmodSync(entered.path, 0o711);
    const place = await placeFor(join(entered.path, 'data'), {});
    mkdirSync(join(place.data, 'state'), { recursive: true });
    writeFileSync(join(place.data, 'forge-id'), '');
    chmodSync(join(place.data, 'state'), 0o700);
    chownSync(place.data, 65534, 65534);
    const { code, out, errors } = await finish(croft(place, ['start', 'state'], { through: nobody }));
    expect({ code, out, errors }).toEqual({
      code: 1,
      out: '',
      errors: `EACCES: permission denied, open '${place.data}/state/lock'. Give it to the user that runs Croft.\n`,
    });
    expect(readdirSync(join(place.data, 'state'))).toEqual([]);
  },
);

it.runIf(canBeNobody)('a data folder below one that this user may not enter is refused', async () => {
  expect(await refusal(await newPlace(), ['start', 'state'], { through: nobody })).toMatch(
    /cannot be used by this user: give it to the user that runs Croft, or choose another/,
  );
});

it('a log that cannot be looked at is refused', async () => {
  const place = await newPlace({ LOG_FILE: `/tmp/${'long'.repeat(100)}` });
  const { code, errors } = await finish(croft(place, ['start', 'state']));
  expect({ code, errors }).toEqual({
    code: 1,
    errors: expect.stringMatching(/^The log cannot be written: .*Choose another LOG_FILE\.\n$/),
  });
});
