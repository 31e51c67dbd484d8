import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, personWith, pushedRepository, request, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'shared', scene.folder);
});

const head = (folder: string) => git(folder, 'rev-parse', 'HEAD');
const plain = (person: Person, repository: string) => person.remote(repository).replace(/\.git$/, '');

describe('the first push', () => {
  it('makes the repository no longer empty', async () => {
    const { body } = await ada.call('GET', '/repos/ada/shared');
    expect(body).toMatchObject({ empty: false, default_branch: 'main' });
  });

  it('decides the default branch when it does not bring the intended one', async () => {
    await ada.call('POST', '/user/repos', { name: 'odd' });
    await git(tree, 'push', '-q', ada.remote('ada/odd'), 'main:refs/heads/develop');
    expect((await ada.call('GET', '/repos/ada/odd')).body).toMatchObject({
      empty: false,
      default_branch: 'develop',
    });
    expect(await git(await scene.bare('ada', 'odd'), 'symbolic-ref', 'HEAD')).toBe('refs/heads/develop');
    await git(scene.folder, 'clone', '-q', ada.remote('ada/odd'), 'odd');
    expect(await head(join(scene.folder, 'odd'))).toBe(await head(tree));
  });

  it('of tags alone leaves it empty', async () => {
    await ada.call('POST', '/user/repos', { name: 'tags' });
    await git(tree, 'push', '-q', ada.remote('ada/tags'), 'main:refs/tags/v1');
    expect((await ada.call('GET', '/repos/ada/tags')).body).toMatchObject({
      empty: true,
      default_branch: 'main',
    });
  });
});

describe('clone and fetch', () => {
  it.each(['0', '1', '2'])('work with version %s of the protocol', async (version) => {
    const clone = join(scene.folder, `clone-v${version}`);
    await git(
      scene.folder,
      '-c',
      `protocol.version=${version}`,
      'clone',
      '-q',
      ada.remote('ada/shared'),
      clone,
    );
    expect(await head(clone)).toBe(await head(tree));
    await commit(tree, { 'more.txt': `for ${version}` }, `more for ${version}`);
    await git(tree, 'push', '-q', 'origin', 'main');
    await git(clone, '-c', `protocol.version=${version}`, 'pull', '-q');
    expect(await head(clone)).toBe(await head(tree));
  });

  it('work without `.git`, with other case, shallow and partial', async () => {
    for (const [name, ...options] of [
      ['no-suffix'],
      ['shallow', '--depth=1'],
      ['partial', '--filter=blob:none'],
    ]) {
      const clone = join(scene.folder, name as string);
      await git(scene.folder, 'clone', '-q', ...options, plain(ada, 'ADA/Shared'), clone);
      expect(await head(clone)).toBe(await head(tree));
      expect(await git(clone, 'status', '--porcelain')).toBe('');
    }
  });

  it('version 2 is really spoken when it is asked for', async () => {
    const url = `${scene.address}/ada/shared/info/refs?service=git-upload-pack`;
    const authorization = `Bearer ${ada.token}`;
    const two = await request(url, 'GET', undefined, { authorization, 'git-protocol': 'version=2' });
    expect(two.text).toMatch(/^000eversion 2\n/);
    const zero = await request(url, 'GET', undefined, { authorization });
    expect(zero.text).toMatch(/^001e# service=git-upload-pack\n0000/);
    expect(zero.headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement');
    expect(zero.headers.get('cache-control')).toContain('no-cache');
  });

  it('read a gzip body, which git sends for long negotiations', async () => {
    const wanted = await head(tree);
    const body = gzipSync(Buffer.from(`0032want ${wanted}\n00000009done\n`));
    const answer = await fetch(`${scene.address}/ada/shared.git/git-upload-pack`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ada.token}`,
        'content-type': 'application/x-git-upload-pack-request',
        'content-encoding': 'gzip',
      },
      body,
    });
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).toString('latin1')).toMatch(/^0008NAK\nPACK/);
  });
});

describe('push', () => {
  it('carries 10 MB there and back', async () => {
    const large = randomBytes(10 * 1024 * 1024);
    const source = await pushedRepository(ada, 'large', scene.folder);
    const pushed = await commit(source, { 'large.bin': large }, 'large');
    await git(source, 'push', '-q', 'origin', 'main');
    const clone = join(scene.folder, 'large-clone');
    await git(scene.folder, 'clone', '-q', ada.remote('ada/large'), clone);
    expect(await head(clone)).toBe(pushed);
    expect((await readFile(join(clone, 'large.bin'))).equals(large)).toBe(true);
  });

  it('in chunks, as git does with packs over its post buffer', async () => {
    const pushed = await commit(tree, { 'chunked.bin': randomBytes(300_000) }, 'chunked');
    await git(tree, '-c', 'http.postBuffer=65536', 'push', '-q', 'origin', 'main');
    expect(await git(await scene.bare('ada', 'shared'), 'rev-parse', 'main')).toBe(pushed);
  });

  it('makes, moves, rewinds and deletes branches and tags, with everything intact', async () => {
    const bare = await scene.bare('ada', 'shared');
    await git(
      tree,
      'push',
      '-q',
      'origin',
      'main~1:refs/heads/feature/deep',
      'main:refs/tags/v1',
      'main:refs/notes/n',
    );
    await git(tree, 'push', '-q', 'origin', 'main:feature/deep');
    await git(tree, 'push', '-q', '-f', 'origin', 'main~2:feature/deep');
    expect(await git(bare, 'rev-parse', 'feature/deep')).toBe(await git(tree, 'rev-parse', 'main~2'));
    await git(tree, 'push', '-q', 'origin', ':feature/deep', ':refs/tags/v1', ':refs/notes/n');
    expect(await git(bare, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('cannot delete the default branch', async () => {
    await expect(git(tree, 'push', 'origin', ':main')).rejects.toThrow(
      'deletion of the current branch prohibited',
    );
    expect(await git(await scene.bare('ada', 'shared'), 'rev-parse', 'main')).toBe(await head(tree));
  });

  it('is answered only when the API knows what it did', async () => {
    await ada.call('POST', '/user/repos', { name: 'prompt' });
    await git(tree, 'push', '-q', ada.remote('ada/prompt'), 'main');
    expect((await ada.call('GET', '/repos/ada/prompt')).body['empty']).toBe(false);
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  });
});

describe('who may', () => {
  it('git is challenged when it comes without credentials', async () => {
    const { status, headers } = await request(
      `${scene.address}/ada/shared/info/refs?service=git-upload-pack`,
      'GET',
    );
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Basic realm="Gitea"');
  });

  it('everybody signed in fetches a public repository; only writers push', async () => {
    const clone = join(scene.folder, 'bobs');
    await git(scene.folder, 'clone', '-q', bob.remote('ada/shared'), clone);
    await commit(clone, { 'bob.txt': 'hello' }, 'by bob');
    const before = await head(tree);
    await expect(git(clone, 'push', '-q', 'origin', 'main')).rejects.toThrow(
      /remote rejected.*permission to write to a repo/,
    );
    expect(await git(await scene.bare('ada', 'shared'), 'rev-parse', 'main')).toBe(before);
  });

  it('a private repository of somebody else is as missing as one that is', async () => {
    await ada.call('POST', '/user/repos', { name: 'hidden', private: true, auto_init: true });
    for (const name of ['ada/hidden', 'ada/none-such', 'nobody/none-such']) {
      await expect(git(scene.folder, 'clone', '-q', bob.remote(name), 'x')).rejects.toThrow(/not found/);
      await expect(git(tree, 'push', '-q', bob.remote(name), 'main')).rejects.toThrow(/not found/);
    }
  });

  it('a read-only token fetches and does not push', async () => {
    const { sha1 } = (
      await ada.call('POST', '/users/ada/tokens', { name: 'ro', scopes: ['read:repository'] })
    ).body;
    const reader = personWith('ada', sha1, () => scene.address);
    const clone = join(scene.folder, 'read-only');
    await git(scene.folder, 'clone', '-q', reader.remote('ada/shared'), clone);
    await expect(git(clone, 'push', '-q', 'origin', 'HEAD:refs/heads/x')).rejects.toThrow('403');
  });

  it('an archived repository is fetched and not pushed to', async () => {
    const old = await pushedRepository(ada, 'old', scene.folder);
    await scene.sql.run`update :schema.repositories set archived = true where name = 'old'`;
    await git(old, 'fetch', '-q');
    await commit(old, { 'late.txt': 'late' }, 'late');
    await expect(git(old, 'push', '-q', 'origin', 'main')).rejects.toThrow('403');
  });

  it('the dumb protocol is not served', async () => {
    const headers = { authorization: `Bearer ${ada.token}` };
    expect((await request(`${scene.address}/ada/shared/info/refs`, 'GET', undefined, headers)).status).toBe(
      403,
    );
    expect((await request(`${scene.address}/ada/shared.git/HEAD`, 'GET', undefined, headers)).status).toBe(
      404,
    );
  });
});

describe('a client that goes away', () => {
  async function running(pattern: string): Promise<number> {
    const ids = (await readdir('/proc')).filter((id) => /^\d+$/.test(id));
    const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
    return lines.filter((line) => line.includes(pattern) && line.includes(scene.dataFolder)).length;
  }

  it.skipIf(!existsSync('/proc/self/cmdline'))(
    'takes its git process with it, in the middle of a push',
    async () => {
      const url = new URL(`${scene.address}/ada/shared.git/git-receive-pack`);
      const upload = httpRequest(url, { method: 'POST', headers: { authorization: `Bearer ${ada.token}` } });
      upload.on('error', () => {});
      // The command of a push, and the beginning of a pack that never comes.
      const command = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/x\0report-status`;
      upload.write(`${(command.length + 4).toString(16).padStart(4, '0')}${command}0000PACK`);
      await expect.poll(() => running('receive-pack')).toBe(1);
      upload.destroy();
      await expect.poll(() => running('receive-pack')).toBe(0);
      // What the push might have done was looked after all the same.
      await expect.poll(() => scene.sql.rows`select id from :schema.pushes`).toEqual([]);
    },
  );

  it('a reader that stops reading is not read ahead for', async () => {
    const big = await pushedRepository(ada, 'big', scene.folder);
    await commit(big, { 'noise.bin': randomBytes(16 * 1024 * 1024) }, 'noise');
    await git(big, 'push', '-q', 'origin', 'main');
    const wanted = await head(big);
    const before = process.memoryUsage().rss;
    const answer = await new Promise<IncomingMessage>((resolve) => {
      const ask = httpRequest(
        `${scene.address}/ada/big.git/git-upload-pack`,
        { method: 'POST', headers: { authorization: `Bearer ${ada.token}` } },
        resolve,
      );
      ask.end(`0032want ${wanted}\n00000009done\n`);
    });
    answer.pause();
    await sleep(700);
    // The pack is 16 MB; what stands in buffers and sockets is far less.
    expect(process.memoryUsage().rss - before).toBeLessThan(12 * 1024 * 1024);
    let bytes = 0;
    for await (const chunk of answer) bytes += (chunk as Buffer).length;
    expect(bytes).toBeGreaterThan(16 * 1024 * 1024);
  });
});
