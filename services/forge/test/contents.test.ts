import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { git, gitEnvironment } from '@croft/testing';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Broker, type Program, type RunningProgram } from '../src/outside/git/broker.ts';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';

const run = promisify(execFile);
const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
const commits: Record<string, string> = {};
const bytes = randomBytes(3_000_000);
const large = Buffer.alloc(10 * 1024 * 1024 + 1, 'a');
const api = () => `${scene.address}/api/v1/repos/ada/hello`;

/** An answer as bytes. */
async function download(person: Person, path: string) {
  const answer = await fetch(`${scene.address}/api/v1${path}`, {
    headers: { authorization: `Bearer ${person.token}` },
  });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}

beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'hello', scene.folder);
  commits['first'] = await git(tree, 'rev-parse', 'HEAD');
  commits['deep'] = await commit(tree, { 'a/b/c.txt': 'deep\n', 'a/d': 'd\n' }, 'deep');
  await commit(
    tree,
    { 'bytes.bin': bytes, 'large.txt': large, empty: '', 'ünï cödé #1.txt': 'ü\n' },
    'files',
  );
  await symlink('a/b/c.txt', join(tree, 'link'));
  commits['link'] = await commit(tree, {}, 'link');
  await writeFile(
    join(tree, '.gitmodules'),
    '[submodule "lib"]\n\tpath = libs/lib\n\turl = https://example.test/lib.git\n',
  );
  const gitlink = `160000,${commits['first']},libs/lib`;
  await git(tree, 'update-index', '--add', '--cacheinfo', gitlink);
  await git(tree, 'add', '.gitmodules');
  await git(tree, 'commit', '-q', '-m', 'submodule');
  commits['head'] = await git(tree, 'rev-parse', 'HEAD');
  await git(
    tree,
    'push',
    '-q',
    'origin',
    'main',
    'main:refs/heads/feature/x',
    `${commits['first']}:refs/tags/v1`,
  );
});

describe('contents', () => {
  it('of a file have it in base64, and say where it came from', async () => {
    const { status, body } = await ada.call('GET', '/repos/ada/hello/contents/a/b/c.txt');
    const sha = await git(tree, 'rev-parse', 'HEAD:a/b/c.txt');
    expect(status).toBe(200);
    const self = `${api()}/contents/a/b/c.txt?ref=main`;
    const html = `${scene.address}/ada/hello/src/branch/main/a/b/c.txt`;
    expect(body).toEqual({
      name: 'c.txt',
      path: 'a/b/c.txt',
      sha,
      last_commit_sha: commits['deep'],
      last_committer_date: expect.any(String),
      last_author_date: expect.any(String),
      type: 'file',
      size: 5,
      encoding: 'base64',
      content: Buffer.from('deep\n').toString('base64'),
      target: null,
      url: self,
      html_url: html,
      git_url: `${api()}/git/blobs/${sha}`,
      download_url: `${api()}/raw/a/b/c.txt?ref=main`,
      submodule_git_url: null,
      _links: { self, git: `${api()}/git/blobs/${sha}`, html },
    });
  });

  it('of a folder are its entries, each with the commit that changed it last', async () => {
    const { items } = await ada.call('GET', '/repos/ada/hello/contents');
    const shown = items.map((item) => [item['path'], item['type'], item['last_commit_sha'], item['content']]);
    expect(shown).toContainEqual(['a', 'dir', commits['deep'], null]);
    expect(shown).toContainEqual(['README.md', 'file', commits['first'], null]);
    expect(shown).toContainEqual(['link', 'symlink', commits['link'], null]);
    expect(items.find((item) => item['path'] === 'bytes.bin')).toMatchObject({ size: bytes.length });
    const below = await ada.call('GET', '/repos/ada/hello/contents/a/');
    expect(below.items.map((item) => [item['path'], item['last_commit_sha']])).toEqual([
      ['a/b', commits['deep']],
      ['a/d', commits['deep']],
    ]);
  });

  it('of a folder far down are as many as an answer has room for', async () => {
    const deep = await pushedRepository(ada, 'deep', scene.folder);
    const files = Array.from({ length: 1500 }, (_, n): [string, string] => [`file-${n}`, '']);
    await commit(deep, Object.fromEntries(files), 'files');
    const folder = Array.from({ length: 15 }, () => 'd'.repeat(250)).join('/');
    const flat = await git(deep, 'write-tree');
    await git(deep, 'read-tree', '--empty');
    await git(deep, 'read-tree', `--prefix=${folder}/`, flat);
    const made = await git(deep, 'commit-tree', '-m', 'deep', await git(deep, 'write-tree'));
    await git(deep, 'push', '-q', 'origin', 'main', `${made}:refs/heads/deep`);
    const shown = await ada.call('GET', `/repos/ada/deep/contents/${folder}?ref=deep`);
    expect(shown.items.length).toBeGreaterThan(1000);
    expect(shown.items.length).toBeLessThan(1500);
    expect(shown.text.length).toBeLessThan(34 * 1024 * 1024);
    expect((await ada.call('GET', '/repos/ada/deep/contents')).items).toHaveLength(1502);
  });

  it('of links and submodules are where they lead', async () => {
    const link = await ada.call('GET', '/repos/ada/hello/contents/link');
    expect(link.body).toMatchObject({ type: 'symlink', target: 'a/b/c.txt', content: null });
    const submodule = await ada.call('GET', '/repos/ada/hello/contents/libs/lib');
    const expected = {
      type: 'submodule',
      sha: commits['first'],
      submodule_git_url: 'https://example.test/lib.git',
      git_url: null,
      download_url: null,
    };
    expect(submodule.body).toMatchObject(expected);
    const folder = await ada.call('GET', '/repos/ada/hello/contents/libs');
    expect(folder.items).toEqual([expect.objectContaining(expected)]);
  });

  it('of a file that is too large come without it', async () => {
    const { body } = await ada.call('GET', '/repos/ada/hello/contents/large.txt');
    expect(body).toMatchObject({ size: large.length, content: null, encoding: null });
    const { body: whole } = await ada.call('GET', '/repos/ada/hello/contents/bytes.bin');
    expect(whole['content']).toBe(bytes.toString('base64'));
    const { body: nothing } = await ada.call('GET', '/repos/ada/hello/contents/empty');
    expect(nothing).toMatchObject({ size: 0, content: '', encoding: 'base64' });
  });

  it.each([
    ['a branch', 'feature/x', 200],
    ['a branch, encoded', 'feature%2Fx', 200],
    ['a full ref', 'refs/heads/main', 200],
    ['HEAD', 'HEAD', 200],
    ['nothing', '', 200],
    ['a tag from before', 'v1', 404],
    ['a missing branch', 'none', 404],
    ['an expression', 'main~0', 404],
    ['another', 'HEAD%5E%7Btree%7D', 404],
    ['the reflog', '@%7B0%7D', 404],
    ['a path', 'main:a', 404],
    ['a search', ':/deep', 404],
    ['an option', '--help', 404],
    ['dots', '..', 404],
    ['NUL', 'main%00', 404],
    ['a line break', 'main%0Acontents%20main', 404],
    ['too short an id', 'abc', 404],
    ['an id nobody has', 'f'.repeat(40), 404],
    ['10 kB', 'x'.repeat(10_000), 404],
  ])('at %s', async (_what, ref, status) => {
    const answer = await ada.call('GET', `/repos/ada/hello/contents/a/b/c.txt?ref=${ref}`);
    expect(answer.status).toBe(status);
    expect((await ada.call('GET', '/repos/ada/hello/contents/a/b/c.txt')).status).toBe(200);
  });

  it('at the beginning of an id, and at a commit from before', async () => {
    const short = commits['deep']?.slice(0, 8);
    const { body } = await ada.call('GET', `/repos/ada/hello/contents/a/d?ref=${short}`);
    expect(body).toMatchObject({ path: 'a/d', url: `${api()}/contents/a/d?ref=${commits['deep']}` });
    expect((await ada.call('GET', `/repos/ada/hello/contents/a/d?ref=${commits['first']}`)).status).toBe(404);
  });

  it.each([
    ['that does not exist', 'none'],
    ['below a file', 'README.md/x'],
    ['below a submodule', 'libs/lib/x'],
    ['with dots', 'a%2F..%2FREADME.md'],
    ['that leaves the repository', '..%2F..%2F..%2Fetc%2Fpasswd'],
    ['into the repository of git', '.git%2Fconfig'],
    ['with a pattern', 'a/*'],
    ['with magic', ':(top)README.md'],
    ['with empty parts', 'a//d'],
    ['with a line break', 'a%0Ad'],
    ['with NUL', 'a/d%00'],
    ['of 10 kB', 'x/'.repeat(5000)],
  ])('answer 404 for a path %s', async (_what, path) => {
    for (const route of ['contents', 'raw', 'media'])
      expect((await ada.call('GET', `/repos/ada/hello/${route}/${path}`)).status).toBe(404);
  });

  it('of names in other alphabets are found', async () => {
    const path = encodeURIComponent('ünï cödé #1.txt');
    const { body } = await ada.call('GET', `/repos/ada/hello/contents/${path}`);
    expect(body).toMatchObject({ path: 'ünï cödé #1.txt', url: `${api()}/contents/${path}?ref=main` });
    const { status } = await download(ada, new URL(String(body['download_url'])).pathname.slice(7));
    expect(status).toBe(200);
  });

  it('of an empty repository are nothing', async () => {
    await ada.call('POST', '/user/repos', { name: 'empty' });
    const { status, items } = await ada.call('GET', '/repos/ada/empty/contents');
    expect([status, items]).toEqual([200, []]);
    for (const path of ['contents/x', 'contents?ref=main', 'raw/x', 'archive/main.zip', 'languages'])
      expect((await ada.call('GET', `/repos/ada/empty/${path}`)).status).toBe(
        path === 'languages' ? 200 : 404,
      );
  });
});

describe('contents of several files', () => {
  const several = (files: unknown, query = '') =>
    ada.call('POST', `/repos/ada/hello/file-contents${query}`, { files });

  it('come in the order they are named, with null for what is not there', async () => {
    const names = ['a/b/c.txt', 'gone', 'link', 'a', 'README.md', '../x', 'a/b/c.txt', 'libs/lib'];
    const { status, items } = await several(names);
    expect(status).toBe(200);
    const alone = async (name: string) => (await ada.call('GET', `/repos/ada/hello/contents/${name}`)).body;
    expect(items).toEqual([
      await alone('a/b/c.txt'),
      null,
      await alone('link'),
      expect.objectContaining({ path: 'a', type: 'dir', content: null, last_commit_sha: commits['deep'] }),
      await alone('README.md'),
      null,
      await alone('a/b/c.txt'),
      await alone('libs/lib'),
    ]);
    const body = encodeURIComponent(JSON.stringify({ files: names }));
    const asked = await ada.call('GET', `/repos/ada/hello/file-contents?body=${body}`);
    expect(asked.items).toEqual(items);
  });

  it('are those of a branch, tag or commit', async () => {
    for (const ref of ['v1', commits['first']]) {
      const { items } = await several(['a/d', 'README.md'], `?ref=${ref}`);
      expect(items).toEqual([null, expect.objectContaining({ last_commit_sha: commits['first'] })]);
    }
    expect((await several(['README.md'], '?ref=gone')).status).toBe(404);
  });

  it('are as many as a page has, of as many bytes as a body may have', async () => {
    const { items } = await several(Array.from({ length: 60 }, () => 'README.md'));
    expect(items).toHaveLength(50);
    const names = ['large.txt', ...Array.from({ length: 7 }, () => 'bytes.bin'), 'README.md'];
    const contents = (await several(names)).items.map((item) => item['content'] !== null);
    expect(contents).toEqual([false, ...names.slice(0, 5).map(() => true), false, false, true]);
  });

  it('are bounded whatever is asked for: links count as well, and the root is no file', async () => {
    await symlink('x'.repeat(4000), join(tree, 'far'));
    await git(tree, 'checkout', '-q', '-b', 'odd');
    const blob = await git(tree, 'rev-parse', 'HEAD:bytes.bin');
    await git(tree, 'update-index', '--add', '--cacheinfo', `120000,${blob},endless`);
    await git(tree, 'add', 'far');
    await git(tree, 'commit', '-q', '-m', 'odd');
    await git(tree, 'push', '-q', 'origin', 'odd');
    await git(tree, 'checkout', '-q', '-f', 'main');
    const names = ['', '/', 'far', 'endless', ...Array.from({ length: 46 }, () => 'endless')];
    const { text, items } = await several(names, '?ref=odd');
    expect(items.slice(0, 4)).toEqual([
      null,
      null,
      expect.objectContaining({
        type: 'symlink',
        target: 'x'.repeat(4000),
        last_commit_sha: expect.any(String),
      }),
      expect.objectContaining({ type: 'symlink', target: null, size: bytes.length }),
    ]);
    expect(text.length).toBeLessThan(100_000);
  });

  it('are refused where no files are named', async () => {
    for (const files of [undefined, [], 'README.md', [1]]) expect((await several(files)).status).toBe(422);
    for (const query of ['', '?body=', '?body={', '?body={"files":[]}', '?body=[]'])
      expect((await ada.call('GET', `/repos/ada/hello/file-contents${query}`)).status).toBe(422);
  });
});

describe('raw files', () => {
  it('are sent byte by byte, small and large', async () => {
    const small = await download(ada, '/repos/ada/hello/raw/a/b/c.txt');
    expect(small.body.toString()).toBe('deep\n');
    expect(small.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(small.headers.get('x-content-type-options')).toBe('nosniff');
    expect(small.headers.get('content-security-policy')).toContain('sandbox');
    for (const route of ['raw', 'media']) {
      const binary = await download(ada, `/repos/ada/hello/${route}/bytes.bin?ref=feature/x`);
      expect(binary.headers.get('content-type')).toBe('application/octet-stream');
      expect(binary.headers.get('content-length')).toBe(String(bytes.length));
      expect(binary.body.equals(bytes)).toBe(true);
    }
    expect((await download(ada, '/repos/ada/hello/raw/large.txt')).body.equals(large)).toBe(true);
    expect((await download(ada, '/repos/ada/hello/raw/empty')).body).toHaveLength(0);
  });

  it('are those of the branch, tag or commit that a path begins with where no `ref` is given', async () => {
    const hello = '/repos/ada/hello';
    await git(tree, 'push', '-q', 'origin', `${commits['first']}:refs/heads/a`);
    const texts = async (...paths: string[]) =>
      await Promise.all(paths.map(async (path) => (await ada.call('GET', `${hello}/raw/${path}`)).text));
    const at = ['main', 'feature/x', 'feature%2Fx', String(commits['head']), String(commits['deep'])];
    expect(await texts(...at.map((ref) => `${ref}/a/d`))).toEqual(Array(5).fill('d\n'));
    const first = String(commits['first']);
    expect(await texts('v1/README.md', `${first}/README.md`, 'a/README.md')).toEqual(
      Array(3).fill('# hello\n'),
    );
    // A branch comes before a folder of the default branch, unless `ref` says which it is.
    for (const path of [
      'v1/a/d',
      `${first}/a/d`,
      'a/d',
      'nowhere/a/d',
      'main/',
      `${'0'.repeat(40)}/README.md`,
    ])
      expect([path, (await ada.call('GET', `${hello}/raw/${path}`)).status]).toEqual([path, 404]);
    expect(await texts('a/d?ref=main')).toEqual(['d\n']);
    expect((await ada.call('GET', `${hello}/raw/main/a/d?ref=main`)).status).toBe(404);
    await git(tree, 'push', '-q', 'origin', ':refs/heads/a');
    expect(await texts('a/d')).toEqual(['d\n']);
  });

  it('are sent in place of contents where `Accept` asks for them', async () => {
    const raw = await ada.call('GET', '/repos/ada/hello/contents/a/b/c.txt', undefined, {
      accept: 'application/vnd.croft.v3.raw',
    });
    expect(raw.text).toBe('deep\n');
  });

  it('are files: folders and submodules answer 404', async () => {
    for (const path of ['a', 'libs/lib', ''])
      expect((await ada.call('GET', `/repos/ada/hello/raw/${path}`)).status).toBe(404);
  });

  it('end their program when the client goes', async () => {
    const { port } = new URL(scene.address);
    for (let round = 0; round < 40; round++) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(
        `GET /api/v1/repos/ada/hello/raw/large.txt HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ada.token}\r\n\r\n`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
      socket.destroy();
    }
    // More than may run at once had gone before: none of them is left behind.
    const after = await download(ada, '/repos/ada/hello/raw/large.txt');
    expect(after.body).toHaveLength(large.length);
  });
});

type Start = (this: Broker, program: Program) => Promise<RunningProgram>;

it.each([
  ['a raw file', 'cat-file', '/repos/ada/hello/raw/large.txt'],
  ['an archive', 'archive', '/repos/ada/hello/archive/main.zip'],
])(
  '%s nobody waits for any more leaves no connection to its program',
  async (_what, word, path) => {
    const { port } = new URL(scene.address);
    const client = connect(Number(port), '127.0.0.1');
    const gone = Promise.withResolvers<void>();
    const onRequest = (message: unknown) => {
      const { response } = message as { response: ServerResponse };
      response.once('close', () => gone.resolve());
    };
    subscribe('http.server.request.start', onRequest);
    onTestFinished(() => {
      unsubscribe('http.server.request.start', onRequest);
      vi.restoreAllMocks();
    });
    const programs: RunningProgram[] = [];
    const start = Reflect.get(Broker.prototype, 'start') as Start;
    vi.spyOn(Broker.prototype, 'start').mockImplementation(async function (this: Broker, what) {
      const program = await start.call(this, what);
      if (!what.args.includes(word)) return program;
      // Who asked hangs up while the program is started.
      client.destroy();
      await gone.promise;
      programs.push(program);
      return program;
    });
    client.write(`GET /api/v1${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ada.token}\r\n\r\n`);
    await vi.waitFor(() => expect(programs[0]?.stdout.destroyed).toBe(true), { timeout: 40_000 });
    await programs[0]?.exited;
  },
  20_000,
);

describe('archives', () => {
  it.each([
    ['main', 'hello-main'],
    ['feature/x', 'hello-feature-x'],
    ['feature%2Fx', 'hello-feature-x'],
    ['v1', 'hello-v1'],
  ])('of %s hold its files in one folder', async (ref, name) => {
    const tarball = await download(ada, `/repos/ada/hello/archive/${ref}.tar.gz`);
    expect(tarball.status).toBe(200);
    expect(tarball.headers.get('content-type')).toBe('application/gzip');
    expect(tarball.headers.get('content-disposition')).toContain(`filename="${name}.tar.gz"`);
    await writeFile(join(scene.folder, 'archive.tar.gz'), tarball.body);
    const { stdout } = await run('tar', ['tzf', join(scene.folder, 'archive.tar.gz')]);
    expect(stdout).toContain('hello/README.md\n');
    const zip = await download(ada, `/repos/ada/hello/archive/${ref}.zip`);
    expect(zip.headers.get('content-type')).toBe('application/zip');
    expect(zip.body.subarray(0, 2).toString()).toBe('PK');
  });

  it.each([
    'main',
    'main.rar',
    '.zip',
    'none.zip',
    'main~1.zip',
    '--output=x.zip',
    '..%2Fx.tar.gz',
    'main:a.zip',
  ])('answer 404 for %s', async (name) => {
    expect((await ada.call('GET', `/repos/ada/hello/archive/${name}`)).status).toBe(404);
  });
});

describe('languages', () => {
  it('are counted in bytes, without what came from elsewhere', async () => {
    const made = await pushedRepository(ada, 'polyglot', scene.folder);
    const files = {
      'src/a.ts': 'x'.repeat(100),
      'b.go': 'x'.repeat(50),
      Makefile: 'x',
      'vendor/c.go': 'x'.repeat(1000),
      'notes.md': 'x'.repeat(1000),
      constructor: 'x',
      'x.constructor': 'x',
      LICENSE:
        'Permission is hereby granted, free of charge, to any person obtaining\na copy of this software and',
    };
    await commit(made, files, 'code');
    await git(made, 'push', '-q', 'origin', 'main');
    const { text } = await ada.call('GET', '/repos/ada/polyglot/languages');
    expect(text).toBe('{"TypeScript":100,"Go":50,"Makefile":1}');
    expect((await ada.call('GET', '/repos/ada/polyglot/languages')).text).toBe(text);
    for (const _twice of [1, 2])
      expect((await ada.call('GET', '/repos/ada/polyglot/licenses')).text).toBe('["MIT"]');
    expect((await ada.call('GET', '/repos/ada/hello/licenses')).text).toBe('[]');
  });
});

it('private repositories are not there for others', async () => {
  await pushedRepository(ada, 'secret', scene.folder, { private: true });
  for (const path of [
    'contents',
    'contents/README.md',
    'raw/README.md',
    'media/README.md',
    'archive/main.zip',
    'languages',
    'licenses',
  ]) {
    expect((await download(ada, `/repos/ada/secret/${path}`)).status).toBe(200);
    const hidden = await bob.call('GET', `/repos/ada/secret/${path}`);
    expect(hidden.status).toBe(404);
    expect(hidden.text).toBe((await bob.call('GET', `/repos/ada/none/${path}`)).text);
    expect((await bob.call('GET', `/repos/ada/hello/${path}`)).status).toBe(200);
  }
});

it('names that are not UTF-8 are listed, and their content is found by its id', async () => {
  const made = await pushedRepository(ada, 'latin', scene.folder);
  const blob = await git(made, 'rev-parse', 'HEAD:README.md');
  const input = Buffer.concat([
    Buffer.from(`100644 blob ${blob}\tna`),
    Buffer.from([0xef]),
    Buffer.from('ve.txt\0'),
  ]);
  const { stdout } = await new Promise<{ stdout: string }>((resolve, reject) => {
    const child = execFile('git', ['mktree', '-z'], { cwd: made, env: gitEnvironment }, (error, out) =>
      error ? reject(new Error('mktree failed', { cause: error })) : resolve({ stdout: out }),
    );
    child.stdin?.end(input);
  });
  const made2 = await git(made, 'commit-tree', '-p', 'HEAD', '-m', 'latin', stdout.trim());
  await git(made, 'push', '-q', 'origin', `${made2}:refs/heads/main`);
  const { items } = await ada.call('GET', '/repos/ada/latin/contents');
  expect(items).toEqual([expect.objectContaining({ name: 'na\ufffdve.txt', sha: blob })]);
  const { body } = await ada.call('GET', `/repos/ada/latin/git/trees/${made2}`);
  expect(body['tree']).toEqual([expect.objectContaining({ path: 'na\ufffdve.txt', sha: blob })]);
  expect((await ada.call('GET', `/repos/ada/latin/git/blobs/${blob}`)).status).toBe(200);
  const { status } = await ada.call('GET', '/repos/ada/latin/contents/na%EFve.txt');
  expect([400, 404]).toContain(status);
});
