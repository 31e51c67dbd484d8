import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
let head: string;
const api = () => `${scene.address}/api/v1/repos/ada/hello`;
const get = (path: string) => ada.call('GET', `/repos/ada/hello/git/${path}`);

beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'hello', scene.folder);
  head = await commit(tree, { 'a/b/c': 'c', 'a/d': 'dd', 'v1.0': 'no tag' }, 'files');
  await git(tree, 'push', '-q', 'origin', 'main', 'main:refs/heads/feature/x');
  await git(tree, 'tag', '-a', '-m', 'one', 'v1.0');
  await git(tree, 'push', '-q', '--tags');
});

describe('trees', () => {
  it('list one folder, or everything below it', async () => {
    const id = await git(tree, 'rev-parse', 'HEAD^{tree}');
    const folder = await git(tree, 'rev-parse', 'HEAD:a');
    const { body } = await get(`trees/${id}`);
    expect(body).toMatchObject({
      sha: id,
      url: `${api()}/git/trees/${id}`,
      truncated: false,
      page: 1,
      total_count: 4,
    });
    expect(body['tree']).toContainEqual({
      path: 'a',
      mode: '040000',
      type: 'tree',
      size: 0,
      sha: folder,
      url: `${api()}/git/trees/${folder}`,
    });
    const { body: all } = await get(`trees/${id}?recursive=true`);
    const paths = (all['tree'] as { path: string; size: number }[]).map(({ path, size }) => [path, size]);
    expect(paths).toEqual([
      ['README.md', 8],
      ['a', 0],
      ['a/b', 0],
      ['a/b/c', 1],
      ['a/d', 2],
      ['lines.txt', expect.any(Number)],
      ['v1.0', 6],
    ]);
  });

  it('come in pages', async () => {
    const { body } = await get('trees/main?recursive=1&per_page=3&page=2');
    expect(body).toMatchObject({ truncated: true, page: 2, total_count: 7 });
    expect((body['tree'] as { path: string }[]).map(({ path }) => path)).toEqual([
      'a/b/c',
      'a/d',
      'lines.txt',
    ]);
    expect((await get('trees/main?recursive=1&per_page=3&page=3')).body).toMatchObject({ truncated: false });
    expect((await get('trees/main?page=9999999')).body).toMatchObject({ tree: [], truncated: false });
  });

  it.each(['feature%2Fx', 'v1.0', 'HEAD'])('are named by %s as well', async (name) => {
    expect((await get(`trees/${name}`)).body['sha']).toBe(await git(tree, 'rev-parse', 'HEAD^{tree}'));
  });

  it('that are none answer 404', async () => {
    const blob = await git(tree, 'rev-parse', 'HEAD:a/d');
    for (const name of [
      blob,
      'none',
      'main:a',
      'main%5E%7Btree%7D',
      '--all',
      'f'.repeat(40),
      'x'.repeat(10_000),
    ])
      expect((await get(`trees/${name}`)).status).toBe(404);
  });
});

describe('blobs', () => {
  it('are found by their ids only', async () => {
    const blob = await git(tree, 'rev-parse', 'HEAD:a/d');
    const expected = {
      content: Buffer.from('dd').toString('base64'),
      encoding: 'base64',
      url: `${api()}/git/blobs/${blob}`,
      sha: blob,
      size: 2,
    };
    expect((await get(`blobs/${blob}`)).body).toEqual(expected);
    for (const name of [
      head,
      blob.slice(0, 39),
      'main',
      'main:a%2Fd',
      'none',
      'f'.repeat(40),
      '%00',
      'x'.repeat(10_000),
    ])
      expect((await get(`blobs/${name}`)).status).toBe(404);
  });
});

describe('refs', () => {
  it('are listed all, below a folder, and by name', async () => {
    const tag = await git(tree, 'rev-parse', 'v1.0');
    const branch = (name: string) => ({
      ref: `refs/heads/${name}`,
      url: `${api()}/git/refs/heads/${name}`,
      object: { type: 'commit', sha: head, url: `${api()}/git/commits/${head}` },
    });
    const version = {
      ref: 'refs/tags/v1.0',
      url: `${api()}/git/refs/tags/v1.0`,
      object: { type: 'tag', sha: tag, url: `${api()}/git/tags/${tag}` },
    };
    expect((await get('refs')).items).toEqual([branch('feature/x'), branch('main'), version]);
    expect((await get('refs/heads')).items).toEqual([branch('feature/x'), branch('main')]);
    expect((await get('refs/heads/feature')).items).toEqual([branch('feature/x')]);
    expect((await get('refs/heads/feature/')).items).toEqual([branch('feature/x')]);
    expect((await get('refs/heads%2Fmain')).items).toEqual([branch('main')]);
    expect((await get('refs/refs/tags/v1.0')).items).toEqual([version]);
    expect((await get('refs?limit=1&page=2')).items).toEqual([branch('main')]);
  });

  it('are those whose names begin so, in the middle of a name, too', async () => {
    const names = async (prefix: string, query = '') =>
      (await get(`refs/${prefix}${query}`)).items.map(({ ref }) => ref);
    await git(await scene.bare('ada', 'hello'), 'update-ref', 'refs/heads/main.2', head);
    expect(await names('heads/fe')).toEqual(['refs/heads/feature/x']);
    expect(await names('heads/feature/x')).toEqual(['refs/heads/feature/x']);
    // The one of exactly this name is the first.
    expect(await names('heads/main')).toEqual(['refs/heads/main', 'refs/heads/main.2']);
    expect(await names('heads/main', '?limit=1&page=2')).toEqual(['refs/heads/main.2']);
    expect(await names('heads/main.')).toEqual(['refs/heads/main.2']);
    expect(await names('refs/heads/m')).toEqual(['refs/heads/main', 'refs/heads/main.2']);
    expect(await names('ta')).toEqual(['refs/tags/v1.0']);
    await git(await scene.bare('ada', 'hello'), 'update-ref', '-d', 'refs/heads/main.2');
  });

  it('of pull requests are among them', async () => {
    await git(await scene.bare('ada', 'hello'), 'update-ref', 'refs/pull/7/head', `${head}~1`);
    expect((await get('refs/pull/7/head')).items).toHaveLength(1);
    const { body } = await ada.call('GET', '/repos/ada/hello/contents/README.md?ref=refs/pull/7/head');
    expect(body['path']).toBe('README.md');
    const { status } = await ada.call('GET', '/repos/ada/hello/contents/a/d?ref=pull/7/head');
    expect(status).toBe(404);
  });

  it.each([
    'none',
    'heads/none',
    'heads/xmain',
    'heads/*',
    'he*/main',
    'staged',
    '..',
    '..%2F..%2Fconfig',
    '--all',
    'heads/%00',
    'x'.repeat(10_000),
  ])('that do not exist answer 404: %#', async (prefix) => {
    expect((await get(`refs/${prefix}`)).status).toBe(404);
  });
});

describe('notes', () => {
  it('are what was written about a commit', async () => {
    await git(tree, 'notes', 'add', '-m', 'remember', head);
    await git(tree, 'push', '-q', 'origin', 'refs/notes/commits');
    const { body } = await get(`notes/${head}`);
    expect(body).toMatchObject({ message: 'remember\n', commit: { sha: head } });
    expect((await get('notes/HEAD')).status).toBe(200);
    expect((await get(`notes/${await git(tree, 'rev-parse', 'HEAD~1')}`)).status).toBe(404);
    expect((await get('notes/none')).status).toBe(404);
  });
});

it('private repositories are not there for others', async () => {
  const secret = await pushedRepository(ada, 'secret', scene.folder, { private: true });
  await git(secret, 'notes', 'add', '-m', 'n');
  await git(secret, 'tag', '-a', '-m', 't', 't');
  await git(secret, 'push', '-q', 'origin', 'refs/notes/commits', 'refs/tags/t');
  const [blob, tag] = await Promise.all([
    git(secret, 'rev-parse', 'HEAD:README.md'),
    git(secret, 'rev-parse', 't'),
  ]);
  for (const path of ['trees/main', `blobs/${blob}`, 'refs', 'refs/heads', `tags/${tag}`, 'notes/main']) {
    expect((await ada.call('GET', `/repos/ada/secret/git/${path}`)).status).toBe(200);
    const hidden = await bob.call('GET', `/repos/ada/secret/git/${path}`);
    expect(hidden.status).toBe(404);
    expect(hidden.text).toBe((await bob.call('GET', `/repos/ada/none/git/${path}`)).text);
  }
});
