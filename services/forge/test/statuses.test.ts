import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, request, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let writer: Person;
let reader: Person;
let stranger: Person;
let tree: string;
let sha: string;
const rows = () => scene.sql.rows`select * from :schema.commit_statuses order by id`;
const post = (person: Person, body: unknown, at = sha) =>
  person.call('POST', `/repos/ada/hello/statuses/${at}`, body);
const hello = '/repos/ada/hello';

beforeAll(async () => {
  [ada, writer, reader, stranger] = ['ada', 'writer', 'reader', 'stranger'].map((name) =>
    scene.person(name),
  ) as [Person, Person, Person, Person];
  tree = await pushedRepository(ada, 'hello', scene.folder, { private: true });
  sha = await git(tree, 'rev-parse', 'HEAD');
  for (const person of [writer, reader, stranger]) await person.call('GET', '/user');
  await scene.sql.run`
    insert into :schema.collaborators (repository_id, user_id, level)
    select r.id, u.id, case u.login when 'writer' then 2 else 1 end
    from :schema.repositories r, :schema.users u where r.name = 'hello' and u.login in ('writer', 'reader')`;
});

describe('a status', () => {
  it('is made with `state` and read with `status`', async () => {
    const made = await post(writer, {
      state: 'pending',
      context: ' ci/build ',
      target_url: 'https://ci.example.test/1',
      description: 'running',
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(Number),
      status: 'pending',
      target_url: 'https://ci.example.test/1',
      description: 'running',
      url: `${scene.address}/api/v1${hello}/statuses/${sha}`,
      context: 'ci/build',
      creator: expect.objectContaining({ login: 'writer' }),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const { items } = await reader.call('GET', `${hello}/statuses/${sha}`);
    expect(items.map(({ id }) => id)).toEqual([made.body.id]);
  });

  it('may be made with the beginning of an id; context, address and text may be missing', async () => {
    const made = await post(ada, { state: 'success' }, sha.slice(0, 8));
    expect(made.body).toMatchObject({ context: '', target_url: '', description: '', status: 'success' });
    expect(made.body['url']).toContain(sha);
  });

  it.each([
    ['an unknown state', { state: 'green' }, 422],
    ['no state', { context: 'x' }, 422],
    ['a state of another type', { state: 5 }, 422],
    ['an address that is a script', { state: 'success', target_url: 'javascript:alert(1)' }, 422],
    ['an address that is too long', { state: 'success', target_url: `https://x/${'y'.repeat(3000)}` }, 422],
    ['a context that is too long', { state: 'success', context: 'x'.repeat(256) }, 422],
    ['a text that is too long', { state: 'success', description: 'x'.repeat(5000) }, 422],
    ['NUL', { state: 'success', context: 'a\u0000b' }, 422],
    ['JSON that is none', '{"state":', 422],
  ])('with %s is refused, and nothing changes', async (_what, body, status) => {
    const before = await rows();
    expect((await post(ada, body)).status).toBe(status);
    expect(await rows()).toEqual(before);
  });

  it.each(['f'.repeat(40), 'abc', '--all', 'main~1', 'x'.repeat(10_000)])(
    'of what is no commit is refused: %#',
    async (at) => {
      const before = await rows();
      expect((await post(ada, { state: 'success' }, at)).status).toBe(404);
      expect(await rows()).toEqual(before);
    },
  );

  it('is for writers', async () => {
    const before = await rows();
    expect((await post(reader, { state: 'success' })).status).toBe(403);
    const hidden = await post(stranger, { state: 'success' });
    expect(hidden.status).toBe(404);
    const missing = await stranger.call('POST', `/repos/ada/none/statuses/${sha}`, { state: 'success' });
    expect(hidden.text).toBe(missing.text);
    const nobody = await request(`${scene.address}/api/v1${hello}/statuses/${sha}`, 'POST', {
      state: 'success',
    });
    expect(nobody.status).toBe(401);
    await scene.sql.run`update :schema.repositories set archived = true where name = 'hello'`;
    expect((await post(ada, { state: 'success' })).status).toBe(423);
    await scene.sql.run`update :schema.repositories set archived = false where name = 'hello'`;
    expect(await rows()).toEqual(before);
  });
});

describe('statuses of a commit', () => {
  it('are listed newest first, by state and in pages, by whatever names the commit', async () => {
    const next = await commit(tree, { x: 'x' }, 'next');
    await git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/feature/x');
    const ids: number[] = [];
    for (const state of ['pending', 'failure', 'success'])
      ids.push((await post(ada, { state, context: 'ci' }, next)).body.id);
    const list = async (path: string) =>
      (await reader.call('GET', `${hello}/${path}`)).items.map(({ id }) => id);
    expect(await list(`statuses/${next}`)).toEqual(ids.toReversed());
    expect(await list('commits/feature%2Fx/statuses?sort=oldest')).toEqual(ids);
    expect(await list('commits/feature%2Fx/statuses?state=failure')).toEqual([ids[1]]);
    expect(await list('commits/feature%2Fx/statuses?state=none')).toEqual([]);
    expect(await list(`commits/${next.slice(0, 7)}/statuses?limit=1&page=2`)).toEqual([ids[1]]);
    const { headers } = await reader.call('GET', `${hello}/commits/feature%2Fx/statuses?limit=1`);
    expect(headers.get('x-total-count')).toBe('3');
    expect(headers.get('link')).toContain('rel="next"');
    for (const name of ['none', 'main~1', '@%7B-1%7D'])
      expect((await reader.call('GET', `${hello}/commits/${name}/statuses`)).status).toBe(404);
  });

  it('together are the worst of the latest of each context', async () => {
    const at = await commit(tree, { y: 'y' }, 'combined');
    await git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/combined');
    const combined = async (query = '') =>
      (await reader.call('GET', `${hello}/commits/combined/status${query}`)).body;
    expect(await combined()).toMatchObject({ state: 'pending', sha: at, total_count: 0, statuses: [] });
    await post(ada, { state: 'failure', context: 'a' }, at);
    await post(ada, { state: 'success', context: 'b' }, at);
    expect(await combined()).toMatchObject({ state: 'failure', total_count: 2 });
    await post(ada, { state: 'success', context: 'a' }, at);
    const body = await combined();
    expect(body).toMatchObject({
      state: 'success',
      sha: at,
      total_count: 2,
      repository: { full_name: 'ada/hello' },
      commit_url: `${scene.address}/api/v1${hello}/git/commits/${at}`,
      url: `${scene.address}/api/v1${hello}/commits/${at}/status`,
    });
    expect((body['statuses'] as { context: string }[]).map(({ context }) => context)).toEqual(['a', 'b']);
    await post(ada, { state: 'warning', context: 'c' }, at);
    const page = await combined('?limit=1&page=2');
    // What is pending elsewhere is nothing to this commit.
    expect([page['state'], page['total_count']]).toEqual(['success', 3]);
    expect(page['statuses']).toHaveLength(1);
    expect((await combined('?page=9'))['total_count']).toBe(3);
  });

  it('are not there for strangers', async () => {
    for (const path of [`statuses/${sha}`, 'commits/main/statuses', 'commits/main/status']) {
      const hidden = await stranger.call('GET', `${hello}/${path}`);
      expect(hidden.status).toBe(404);
      expect(hidden.text).toBe((await stranger.call('GET', `/repos/ada/none/${path}`)).text);
    }
  });

  it('of people who are gone are a ghost’s', async () => {
    await post(writer, { state: 'success', context: 'gone' });
    await scene.sql.run`update :schema.commit_statuses set creator_id = null where context = 'gone'`;
    const { items } = await reader.call('GET', `${hello}/statuses/${sha}?limit=1`);
    expect(items[0]).toMatchObject({ creator: { login: 'Ghost' } });
  });
});
