import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  await ada.call('POST', '/repos/ada/work/issues', { title: 'issue' });
  await pushBranch(tree, 'topic', { 'topic.txt': 'topic\n' });
  await ada.call('POST', '/repos/ada/work/pulls', { head: 'topic', base: 'main', title: 'pull' });
});

const PULL = '/repos/ada/work/pulls/2';
const PATHS = [
  '/repos/issues/search',
  '/repos/ada/work/issues',
  '/repos/ada/work/issues/1',
  '/repos/ada/work/issues/1/comments',
  '/repos/ada/work/pulls',
  PULL,
  '/repos/ada/work/pulls/main/topic',
  `${PULL}/commits`,
  `${PULL}/files`,
];
const tagOf = async (path: string, who = ada) => (await who.call('GET', path)).headers.get('etag') ?? '';
const ask = (path: string, tag: string, who = ada) =>
  who.call('GET', path, undefined, { 'if-none-match': tag });

describe('who has the current answer', () => {
  it.each(PATHS)('gets 304 and no body: %s', async (path) => {
    const first = await ada.call('GET', path);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]{20,}"$/);
    for (const header of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await ask(path, header);
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    }
    const other = await ask(path, '"other"');
    expect([other.status, other.text]).toEqual([200, first.text]);
  });

  it('gets nothing said of what is refused or not there', async () => {
    const missing = await ask('/repos/ada/work/pulls/99', '*');
    expect([missing.status, missing.headers.get('etag')]).toEqual([404, null]);
    const diff = await ask(`${PULL}.diff`, '*');
    expect([diff.status, diff.headers.get('etag')]).toEqual([200, null]);
  });
});

describe('a tag', () => {
  it('is another one for who sees something else', async () => {
    expect(await tagOf(PULL, bob)).not.toBe(await tagOf(PULL));
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a title', () => ada.call('PATCH', PULL, { title: 'other' })],
    ['a comment', () => ada.call('POST', '/repos/ada/work/issues/2/comments', { body: 'said' })],
    ['the head', () => pushBranch(tree, 'topic', { 'more.txt': 'more\n' }, 'topic')],
    ['the base', () => pushBranch(tree, 'main', { 'base.txt': 'base\n' }, 'main')],
    ['the name of its poster', () => ada.call('PATCH', '/user/settings', { full_name: 'Ada L.' })],
    ['its repository', () => ada.call('PATCH', '/repos/ada/work', { description: 'words' })],
    ['its state', () => ada.call('PATCH', PULL, { state: 'closed' })],
  ])('changes with %s', async (_, change) => {
    const before = await tagOf(PULL);
    await change();
    const after = await ask(PULL, before);
    expect(after.status).toBe(200);
    expect(after.headers.get('etag')).not.toBe(before);
  });

  it('of a page changes with how many there are in all', async () => {
    const path = '/repos/ada/work/issues?limit=1&type=issues';
    await ada.call('POST', '/repos/ada/work/issues', { title: 'older' });
    const older = (await ada.call('GET', path)).items[0]?.number;
    await ada.call('POST', '/repos/ada/work/issues', { title: 'newest' });
    const before = await ada.call('GET', path);
    await ada.call('PATCH', `/repos/ada/work/issues/${older}`, { state: 'closed' });
    const after = await ask(path, before.headers.get('etag') ?? '');
    expect(after.status).toBe(200);
    expect(after.items).toEqual(before.items);
  });
});

describe('a path', () => {
  const LENGTHS = ['content-type', 'content-length', 'etag', 'x-total-count', 'link'];
  it.each([
    ...PATHS,
    `${PULL}.diff`,
    '/repos/ada/work',
    '/repos/ada/work/raw/README.md',
    '/repos/ada/work/contents/README.md',
    '/repos/ada/none',
  ])('is asked for its head alone: %s', async (path) => {
    const [whole, head] = [await ada.call('GET', path), await ada.call('HEAD', path)];
    expect([head.status, head.text]).toEqual([whole.status, '']);
    for (const name of LENGTHS) expect(head.headers.get(name), name).toBe(whole.headers.get(name));
    expect((await bob.call('HEAD', path)).status).toBe((await bob.call('GET', path)).status);
  });

  it('may end in a slash', async () => {
    // Not by `call`, which looks for the route by the path.
    const get = async (path: string) => {
      const headers = { authorization: `Bearer ${ada.token}` };
      const answer = await fetch(`${scene.address}/api/v1${path}`, { headers });
      return [answer.status, await answer.text()];
    };
    for (const path of ['/user', '/version', ...PATHS])
      expect(await get(`${path}/`)).toEqual(await get(path));
    expect((await ada.call('POST', '/repos/ada/work/labels/', { name: 'x', color: '#fff' })).status).toBe(
      201,
    );
    const wrong = await ada.call('DELETE', '/repos/ada/work/issues/');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });
});
