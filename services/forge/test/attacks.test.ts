import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  commit,
  type Person,
  pushBranch,
  pushedRepository,
  request,
  SECRET,
  tokenFor,
  useForge,
} from './forge.ts';

const scene = useForge({ environment: { FORGE_GIT_MAX_PUSH_BYTES: '3000000' } });
let ada: Person;
let mallory: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  mallory = scene.person('mallory');
  await mallory.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});
const refs = () => git(bare, 'for-each-ref');

/** Sends a path as it is; fetch would tidy it up. */
function raw(path: string, method = 'GET'): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(scene.address);
    const ask = httpRequest(
      { hostname, port, path, method, headers: { authorization: `Bearer ${ada.token}` } },
      async (answer) => resolve({ status: answer.statusCode ?? 0, body: await text(answer) }),
    );
    ask.on('error', reject);
    ask.end();
  });
}

describe('path traversal', () => {
  it.each([
    '/api/v1/repos/ada/..',
    '/api/v1/repos/../../etc/passwd',
    '/api/v1/repos/ada/%2e%2e%2f1',
    '/api/v1/repos/%2e%2e/%2e%2e/issues',
    '/api/v1/repos/ada/work%2f..%2fwork',
    '/api/v1/repos/ada/1.git',
    '/../repositories/1.git/HEAD',
    '/ada/..%2f1.git/info/refs?service=git-upload-pack',
    '/..%2f..%2f/1/info/refs?service=git-upload-pack',
    '/repositories/1.git/info/refs?service=git-upload-pack',
    '/ada/work%00.git/info/refs?service=git-upload-pack',
    '/ada/work.git/objects/info/packs',
    '/ada/work.git/../../etc/passwd',
  ])('%s finds nothing', async (path) => {
    const { status, body } = await raw(path);
    expect([400, 404]).toContain(status);
    expect(body).not.toContain('root:');
  });

  it('a repository cannot be named into another folder', async () => {
    const before = readdirSync(scene.dataFolder, { recursive: true }).length;
    for (const name of ['../x', '..', 'a/../../x', '%2e%2e', '~root', '.git']) {
      expect((await ada.call('POST', '/user/repos', { name })).status).toBe(422);
    }
    expect(readdirSync(scene.dataFolder, { recursive: true })).toHaveLength(before);
  });
});

describe('options in place of names', () => {
  it.each([
    '--upload-pack=touch /tmp/croft-owned',
    '--output=/tmp/croft-owned',
    '-c',
    '--exec=sh',
    'main --output=x',
  ])('as branch: %s', async (name) => {
    for (const body of [
      { head: name, base: 'main' },
      { head: 'main', base: name },
    ]) {
      expect((await ada.call('POST', '/repos/ada/work/pulls', { ...body, title: 't' })).status).toBe(404);
    }
    expect(existsSync('/tmp/croft-owned')).toBe(false);
  });

  it.each(['git-upload-pack --help', 'git-shell', 'upload-pack', 'git-upload-archive', '--version'])(
    'as service: %s',
    async (service) => {
      const url = `${scene.address}/ada/work/info/refs?service=${encodeURIComponent(service)}`;
      const answer = await request(url, 'GET', undefined, { authorization: `Bearer ${ada.token}` });
      expect(answer.status).toBe(403);
    },
  );

  it('as protocol: nothing but versions reaches the environment of git', async () => {
    const url = `${scene.address}/ada/work/info/refs?service=git-upload-pack`;
    for (const protocol of ['version=2\u00e9', 'version=9', 'x'.repeat(500), 'version=2:$(id)']) {
      const answer = await request(url, 'GET', undefined, {
        authorization: `Bearer ${ada.token}`,
        'git-protocol': protocol,
      });
      expect(answer.text).toMatch(/^001e# service=git-upload-pack/);
    }
  });
});

describe('refs', () => {
  const id = () => git(tree, 'rev-parse', 'main');

  it.each([
    ['a pull request of its own making', 'refs/pull/7/head'],
    ['the ref of a pull request', 'refs/pull/1/head'],
    ['our own namespace', 'refs/croft/x'],
    ['remotes', 'refs/remotes/origin/main'],
    ['a branch that would answer for a missing one', 'refs/heads/refs/heads/ghost'],
    ['replacements of objects', 'refs/replace/0000000000000000000000000000000000000001'],
  ])('cannot be pushed: %s', async (_what, ref) => {
    const before = await refs();
    await expect(git(tree, 'push', '-q', 'origin', `main:${ref}`)).rejects.toThrow(
      /deny updating a hidden ref/,
    );
    expect(await refs()).toBe(before);
  });

  it('the ref of a pull request can be neither moved nor deleted', async () => {
    await pushBranch(tree, 'guarded', { guarded: '1' });
    const { number } = (
      await ada.call('POST', '/repos/ada/work/pulls', { head: 'guarded', base: 'main', title: 't' })
    ).body;
    const before = await refs();
    expect(before).toContain(`refs/pull/${number}/head`);
    await expect(git(tree, 'push', '-q', '-f', 'origin', `main:refs/pull/${number}/head`)).rejects.toThrow(
      'hidden ref',
    );
    await expect(git(tree, 'push', '-q', 'origin', `:refs/pull/${number}/head`)).rejects.toThrow(
      'failed to push',
    );
    expect(await refs()).toBe(before);
  });

  it.each([
    ['a newline', 'refs/heads/a\nb'],
    ['an escape', 'refs/heads/a\u001bb'],
    ['a space', 'refs/heads/a b'],
    ['dots', 'refs/heads/../../x'],
    ['a lock', 'refs/heads/x.lock'],
    ['an absolute path', '/etc/passwd'],
    ['no namespace', 'HEAD'],
  ])('with %s in their name are refused by git itself', async (_what, name) => {
    const before = await refs();
    const command = `${'0'.repeat(40)} ${await id()} ${name}\0 report-status\n`;
    const packet = (command.length + 4).toString(16).padStart(4, '0') + command;
    // An empty pack: the commit is there already.
    const pack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])]);
    const { createHash } = await import('node:crypto');
    const answer = await fetch(`${scene.address}/ada/work.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}` },
      body: Buffer.concat([Buffer.from(`${packet}0000`), pack, createHash('sha1').update(pack).digest()]),
    });
    expect(await answer.text()).not.toContain('ok refs');
    expect(await refs()).toBe(before);
  });
});

describe('packs', () => {
  const push = (body: Buffer | string, headers: Record<string, string> = {}) =>
    fetch(`${scene.address}/ada/work.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, ...headers },
      body,
    });
  const command = `00a8${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/broken\0 report-status side-band-64k agent=x/1 object-format=sha1 `;
  const commands = (() => {
    const line = `${command.slice(4)}\n`;
    return `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`;
  })();

  it.each([
    ['noise', randomBytes(5000)],
    ['a header and nothing more', Buffer.from('PACK\u0000\u0000\u0000\u0002\u0000\u0000\u0000\u0005')],
    [
      'the wrong checksum',
      Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]), randomBytes(20)]),
    ],
  ])('that are corrupt change nothing: %s', async (_what, pack) => {
    const before = [await refs(), await git(bare, 'count-objects', '-v')];
    const answer = await push(Buffer.concat([Buffer.from(commands), pack]));
    expect(await answer.text()).toContain('unpack');
    expect([await refs(), await git(bare, 'count-objects', '-v')]).toEqual(before);
    expect(await git(bare, 'fsck', '--no-dangling')).toBe('');
  });

  it('with a submodule address that is an option are refused', async () => {
    await git(tree, 'checkout', '-q', '-b', 'submodule');
    await commit(
      tree,
      { '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=evil\n' },
      'evil',
    );
    await expect(git(tree, 'push', '-q', 'origin', 'submodule')).rejects.toThrow(/gitmodules/);
    expect(await refs()).not.toContain('submodule');
    await git(tree, 'checkout', '-q', 'main');
  });

  it('with a path that leaves the work tree are refused', async () => {
    const blob = await git(tree, 'hash-object', '-w', 'README.md');
    const { execFileSync } = await import('node:child_process');
    const evil = execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
      cwd: tree,
      input: Buffer.concat([Buffer.from('100644 ..\0'), Buffer.from(blob, 'hex')]),
    });
    const id = await git(tree, 'commit-tree', '-m', 'evil', evil.toString().trim());
    await expect(git(tree, 'push', '-q', 'origin', `${id}:refs/heads/evil`)).rejects.toThrow(
      /fsck|hasDotdot/,
    );
    expect(await refs()).not.toContain('evil');
  });

  it('larger than the limit are refused', async () => {
    await git(tree, 'checkout', '-q', '-b', 'huge');
    await commit(tree, { huge: randomBytes(4_000_000) }, 'huge');
    await expect(git(tree, 'push', '-q', 'origin', 'huge')).rejects.toThrow(/maximum allowed size/);
    expect(await refs()).not.toContain('huge');
    await git(tree, 'checkout', '-q', 'main');
  });

  it('a gzip bomb is cut off: 413', async () => {
    // A conversation git would listen to for ever: 50 MB of the same want, 150 kB on the wire.
    const want = `0032want ${await git(tree, 'rev-parse', 'main')}\n`;
    const bomb = gzipSync(want.repeat(1_000_000));
    expect(bomb.length).toBeLessThan(500_000);
    const answer = await fetch(`${scene.address}/ada/work.git/git-upload-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-encoding': 'gzip' },
      body: bomb,
    });
    expect(answer.status).toBe(413);
    expect((await ada.call('GET', '/user')).status).toBe(200);
  });

  it('what says it is gzip and is not: 422; other encodings too', async () => {
    expect((await push('hello', { 'content-encoding': 'gzip' })).status).toBe(422);
    expect((await push('hello', { 'content-encoding': 'br' })).status).toBe(422);
    expect((await ada.call('GET', '/user')).status).toBe(200);
  });
});

describe('tokens', () => {
  const forged = (header: object, payload: object, secret: string) => {
    const head = [header, payload]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
  };
  const claims = { sub: '99999999-1111-4222-8333-944445555666', role: 'service_role', exp: 4102444800 };

  it.each([
    ['signed with another secret', () => forged({ alg: 'HS256' }, claims, 'x'.repeat(40))],
    ['that expired', () => tokenFor('late', { exp: Math.floor(Date.now() / 1000) - 1 })],
    ['without an end', () => forged({ alg: 'HS256' }, { sub: claims.sub }, SECRET)],
    ['with alg none', () => `${forged({ alg: 'none' }, claims, SECRET).split('.').slice(0, 2).join('.')}.`],
    ['with alg none and a signature', () => forged({ alg: 'none' }, claims, SECRET)],
    ['for a subject that is no user', () => forged({ alg: 'HS256' }, { ...claims, sub: "' or 1=1" }, SECRET)],
  ])('%s are refused everywhere', async (_what, token) => {
    const users = await scene.sql.rows`select count(*) from :schema.users`;
    const authorization = `Bearer ${token()}`;
    const api = await request(`${scene.address}/api/v1/user`, 'GET', undefined, { authorization });
    const url = `${scene.address}/ada/work/info/refs?service=git-receive-pack`;
    const pushing = await request(url, 'GET', undefined, { authorization });
    expect([api.status, pushing.status]).toEqual([401, 401]);
    expect(await scene.sql.rows`select count(*) from :schema.users`).toEqual(users);
  });

  it('a person cannot call himself an admin in what he writes about himself', async () => {
    const liar = scene.person('liar', {
      user_metadata: { user_name: 'liar', is_admin: true, role: 'service_role' },
    });
    expect((await liar.call('GET', '/user')).body['is_admin']).toBe(false);
  });
});

describe('NUL, which PostgreSQL refuses,', () => {
  it('in credentials is 401, from git too', async () => {
    const authorization = `Basic ${Buffer.from('a\0b:c').toString('base64')}`;
    for (const path of ['/api/v1/user', '/ada/work/info/refs?service=git-upload-pack']) {
      expect((await request(scene.address + path, 'GET', undefined, { authorization })).status).toBe(401);
    }
  });

  it.each([
    'pulls?sort=%00',
    'pulls?state=%00&page=%00&limit=%00',
    'issues?q=%00&type=%00&labels=%00',
    'pulls?sort=a%00&sort=b',
  ])('in a parameter counts as absent: %s', async (rest) => {
    expect((await raw(`/api/v1/repos/ada/work/${rest}`)).status).toBe(200);
  });

  it.each([
    'users/%00',
    'repos/%00/work',
    'repos/ada/work%00',
    'repos/ada/work/pulls/1%00',
    'users/%00/tokens',
  ])('in a path names nothing: %s', async (rest) => {
    const { status } = await raw(`/api/v1/${rest}`);
    expect([400, 403, 404]).toContain(status);
  });

  it('in the name of a token names none', async () => {
    expect((await raw('/api/v1/users/ada/tokens/a%00', 'DELETE')).status).toBe(404);
  });
});

describe('private repositories', () => {
  it('cannot be told from missing ones, whatever is tried', async () => {
    await ada.call('POST', '/user/repos', { name: 'vault', private: true, auto_init: true });
    await ada.call('POST', '/repos/ada/vault/issues', { title: 'secret' });
    const probes = [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/issues'],
      ['GET', '/issues/1'],
      ['POST', '/issues', { title: 't' }],
      ['PATCH', '/issues/1', { title: 't' }],
      ['GET', '/pulls'],
      ['POST', '/pulls', { title: 't', head: 'a', base: 'b' }],
      ['GET', '/pulls/1.diff'],
      ['POST', '/pulls/1/merge', {}],
    ] as const;
    for (const [method, path, body] of probes) {
      const hidden = await mallory.call(method, `/repos/ada/vault${path}`, body);
      const missing = await mallory.call(method, `/repos/ada/nowhere${path}`, body);
      expect([hidden.status, hidden.text]).toEqual([404, missing.text]);
    }
    const refsOf = (name: string) =>
      request(`${scene.address}/ada/${name}/info/refs?service=git-receive-pack`, 'GET', undefined, {
        authorization: `Bearer ${mallory.token}`,
      });
    expect((await refsOf('vault')).text).toBe((await refsOf('nowhere')).text);
  });

  it('cannot be used through a pull request of a public one', async () => {
    await mallory.call('POST', '/user/repos', { name: 'bait', auto_init: true });
    const stolen = { head: 'ada:main', base: 'main', title: 't' };
    expect((await mallory.call('POST', '/repos/mallory/bait/pulls', stolen)).status).toBe(404);
  });
});

it('a push to a repository that does not exist makes none', async () => {
  const before = readdirSync(join(scene.dataFolder, 'repositories')).sort();
  await expect(git(tree, 'push', '-q', ada.remote('ada/made-by-push'), 'main')).rejects.toThrow(/not found/);
  expect(readdirSync(join(scene.dataFolder, 'repositories')).sort()).toEqual(before);
});

it('a body that never ends is cut off', async () => {
  const { hostname, port } = new URL(scene.address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `POST /api/v1/user/repos HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const chunk = `10000\r\n${'x'.repeat(65536)}\r\n`;
  for (let sent = 0; sent < 40; sent++) socket.write(chunk);
  const answer = await text(socket).catch(() => '');
  expect(answer).toMatch(/^HTTP\/1\.1 413/);
});

it('keys that would change a prototype are no keys', async () => {
  const { status, body } = await ada.call(
    'POST',
    '/repos/ada/work/issues',
    '{"title":"t","__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
  );
  expect(status).toBe(201);
  expect(body.title).toBe('t');
  expect(({} as Record<string, unknown>)['admin']).toBe(undefined);
});
