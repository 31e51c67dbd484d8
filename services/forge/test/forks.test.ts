import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, pushBranch, pushedRepository, useForge } from './forge.ts';
import { type Cast, castOf, openTo, organization } from './repository-scene.ts';

const scene = useForge();
let cast: Cast;
let tree: string;
beforeAll(async () => {
  cast = await castOf(scene)();
  tree = await pushedRepository(cast.ada, 'garden', scene.folder);
  await pushBranch(tree, 'feature/x', { 'x.txt': 'x\n' });
  await git(tree, 'tag', '-a', 'v1', '-m', 'one');
  await git(tree, 'push', '-q', 'origin', 'v1');
  await cast.ada.call('POST', '/repos/ada/garden/pulls', { title: 'x', head: 'feature/x', base: 'main' });
  await openTo(cast, 'ada/garden');
  await organization(scene, 'club', { owner: cast.ada, maker: cast.writer });
});
const folder = (id: number) => join(scene.dataFolder, 'repositories', `${id}.git`);
const refsOf = (bare: string) => git(bare, 'for-each-ref', '--format=%(refname) %(objectname)');

it('a fork has branches and tags, its parent, and objects that are the same files', async () => {
  const { status, body } = await cast.stranger.call('POST', '/repos/ada/garden/forks', {});
  expect(status).toBe(202);
  expect(body).toMatchObject({
    full_name: 'stranger/garden',
    fork: true,
    empty: false,
    parent: { full_name: 'ada/garden', parent: null },
    permissions: { admin: true },
  });
  const source = await scene.bare('ada', 'garden');
  const wanted = (await refsOf(source)).split('\n').filter((line) => !line.startsWith('refs/pull/'));
  expect((await refsOf(folder(body.id))).split('\n')).toEqual(wanted);
  expect(await git(folder(body.id), 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  expect(existsSync(join(folder(body.id), 'objects/info/alternates'))).toBe(false);
  const [prefix = ''] = (await readdir(join(source, 'objects'))).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const [name = ''] = await readdir(join(source, 'objects', prefix));
  const inode = (of: string) => statSync(join(of, 'objects', prefix, name)).ino;
  expect(inode(folder(body.id))).toBe(inode(source));
  expect((await cast.ada.call('GET', '/repos/ada/garden')).body).toMatchObject({ forks_count: 1 });
  const forks = await cast.reader.call('GET', '/repos/ada/garden/forks');
  expect(forks.items.map((fork) => fork['full_name'])).toEqual(['stranger/garden']);
});

it.each([
  ['twice', 'stranger', {}, 409],
  ['under a name that is taken', 'writer', { name: 'mine' }, 409],
  ['for the owner it has', 'ada', {}, 422],
  ['for an organization one may make nothing in', 'reader', { organization: 'club' }, 403],
  ['for no organization', 'reader', { organization: 'none-such' }, 404],
  ['under no name', 'reader', { name: '..' }, 422],
] as const)('forking %s is refused, and nothing is left', async (_what, who, wish, expected) => {
  await cast.writer.call('POST', '/user/repos', { name: 'mine' });
  const before = [
    await scene.sql.rows`select id, state from :schema.repositories order by id`,
    (await readdir(join(scene.dataFolder, 'repositories'))).toSorted(),
  ];
  expect((await cast[who].call('POST', '/repos/ada/garden/forks', wish)).status).toBe(expected);
  expect([
    await scene.sql.rows`select id, state from :schema.repositories order by id`,
    (await readdir(join(scene.dataFolder, 'repositories'))).toSorted(),
  ]).toEqual(before);
});

it('whoever may make repositories in an organization forks for it, and administrates the fork', async () => {
  const wish = { organization: 'club', name: 'ours' };
  const { status, body } = await cast.writer.call('POST', '/repos/ada/garden/forks', wish);
  expect(status).toBe(202);
  expect(body).toMatchObject({ full_name: 'club/ours', permissions: { admin: true } });
});

describe('what is private', () => {
  beforeAll(async () => {
    await pushedRepository(cast.ada, 'diary', scene.folder, { private: true });
    await cast.ada.call('PUT', '/repos/ada/diary/collaborators/reader', { permission: 'read' });
  });

  it('looks like nothing to strangers', async () => {
    const hidden = await cast.stranger.call('POST', '/repos/ada/diary/forks', {});
    const none = await cast.stranger.call('POST', '/repos/ada/none-such/forks', {});
    expect([hidden.status, hidden.text]).toEqual([404, none.text]);
  });

  it('stays private in its forks, and is not counted', async () => {
    const { body } = await cast.reader.call('POST', '/repos/ada/diary/forks', {});
    expect(body).toMatchObject({ private: true, parent: { full_name: 'ada/diary' } });
    const opened = await cast.reader.call('PATCH', '/repos/reader/diary', { private: false });
    expect(opened.status).toBe(422);
    expect((await cast.reader.call('GET', '/repos/reader/diary')).body).toMatchObject({ private: true });
    expect((await cast.ada.call('GET', '/repos/ada/diary')).body).toMatchObject({ forks_count: 0 });
    // Not even the owner of the original learns of a fork he may not see.
    expect((await cast.ada.call('GET', '/repos/ada/diary/forks')).items).toEqual([]);
  });

  it('is not counted either when its owner became hidden, and is again when he shows himself', async () => {
    await pushedRepository(cast.ada, 'seeds', scene.folder);
    await cast.writer.call('POST', '/repos/ada/seeds/forks', { organization: 'club' });
    const forks = async () => (await cast.reader.call('GET', '/repos/ada/seeds')).body['forks_count'];
    const counts = [await forks()];
    for (const visibility of ['private', 'public', 'limited']) {
      expect((await cast.ada.call('PATCH', '/orgs/club', { visibility })).status).toBe(200);
      counts.push(await forks());
    }
    await cast.ada.call('PATCH', '/orgs/club', { visibility: 'public' });
    expect(counts).toEqual([1, 0, 1, 0]);
  });

  it('is not named by a public fork', async () => {
    await pushedRepository(cast.ada, 'once-open', scene.folder);
    await cast.stranger.call('POST', '/repos/ada/once-open/forks', {});
    await cast.ada.call('PATCH', '/repos/ada/once-open', { private: true });
    for (const path of ['/repos/stranger/once-open', '/repos/search?q=once-open', '/users/stranger/repos']) {
      const { status, text } = await cast.writer.call('GET', path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toContain('ada/once-open');
    }
    const { body } = await cast.writer.call('GET', '/repos/stranger/once-open');
    expect(body).toMatchObject({ fork: true, parent: null });
    expect((await cast.ada.call('GET', '/repos/stranger/once-open')).body).toMatchObject({
      parent: { full_name: 'ada/once-open' },
    });
  });
});

it('a fork keeps every object when the original is packed anew, pruned and removed', async () => {
  await pushedRepository(cast.ada, 'short-lived', scene.folder);
  const { body: fork } = await cast.stranger.call('POST', '/repos/ada/short-lived/forks', { name: 'heir' });
  const source = await scene.bare('ada', 'short-lived');
  await git(source, 'gc', '--prune=now', '--aggressive', '-q');
  expect(await git(folder(fork.id), 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  await git(folder(fork.id), 'repack', '-a', '-d', '-q');
  expect(await git(source, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  expect((await cast.ada.call('DELETE', '/repos/ada/short-lived')).status).toBe(204);
  expect(existsSync(source)).toBe(false);
  expect(await git(folder(fork.id), 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  await git(scene.folder, 'clone', '-q', cast.stranger.remote('stranger/heir'), 'heir');
  await commit(join(scene.folder, 'heir'), { 'new.txt': 'x' }, 'goes on');
  await git(join(scene.folder, 'heir'), 'push', '-q', 'origin', 'main');
  expect((await cast.stranger.call('GET', '/repos/stranger/heir')).body).toMatchObject({
    fork: false,
    parent: null,
  });
});

it('forks made while the original is packed are whole', async () => {
  const made = await pushedRepository(cast.ada, 'restless', scene.folder);
  const source = await scene.bare('ada', 'restless');
  let done = false;
  const packing = (async () => {
    for (let round = 0; !done; round++) {
      await commit(made, { [`f${round}.txt`]: `${round}\n` }, `round ${round}`);
      await git(made, 'push', '-q', 'origin', 'main');
      await git(source, 'repack', '-d', '-q');
      await git(source, 'repack', '-a', '-d', '-q');
    }
  })();
  for (let count = 0; count < 8; count++) {
    const wish = { name: `restless-${count}` };
    const { status, body } = await cast.stranger.call('POST', '/repos/ada/restless/forks', wish);
    expect([status, body.message]).toEqual([202, undefined]);
    expect(await git(folder(body.id), 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    // One fork for each owner: the next is another one's turn.
    await cast.stranger.call('DELETE', `/repos/stranger/restless-${count}`);
  }
  done = true;
  await packing;
});

it('of a fork and a removal at a time, the fork is whole or was never there', async () => {
  for (let round = 0; round < 5; round++) {
    const name = `racing-${round}`;
    await pushedRepository(cast.ada, name, scene.folder);
    const [forked, removed] = await Promise.all([
      cast.reader.call('POST', `/repos/ada/${name}/forks`, {}),
      cast.ada.call('DELETE', `/repos/ada/${name}`),
    ]);
    expect(removed.status).toBe(204);
    expect([202, 404]).toContain(forked.status);
    const left = await scene.sql.rows<{ id: number; state: string }>`
      select id, state from :schema.repositories where name = ${name}`;
    if (forked.status === 404) expect(left).toEqual([]);
    else {
      expect(left).toEqual([{ id: forked.body.id, state: 'ready' }]);
      expect(await git(folder(forked.body.id), 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    }
  }
});

describe('a comparison with a fork', () => {
  let head: string;
  const compare = (who: 'reader' | 'stranger' | 'ada', names: string, path = 'ada/garden') =>
    cast[who].call('GET', `/repos/${path}/compare/${names}`);
  beforeAll(async () => {
    const work = join(scene.folder, 'work');
    await git(scene.folder, 'clone', '-q', cast.stranger.remote('stranger/garden'), work);
    await commit(work, { 'ours.txt': 'ours\n' }, 'theirs');
    head = await commit(work, { 'ours.txt': 'ours\nmore\n' }, 'theirs, too');
    await git(work, 'push', '-q', 'origin', 'main:proposal');
    // The base goes on as well: neither of the two has all commits.
    await commit(tree, { 'garden.txt': 'grown\n' }, 'grown');
    await git(tree, 'push', '-q', 'origin', 'main');
  });

  it.each(['main...stranger:proposal', 'main...Stranger/Garden:proposal', 'main..stranger%3Aproposal'])(
    'by %s has its commits and its changes',
    async (names) => {
      const { status, body } = await compare('reader', names);
      expect(status).toBe(200);
      expect(body).toMatchObject({ total_commits: 2, commits: [{ sha: head }, {}] });
      expect(JSON.stringify(body)).toContain(`/repos/stranger/garden/git/commits/${head}`);
      const diff = await compare('reader', `${names}?output=diff`);
      expect(diff.text).toContain('+more');
      expect(diff.text).not.toContain('garden.txt');
      expect((await compare('reader', `${names}?output=patch`)).text).toContain(
        'Subject: [PATCH 2/2] theirs, too',
      );
    },
  );

  it('goes the other way, to siblings, and to itself', async () => {
    const back = await compare('reader', 'proposal...ada:main', 'stranger/garden');
    expect(back.body).toMatchObject({ total_commits: 1 });
    const sibling = await compare('reader', 'main...stranger:proposal', 'club/ours');
    expect(sibling.body).toMatchObject({ total_commits: 2 });
    expect((await compare('reader', 'feature/x...ada:main')).body).toMatchObject({ total_commits: 1 });
  });

  it('is not there for strangers of the head, nor with what is no kin', async () => {
    const missing = (await compare('reader', 'main...stranger:none')).status;
    expect(missing).toBe(404);
    await cast.stranger.call('POST', '/user/repos', { name: 'alone', auto_init: true });
    const { body: secret } = await cast.reader.call('POST', '/repos/ada/garden/forks', { name: 'hidden' });
    await scene.sql.run`update :schema.repositories set private = true where id = ${secret.id}`;
    const nobody = await compare('stranger', 'main...nobody-here:main');
    for (const names of [
      'main...stranger/alone:main',
      'main...reader:main',
      'main...reader/hidden:main',
      'main...:main',
    ])
      expect([names, (await compare('stranger', names)).text]).toEqual([names, nobody.text]);
    expect(nobody.status).toBe(404);
    expect((await compare('reader', 'main...reader:main')).status).toBe(200);
    expect((await compare('stranger', 'main...ada:main', 'reader/hidden')).status).toBe(404);
  });
});
