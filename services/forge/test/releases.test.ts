import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, type Reply, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
const at = '/repos/ada/tool/releases';
const NEVER = '0001-01-01T00:00:00Z';
let ada: Person;
let wes: Person;
let ria: Person;
let tree: string;
let bare: string;
let first: string;
let second: string;

beforeAll(async () => {
  [ada, wes, ria] = ['ada', 'wes', 'ria'].map((name) => scene.person(name)) as [Person, Person, Person];
  for (const person of [wes, ria]) await person.call('GET', '/user');
  tree = await pushedRepository(ada, 'tool', scene.folder);
  bare = await scene.bare('ada', 'tool');
  first = await git(tree, 'rev-parse', 'HEAD');
  second = await commit(tree, { 'second.txt': '2' }, 'second');
  await git(tree, 'push', '-q', 'origin', 'main');
  await ada.call('PUT', '/repos/ada/tool/collaborators/wes', { permission: 'write' });
  await recordHappenings(scene);
});

const make = (body: object, who = ada): Promise<Reply> => who.call('POST', at, body);
const tagAt = (name: string) => git(bare, 'rev-parse', '--verify', '--quiet', `refs/tags/${name}`);
const told = () =>
  scene.sql.rows<{ payload: Record<string, unknown> }>`select payload from :schema.told order by id`;
const state = async (): Promise<unknown[]> => [
  await git(bare, 'show-ref'),
  await rowsOf(scene, 'releases', 'pushes', 'repositories(id, releases)', 'told'),
];

/** A refusal, and that nothing changed: no row, no ref, and nobody was told of anything. */
async function refused(ask: () => Promise<Reply>, status: number, message?: string | RegExp): Promise<void> {
  const before = await state();
  const reply = await ask();
  expect({ status: reply.status, text: reply.text }).toMatchObject({ status });
  expect(reply.body.message).toMatch(message ?? /./);
  expect(await state()).toEqual(before);
}

describe('a release', () => {
  it('makes its tag on the default branch, and says everything clients read', async () => {
    const { status, body } = await make({ tag_name: 'v1.0', name: 'One', body: 'Notes' });
    expect(status).toBe(201);
    const url = `${scene.address}/api/v1${at}/${body.id}`;
    expect(body).toEqual({
      id: expect.any(Number),
      tag_name: 'v1.0',
      target_commitish: 'main',
      name: 'One',
      body: 'Notes',
      url,
      html_url: `${scene.address}/ada/tool/releases/tag/v1.0`,
      tarball_url: `${scene.address}/api/v1/repos/ada/tool/archive/v1.0.tar.gz`,
      zipball_url: `${scene.address}/api/v1/repos/ada/tool/archive/v1.0.zip`,
      upload_url: `${url}/assets`,
      draft: false,
      prerelease: false,
      created_at: expect.stringMatching(/^20.*Z$/),
      published_at: expect.stringMatching(/^20.*Z$/),
      author: expect.objectContaining({ login: 'ada' }),
      assets: [],
    });
    expect(await tagAt('v1.0')).toBe(second);
    for (const path of [`${at}/${body.id}`, `${at}/tags/v1.0`, `${at}/latest`])
      expect((await ria.call('GET', path)).body).toMatchObject({ id: body.id });
    expect((await told()).map(({ payload }) => payload)).toMatchObject([
      { kind: 'ref', ref: 'refs/tags/v1.0', before: '0'.repeat(40), after: second },
      { kind: 'release', action: 'published', releaseId: body.id },
    ]);
    const archive = await fetch(String(body['tarball_url']), {
      headers: { authorization: `Bearer ${ria.token}` },
    });
    expect(archive.status).toBe(200);
    expect((await ria.call('GET', '/repos/ada/tool')).body).toMatchObject({
      has_releases: true,
      release_counter: 1,
    });
  });

  it('has its tag where it is wanted: on a branch, a tag or a commit, annotated with a message', async () => {
    await make({ tag_name: 'from/commit', target_commitish: first });
    expect(await tagAt('from/commit')).toBe(first);
    await make({ tag_name: 'from/tag', target_commitish: 'from/commit' }, wes);
    expect(await tagAt('from/tag')).toBe(first);
    const { body } = await make({ tag_name: 'signed off', tag_message: 'x' });
    expect(body.message).toBe('[TagName]: GitRefName');
    await make({ tag_name: 'said', target_commitish: 'main', tag_message: 'What is new' }, wes);
    const object = await tagAt('said');
    expect(await git(bare, 'cat-file', '-t', object)).toBe('tag');
    expect(await git(bare, 'cat-file', '-p', object)).toMatch(/^tagger .*wes[\s\S]*What is new$/m);
    expect(await git(bare, 'rev-parse', 'said^{commit}')).toBe(second);
  });

  it('takes a tag that is there as it is, whatever it should have been made of', async () => {
    await git(tree, 'push', '-q', 'origin', `${first}:refs/tags/pushed`);
    const { status, body } = await make({
      tag_name: 'pushed',
      target_commitish: 'nowhere',
      tag_message: 'm',
    });
    expect([status, body['target_commitish']]).toEqual([201, 'nowhere']);
    expect(await tagAt('pushed')).toBe(first);
  });

  it('is found and deleted by a tag with a slash, encoded or not; the tag stays', async () => {
    for (const name of ['from/commit', 'from%2Ftag'])
      expect((await ria.call('GET', `${at}/tags/${name}`)).status).toBe(200);
    expect((await wes.call('DELETE', `${at}/tags/from%2Ftag`)).status).toBe(204);
    await refused(() => wes.call('DELETE', `${at}/tags/from/tag`), 404);
    expect(await tagAt('from/tag')).toBe(first);
    expect((await told()).at(-1)?.payload).toMatchObject({
      kind: 'release',
      action: 'deleted',
      deleted: { tag_name: 'from/tag', author: { login: 'wes' } },
    });
    // And may be made again.
    expect((await make({ tag_name: 'from/tag' })).status).toBe(201);
  });

  it('is edited; what is empty or not given stays', async () => {
    const { id } = (await ria.call('GET', `${at}/tags/v1.0`)).body;
    const all = { name: 'Uno', body: 'More', prerelease: true, target_commitish: first };
    const edited = await wes.call('PATCH', `${at}/${id}`, all);
    expect(edited.body).toMatchObject({ ...all, tag_name: 'v1.0', author: { login: 'ada' }, draft: false });
    const { body: shown } = await ada.call('GET', `${at}/${id}`);
    const empty = { tag_name: '', name: '', body: null, target_commitish: '', draft: null };
    expect((await ada.call('PATCH', `${at}/${id}`, empty)).body).toEqual(shown);
    expect((await ada.call('PATCH', `${at}/${id}`)).body).toEqual(shown);
    expect(await tagAt('v1.0')).toBe(second);
    expect((await told()).at(-1)?.payload).toMatchObject({ kind: 'release', action: 'updated' });
    // No longer the latest, as it is not ready yet.
    expect((await ria.call('GET', `${at}/latest`)).body['tag_name']).toBe('from/tag');
    await ada.call('PATCH', `${at}/${id}`, { prerelease: false });
  });

  it('gets another tag, which is made if there is none, and stays published since when it was', async () => {
    const { body } = await make({ tag_name: 'typo', target_commitish: first });
    const edited = await ada.call('PATCH', `${at}/${body.id}`, { tag_name: 'v1.1' });
    expect(edited.body).toMatchObject({ tag_name: 'v1.1', draft: false, published_at: body['published_at'] });
    expect([await tagAt('typo'), await tagAt('v1.1')]).toEqual([first, first]);
    expect((await told()).slice(-2).map(({ payload }) => payload)).toMatchObject([
      { kind: 'ref', ref: 'refs/tags/v1.1' },
      { kind: 'release', action: 'updated' },
    ]);
    await ada.call('PATCH', `${at}/${body.id}`, { tag_name: 'typo' });
    expect((await ria.call('GET', `${at}/tags/typo`)).body.id).toBe(body.id);
    await ada.call('DELETE', `${at}/${body.id}`);
  });
});

describe('a draft', () => {
  it('makes no tag and is for writers only; published, it is for everybody', async () => {
    const before = await state();
    const wanted = { tag_name: 'v2', target_commitish: 'main', name: 'Two', draft: true };
    const { status, body } = await make(wanted, wes);
    expect([status, body['draft'], body['published_at']]).toEqual([201, true, NEVER]);
    expect((await state())[0]).toEqual(before[0]);
    const paths = [`${at}/${body.id}`, `${at}/tags/v2`, `${at}/${body.id}/assets`];
    for (const path of paths) {
      expect((await wes.call('GET', path)).status).toBe(200);
      await refused(() => ria.call('GET', path), 404);
    }
    const counted = async (who: Person, query = '') =>
      Number((await who.call('GET', `${at}${query}`)).headers.get('x-total-count'));
    expect(await counted(wes)).toBe((await counted(ria)) + 1);
    expect([await counted(wes, '?draft=true'), await counted(ria, '?draft=true')]).toEqual([1, 0]);
    expect((await ria.call('GET', `${at}/latest`)).body['tag_name']).not.toBe('v2');
    const counter = (await ria.call('GET', '/repos/ada/tool')).body['release_counter'] as number;

    await wes.call('PATCH', `${at}/${body.id}`, { name: 'Zwei' });
    expect((await told()).filter(({ payload }) => payload['releaseId'] === body.id)).toEqual([]);
    const published = await wes.call('PATCH', `${at}/${body.id}`, { draft: false });
    expect([published.status, published.body['draft'], published.body['name']]).toEqual([200, false, 'Zwei']);
    expect(published.body['published_at']).not.toBe(NEVER);
    expect(await tagAt('v2')).toBe(second);
    expect((await ria.call('GET', `${at}/latest`)).body.id).toBe(body.id);
    expect((await ria.call('GET', '/repos/ada/tool')).body['release_counter']).toBe(counter + 1);
    expect((await told()).at(-1)?.payload).toMatchObject({ kind: 'release', action: 'published' });
  });

  it('of what was published hides it again; its tag stays', async () => {
    const { id } = (await ada.call('GET', `${at}/tags/v2`)).body;
    const hidden = await ada.call('PATCH', `${at}/${id}`, { draft: true });
    expect(hidden.body).toMatchObject({ draft: true, published_at: NEVER });
    await refused(() => ria.call('GET', `${at}/${id}`), 404);
    expect(await tagAt('v2')).toBe(second);
    const before = (await told()).length;
    expect((await ada.call('DELETE', `${at}/${id}`)).status).toBe(204);
    expect(await told()).toHaveLength(before);
  });

  it('whose target is gone by then cannot be published', async () => {
    const { body } = await make({ tag_name: 'v3', target_commitish: 'gone', draft: true });
    await refused(() => ada.call('PATCH', `${at}/${body.id}`, { draft: false, name: 'x' }), 404, /gone/);
    await ada.call('DELETE', `${at}/${body.id}`);
  });
});

describe('a list', () => {
  it('is newest first, in pages, and filtered', async () => {
    await make({ tag_name: 'p1', prerelease: true });
    await make({ tag_name: 'd1', draft: true });
    const namesOf = async (query: string, who = ria) =>
      (await who.call('GET', `${at}${query}`)).items.map((one) => one['tag_name']);
    const [all, own] = [await namesOf(''), await namesOf('', ada)];
    expect(own).toEqual(['d1', ...all]);
    expect(all.slice(0, 2)).toEqual(['p1', 'from/tag']);
    expect(await namesOf('?pre-release=true')).toEqual(['p1']);
    expect(await namesOf('?pre-release=false&draft=false', ada)).toEqual(all.slice(1));
    expect(await namesOf('?draft=1', ada)).toEqual(['d1']);
    expect(await namesOf('?draft=perhaps&draft=true', ada)).toEqual(own);
    const { headers } = await ria.call('GET', `${at}?limit=2`);
    expect(headers.get('x-total-count')).toBe(String(all.length));
    expect(headers.get('link')).toContain('page=2');
    expect(await namesOf('?limit=2&page=2')).toEqual(all.slice(2, 4));
    expect(await namesOf('?page=99999999999999999999')).toEqual([]);
    expect(await namesOf('?page=0&limit=0')).toEqual(all);
    expect(await namesOf('?draft=%00&__proto__=x')).toEqual(all);
    await ada.call('DELETE', `${at}/tags/d1`);
  });

  it('has the newest publication first, whenever it was begun', async () => {
    const { body } = await make({ tag_name: 'long-planned', draft: true });
    await scene.sql.run`
      update :schema.releases set created_at = created_at - interval '1 year' where id = ${body.id}`;
    expect((await ada.call('GET', at)).items.at(-1)?.id).toBe(body.id);
    await ada.call('PATCH', `${at}/${body.id}`, { draft: false });
    expect((await ria.call('GET', `${at}/latest`)).body.id).toBe(body.id);
  });
});

describe('refused, and nothing changed', () => {
  it('a tag that has a release, in use or in the way', async () => {
    await refused(() => make({ tag_name: 'v1.0' }), 409, /already exists.*v1\.0/);
    await refused(() => make({ tag_name: 'v1.0', draft: true }), 409);
    await refused(() => make({ tag_name: 'v1.0/sub' }), 409);
    await refused(() => make({ tag_name: 'from' }), 409);
    const { body } = await make({ tag_name: 'other', draft: true });
    await refused(() => ada.call('PATCH', `${at}/${body.id}`, { tag_name: 'v1.0' }), 409);
    await refused(() => ada.call('PATCH', `${at}/${body.id}`, { tag_name: 'v1.0/sub', draft: false }), 409);
    await refused(() => ada.call('PATCH', `${at}/${body.id}`, { tag_name: 'a..b' }), 422);
    await ada.call('DELETE', `${at}/${body.id}`);
  });

  it.each(['a..b', '-x', 'a b', '.x', 'x.lock', 'refs/tags/x', '@', 'HEAD', 'a\\b', 'x~1', '', ' '])(
    'a tag that git would not make: %j',
    async (tag_name) => {
      await refused(() => make({ tag_name }), 422);
      await refused(() => make({ tag_name, draft: true }), 422);
    },
  );

  it.each([
    ['no tag', {}],
    ['a tag of too many characters', { tag_name: 'x'.repeat(101) }],
    ['a tag of too many bytes', { tag_name: '長'.repeat(100) }],
    ['NUL in the tag', { tag_name: 'a\0b' }],
    ['NUL in the name', { tag_name: 'n1', name: 'a\0b' }],
    ['NUL in the text', { tag_name: 'n1', body: 'a\0b' }],
    ['a name that is too long', { tag_name: 'n1', name: 'x'.repeat(256) }],
    ['a text that is too long', { tag_name: 'n1', body: 'x'.repeat(1_000_001) }],
    ['a target that is too long', { tag_name: 'n1', target_commitish: 'x'.repeat(256) }],
    ['a number for a tag', { tag_name: 1 }],
    ['a text for a switch', { tag_name: 'n1', draft: 'yes' }],
    ['a list for a text', { tag_name: 'n1', body: ['x'] }],
  ])('%s', async (_what, body) => {
    await refused(() => make(body), 422);
  });

  it.each(['none', 'main~1', '--all', 'deadbeef', 'ab'.repeat(20), ':/first'])(
    'a target that is not there: %s',
    async (target_commitish) => {
      await refused(() => make({ tag_name: 'n1', target_commitish }), 404);
    },
  );

  it('bodies that are none', async () => {
    await refused(() => ada.call('POST', at, '{'), 422);
    await refused(() => ada.call('POST', at, '[]'), 422);
    await refused(() => ada.call('POST', at, '{"__proto__":{"tag_name":"x"}}'), 422);
  });

  it.each(['0', '999999', '99999999999999999999', '1e3', '-1', '%00', 'x'.repeat(2000), '__proto__'])(
    'a release that is not there: %s',
    async (id) => {
      for (const method of ['GET', 'PATCH', 'DELETE'])
        await refused(() => ada.call(method, `${at}/${id}`, method === 'PATCH' ? {} : undefined), 404);
      for (const method of ['GET', 'DELETE']) await refused(() => ada.call(method, `${at}/tags/${id}`), 404);
    },
  );

  it('to those who may not', async () => {
    const { id } = (await ada.call('GET', `${at}/tags/v1.0`)).body;
    await refused(() => make({ tag_name: 'n1' }, ria), 403);
    await refused(() => ria.call('PATCH', `${at}/${id}`, { name: 'x' }), 403);
    await refused(() => ria.call('DELETE', `${at}/${id}`), 403);
    await refused(() => ria.call('DELETE', `${at}/tags/v1.0`), 403);
    // Of another repository, the id leads nowhere.
    await pushedRepository(ada, 'other', scene.folder);
    for (const method of ['GET', 'DELETE'])
      await refused(() => ada.call(method, `/repos/ada/other/releases/${id}`), 404);
  });

  it('in an archived repository and in one without commits', async () => {
    const { id } = (await ada.call('GET', `${at}/tags/v1.0`)).body;
    await ada.call('PATCH', '/repos/ada/tool', { archived: true });
    await refused(() => make({ tag_name: 'n1' }), 423);
    await refused(() => ada.call('PATCH', `${at}/${id}`, { name: 'x' }), 423);
    await refused(() => ada.call('DELETE', `${at}/${id}`), 423);
    await ada.call('PATCH', '/repos/ada/tool', { archived: false });
    await ada.call('POST', '/user/repos', { name: 'void' });
    await refused(() => ada.call('POST', '/repos/ada/void/releases', { tag_name: 'n1' }), 422, /empty/);
    expect((await ada.call('GET', '/repos/ada/void/releases')).items).toEqual([]);
    expect((await ada.call('GET', '/repos/ada/void/releases/latest')).status).toBe(404);
  });
});

describe('releases that are switched off', () => {
  const at = '/repos/ada/quiet';
  const edit = (body: object) => ada.call('PATCH', at, body);

  it('are shown to nobody and changed by nobody, and are there when they are on again', async () => {
    await ada.call('POST', '/user/repos', { name: 'quiet', auto_init: true });
    const release = (await ada.call('POST', `${at}/releases`, { tag_name: 'v1' })).body;
    const form = new FormData();
    form.append('attachment', new Blob(['built']), 'tool.txt');
    const headers = { authorization: `Bearer ${ada.token}` };
    const sent = await fetch(String(release['upload_url']), { method: 'POST', body: form, headers });
    const file = (await sent.json()) as { id: number; browser_download_url: string };
    const one = `${at}/releases/${release.id}`;
    const asks = [
      ['GET', `${at}/releases`],
      ['GET', `${at}/releases/latest`],
      ['GET', `${at}/releases/tags/v1`],
      ['GET', one],
      ['GET', `${one}/assets`],
      ['GET', `${one}/assets/${file.id}`],
      ['POST', `${at}/releases`, { tag_name: 'v2' }],
      ['PATCH', one, { name: 'other' }],
      ['PATCH', `${one}/assets/${file.id}`, { name: 'other.txt' }],
      ['DELETE', `${one}/assets/${file.id}`],
      ['DELETE', `${at}/releases/tags/v1`],
      ['DELETE', one],
    ] as const;
    const files = [file.browser_download_url, `${scene.address}/ada/quiet/releases/download/v1/tool.txt`];
    const downloads = async () =>
      await Promise.all(files.map(async (url) => (await fetch(url, { headers })).status));
    expect(await downloads()).toEqual([200, 200]);
    expect((await edit({ has_releases: false })).body).toMatchObject({
      has_releases: false,
      release_counter: 0,
    });
    // Without headers, which tell the second.
    const look = async () => [
      await rowsOf(scene, 'releases', 'attachments', 'told'),
      (await ada.call('GET', `${at}/tags`)).items,
    ];
    const before = await look();
    for (const [method, path, body] of asks)
      expect([method, path, (await ada.call(method, path, body)).status]).toEqual([method, path, 404]);
    expect(await downloads()).toEqual([404, 404]);
    expect(await look()).toEqual(before);
    // What an edit does not name stays.
    expect((await edit({ description: 'quiet' })).body).toMatchObject({ has_releases: false });
    expect((await edit({ has_releases: true })).body).toMatchObject({
      has_releases: true,
      release_counter: 1,
    });
    expect((await ada.call('GET', one)).body).toMatchObject({ id: release.id, assets: [{ id: file.id }] });
    expect(await downloads()).toEqual([200, 200]);
  });
});
