import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import { git, mountSmallDisk } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, request, useForge } from './forge.ts';

const MAX_PUSH_BYTES = 8 * 1024 * 1024;
const scene = useForge({
  environment: { FORGE_GIT_IDLE_TIMEOUT: '3s', FORGE_GIT_MAX_PUSH_BYTES: String(MAX_PUSH_BYTES) },
});
const NONE = '0'.repeat(40);
let ada: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});

const packet = (text: string) => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;

/** The files of the repository, to see that nothing stays of what was refused. */
const files = async () => (await readdir(bare, { recursive: true })).sort();

/** A push by hand: commands, then whatever is to be the pack. */
function pushBytes(commands: readonly string[], pack: Buffer, capabilities = 'report-status side-band-64k') {
  const lines = commands.map((line, index) => packet(index === 0 ? `${line}\0${capabilities}` : line));
  return fetch(`${scene.address}/ada/work.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ada.token}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: Buffer.concat([Buffer.from(`${lines.join('')}0000`), pack]),
  });
}

/** A push by hand that is refused somehow, of which nothing stays, and after which the forge serves on. */
async function refused(commands: readonly string[], pack: Buffer, message?: RegExp): Promise<void> {
  const before = await files();
  const answer = await pushBytes(commands, pack);
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  if (answer.status === 200) expect(text).toMatch(message ?? /ng refs\/heads\/x/);
  else expect([413, 422]).toContain(answer.status);
  expect(await files()).toEqual(before);
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  expect((await ada.call('GET', '/repos/ada/work')).status).toBe(200);
}

/** A pack of objects as they are given: the type's number, the size it claims, and what follows the header. */
function packOf(...objects: { type: number; size: number; body: Buffer }[]): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  head.writeUInt32BE(objects.length, 8);
  const parts = objects.map(({ type, size, body }) => {
    const bytes = [(type << 4) | (size & 15)];
    for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
      bytes[bytes.length - 1] = (bytes.at(-1) as number) | 128;
      bytes.push(rest % 128);
    }
    return Buffer.concat([Buffer.from(bytes), body]);
  });
  const all = Buffer.concat([head, ...parts]);
  return Buffer.concat([all, createHash('sha1').update(all).digest()]);
}

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];

describe('hostile packs', () => {
  const command = `${NONE} ${'1'.repeat(40)} refs/heads/x`;

  it.each([
    ['no pack at all', Buffer.alloc(0)],
    ['noise', randomBytes(1000)],
    ['a pack of nothing', packOf()],
    [
      'a pack that counts more than it has',
      (() => {
        const pack = packOf();
        pack.writeUInt32BE(4_000_000_000, 8);
        return pack;
      })(),
    ],
    [
      'an object that claims to be larger than it is',
      packOf({ type: 3, size: 2 ** 40, body: deflateSync('x') }),
    ],
    [
      'a delta of an object that is not there',
      packOf({
        type: 7,
        size: 3,
        body: Buffer.concat([Buffer.alloc(20, 7), deflateSync(Buffer.from([1, 1, 0]))]),
      }),
    ],
  ])('%s', async (_name, pack) => {
    await refused([command], pack);
  });

  it('a broken-off pack', async () => {
    await commit(tree, { 'half.bin': randomBytes(100_000) }, 'half');
    const id = await git(tree, 'rev-parse', 'HEAD');
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', `printf '%s\\n^%s\\n' ${id} ${id}^ | git pack-objects --revs --stdout -q`],
      { cwd: tree, encoding: 'buffer' },
    );
    await refused([`${NONE} ${id} refs/heads/x`], stdout.subarray(0, 50_000));
    const flipped = Buffer.from(stdout);
    flipped[60_000] = (flipped[60_000] as number) ^ 255;
    await refused([`${NONE} ${id} refs/heads/x`], flipped);
  });

  it('a few bytes that unfold to gigabytes', async () => {
    const base = Buffer.alloc(1024 * 1024, 'a');
    const id = createHash('sha1').update(`blob ${base.length}\0`).update(base).digest();
    const copies = 6 * 1024;
    // Copy from 0, a megabyte: 0x10 as the third byte of the size.
    const copy = Buffer.from([0x80 | 0x40, 0x10]);
    const delta = Buffer.concat([
      Buffer.from([...varint(base.length), ...varint(base.length * copies)]),
      ...Array.from({ length: copies }, () => copy),
    ]);
    const bomb = packOf(
      { type: 3, size: base.length, body: deflateSync(base) },
      { type: 7, size: delta.length, body: Buffer.concat([id, deflateSync(delta)]) },
    );
    expect(bomb.length).toBeLessThan(20_000);
    await refused([command], bomb);
  });

  it('trees with .git in them, which git of others would follow', async () => {
    const blob = await git(tree, 'rev-parse', 'HEAD:README.md');
    for (const name of ['.git', '.GIT', '.git ', 'git~1', '..']) {
      const raw = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]);
      const file = join(scene.folder, 'tree');
      await writeFile(file, raw);
      const bad = await git(tree, 'hash-object', '-t', 'tree', '--literally', '-w', file);
      const made = await git(tree, 'commit-tree', '-m', name, '-p', 'HEAD', bad);
      const before = await files();
      await expect(git(tree, 'push', 'origin', `${made}:refs/heads/dotgit`)).rejects.toThrow(/rejected/);
      expect(await files()).toEqual(before);
    }
  });

  it.each([
    'refs/heads/a..b',
    'refs/heads/../../config',
    'refs/heads/-x y',
    'refs/heads/x.lock',
    'refs/heads/',
    'HEAD',
    'config',
    'refs/heads/\\',
  ])('the ref %s', async (ref) => {
    const id = await git(bare, 'rev-parse', 'main');
    const before = await files();
    const answer = await pushBytes([`${NONE} ${id} ${ref}`], packOf());
    const text = await answer.text();
    if (answer.status === 200) expect(text).toContain('ng ');
    else expect(answer.status).toBe(422);
    expect(await files()).toEqual(before);
  });

  it('requests that are none', async () => {
    const id = await git(bare, 'rev-parse', 'main');
    // No text: it would come back as another name.
    const bytes = Buffer.from(`${packet(`${NONE} ${id} refs/heads/??`)}0000`);
    bytes.fill(255, bytes.indexOf('?'), bytes.indexOf('?') + 2);
    for (const body of [
      bytes,
      '',
      '0',
      '0003',
      'zzzz',
      '00a0',
      `${packet('hello')}0000`,
      `${packet(`${NONE} x refs/heads/x`)}0000`,
    ]) {
      const answer = await fetch(`${scene.address}/ada/work.git/git-receive-pack`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.token}` },
        body,
      });
      expect({ body, status: answer.status }).toEqual({ body, status: 422 });
    }
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });

  it('a pack over the limit', async () => {
    const source = await pushedRepository(ada, 'limit', scene.folder);
    const before = await git(await scene.bare('ada', 'limit'), 'rev-parse', 'main');
    await commit(source, { 'too-large.bin': randomBytes(MAX_PUSH_BYTES + 1000) }, 'too large');
    await expect(git(source, 'push', 'origin', 'main')).rejects.toThrow(/exceeds maximum|413|unpack/);
    expect(await git(await scene.bare('ada', 'limit'), 'rev-parse', 'main')).toBe(before);
    expect(await git(await scene.bare('ada', 'limit'), 'count-objects', '-v')).toMatch(/garbage: 0/);
  });
});

describe('a client that falls asleep', () => {
  /** Sends the beginning of a request and then nothing; gives the status, or that the connection was cut. */
  const asleep = (service: string, start: string) =>
    new Promise<number | 'cut'>((resolve) => {
      const url = new URL(`${scene.address}/ada/work.git/${service}`);
      const call = httpRequest(
        url,
        { method: 'POST', headers: { authorization: `Bearer ${ada.token}` } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        },
      );
      call.on('error', () => resolve('cut'));
      call.write(start);
    });

  it('before it has said what it wants, and in the middle of it, is let go', async () => {
    const begun = Date.now();
    const command = packet(`${NONE} ${'1'.repeat(40)} refs/heads/x\0report-status`);
    const outcomes = await Promise.all([
      asleep('git-receive-pack', '00'),
      asleep('git-receive-pack', `${command}0000PACK`),
      asleep('git-upload-pack', '0032want '),
    ]);
    expect(outcomes.every((one) => one === 'cut' || one === 200 || one >= 400)).toBe(true);
    expect(Date.now() - begun).toBeLessThan(20_000);
    await expect.poll(() => scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });
});

describe('what clients find out', () => {
  it('Git LFS is not served, and says so', async () => {
    const url = `${scene.address}/ada/work.git/info/lfs/objects/batch`;
    const answer = await request(url, 'POST', { operation: 'upload', objects: [] });
    expect(answer.status).toBe(501);
    expect(answer.headers.get('content-type')).toContain('application/vnd.git-lfs+json');
    expect((JSON.parse(answer.text) as { message: string }).message).toMatch(/does not keep Git LFS/);
    const hidden = await request(url.replace('work', 'none'), 'POST', {});
    expect(hidden.text).toBe(answer.text);
  });

  it('pointers of Git LFS are files like others', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 1\n`;
    const id = await commit(tree, { 'big.psd': pointer }, 'pointer');
    await git(tree, 'push', '-q', 'origin', 'main');
    expect(await git(bare, 'rev-parse', 'main')).toBe(id);
  });

  it('an id alone gives nothing: only what a ref leads to is served', async () => {
    const secret = await commit(tree, { 'oops.txt': 'a password' }, 'oops');
    await git(tree, 'push', '-q', 'origin', 'main:oops');
    await git(tree, 'push', '-q', 'origin', ':oops');
    await git(tree, 'reset', '-q', '--hard', 'HEAD~1');
    const clone = join(scene.folder, 'by-id');
    await git(scene.folder, 'clone', '-q', ada.remote('ada/work'), clone);
    for (const version of [0, 1, 2]) {
      const fetched = git(clone, '-c', `protocol.version=${version}`, 'fetch', 'origin', secret);
      await expect(fetched).rejects.toThrow(/not our ref|unadvertised object/);
    }
    // What never was there looks the same.
    await expect(git(clone, 'fetch', 'origin', '1'.repeat(40))).rejects.toThrow('not our ref');
    await expect(git(clone, 'cat-file', '-e', secret)).rejects.toThrow();
    // What a branch leads to, though no branch points there, is anybody's.
    const old = await git(bare, 'rev-parse', 'main~1');
    const fresh = join(scene.folder, 'by-old-id');
    await git(scene.folder, 'init', '-q', fresh);
    await git(fresh, 'fetch', '-q', ada.remote('ada/work'), old);
    expect(await git(fresh, 'rev-parse', 'FETCH_HEAD')).toBe(old);
  });

  it('shallow clones deepen, and push', async () => {
    for (const round of [1, 2, 3]) await commit(tree, { 'deep.txt': `${round}` }, `deep ${round}`);
    await git(tree, 'push', '-q', 'origin', 'main');
    const clone = join(scene.folder, 'shallow-deep');
    await git(scene.folder, 'clone', '-q', '--depth=1', ada.remote('ada/work'), clone);
    expect(await git(clone, 'rev-list', '--count', 'HEAD')).toBe('1');
    await git(clone, 'fetch', '-q', '--deepen=1');
    expect(await git(clone, 'rev-list', '--count', 'HEAD')).toBe('2');
    const id = await commit(clone, { 'shallow.txt': 'x' }, 'from a shallow clone');
    await git(clone, 'push', '-q', 'origin', 'HEAD:refs/heads/from-shallow');
    expect(await git(bare, 'rev-parse', 'from-shallow')).toBe(id);
    await git(clone, 'fetch', '-q', '--unshallow');
    expect(await git(clone, 'rev-list', '--count', 'HEAD')).toBe(
      await git(bare, 'rev-list', '--count', 'from-shallow'),
    );
  });

  it('partial clones fetch what they miss when they need it', async () => {
    const clone = join(scene.folder, 'partial-later');
    await git(
      scene.folder,
      'clone',
      '-q',
      '--no-checkout',
      '--filter=blob:none',
      ada.remote('ada/work'),
      clone,
    );
    expect(await git(clone, 'rev-list', '--objects', '--missing=print', 'HEAD')).toMatch(/^\?/m);
    expect(await git(clone, 'show', 'HEAD:README.md')).toBe('# work');
  });
});

describe('a repository that goes away', () => {
  it('during a push leaves nothing, and the client with an error', async () => {
    const source = await pushedRepository(ada, 'doomed', scene.folder);
    const doomed = await scene.bare('ada', 'doomed');
    await commit(source, { 'noise.bin': randomBytes(6_000_000) }, 'noise');
    const pushing = git(source, 'push', 'origin', 'main').then(
      () => 'pushed',
      () => 'failed',
    );
    await sleep(150);
    expect((await ada.call('DELETE', '/repos/ada/doomed')).status).toBe(204);
    await pushing;
    await expect.poll(() => readdir(doomed).catch(() => 'gone')).toBe('gone');
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
    expect((await ada.call('GET', '/repos/ada/doomed')).status).toBe(404);
    await expect(git(source, 'push', 'origin', 'main')).rejects.toThrow(/not found/);
  });
});

it('a push that puts a branch in the place of a folder of branches is recorded', async () => {
  await git(tree, 'push', '-q', 'origin', 'main:refs/heads/nest/deep/one');
  await git(tree, 'push', '-q', 'origin', ':refs/heads/nest/deep/one', 'main:refs/heads/nest');
  expect(await git(bare, 'for-each-ref', '--format=%(refname)', 'refs/heads/nest')).toBe('refs/heads/nest');
  await expect.poll(() => scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  await git(tree, 'push', '-q', 'origin', ':refs/heads/nest');
});

describe('a full disk', () => {
  const repositories = () => join(scene.dataFolder, 'repositories');

  it('refuses a push, keeps nothing of it, and serves on', async (context) => {
    await using _disk = await mountSmallDisk(context, repositories(), '6m');
    const source = await pushedRepository(ada, 'full', scene.folder);
    const full = await scene.bare('ada', 'full');
    const before = await git(full, 'rev-parse', 'main');
    await commit(source, { 'noise.bin': randomBytes(7_000_000) }, 'noise');
    await expect(git(source, 'push', 'origin', 'main')).rejects.toThrow(/rejected|unpack|No space/);
    expect(await git(full, 'rev-parse', 'main')).toBe(before);
    expect(await git(full, 'fsck', '--strict', '--no-dangling')).toBe('');
    expect(await git(full, 'count-objects', '-v')).toMatch(/garbage: 0/);
    await git(source, 'reset', '-q', '--hard', 'HEAD~1');
    const small = await commit(source, { 'small.txt': 'small' }, 'small');
    await git(source, 'push', '-q', 'origin', 'main');
    expect(await git(full, 'rev-parse', 'main')).toBe(small);
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });

  it('refuses what is written over HTTP with the reason and when to come back, and keeps nothing of it', async (context) => {
    await using _disk = await mountSmallDisk(context, repositories(), '4m');
    const bob = scene.person('bob');
    const at = '/repos/ada/brimful';
    await ada.call('POST', '/user/repos', { name: 'brimful', auto_init: true });
    const topic = { content: 'dG9waWM=', message: 'topic', new_branch: 'topic' };
    await ada.call('POST', `${at}/contents/topic`, topic);
    await ada.call('POST', `${at}/contents/other`, { content: 'b3RoZXI=', message: 'other' });
    await ada.call('POST', `${at}/pulls`, { title: 'One', head: 'topic', base: 'main' });
    const bare = await scene.bare('ada', 'brimful');
    const before = await git(bare, 'for-each-ref');
    const filler = join(repositories(), 'filler');
    await writeFile(filler, Buffer.alloc(5_000_000)).catch(() => {});
    const noise = { content: randomBytes(100_000).toString('base64'), message: 'noise' };
    const writes = [
      [ada, '/user/repos', { name: 'one-more', auto_init: true }],
      [ada, `${at}/contents/noise`, noise],
      [ada, `${at}/branches`, { new_branch_name: 'more', old_branch_name: 'topic' }],
      [bob, `${at}/forks`, { name: 'fork-of-it' }],
      [ada, `${at}/pulls/1/merge`, { Do: 'merge' }],
    ] as const;
    for (const [person, path, body] of writes) {
      const answer = await person.call('POST', path, body);
      expect([path, answer.status, answer.body.message]).toEqual([path, 503, 'there is no space left']);
      expect(answer.headers.get('retry-after')).toBe('600');
    }
    expect(await git(bare, 'for-each-ref')).toBe(before);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
    for (const path of ['/repos/ada/one-more', '/repos/bob/fork-of-it', `${at}/pulls/1/merge`])
      expect((await ada.call('GET', path)).status).toBe(404);
    // Once there is room all of it goes.
    await rm(filler);
    for (const [person, path, body] of writes)
      expect([path, (await person.call('POST', path, body)).status]).toEqual([
        path,
        expect.toBeOneOf([200, 201, 202]),
      ]);
  });
});
