import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, pushedRepository, useForge } from './forge.ts';
import { type Cast, castOf, openTo, organization } from './repository-scene.ts';

const scene = useForge();
let cast: Cast;
let tree: string;
beforeAll(async () => {
  cast = await castOf(scene)();
  tree = await pushedRepository(cast.ada, 'pattern', scene.folder);
  await commit(tree, { 'secret.txt': 'once\n' }, 'too much');
  await commit(tree, { 'secret.txt': null, 'src/run.sh': '#!/bin/sh\n' }, 'taken back');
  await git(tree, 'push', '-q', 'origin', 'main');
  await cast.ada.call('PUT', '/repos/ada/pattern/topics', { topics: ['sewing'] });
  await cast.ada.call('POST', '/repos/ada/pattern/labels', {
    name: 'size/large',
    color: '#00aabb',
    description: 'Wide',
    exclusive: true,
  });
  await organization(scene, 'club', { owner: cast.ada, maker: cast.writer });
});

/** Rows and folders of repositories. */
const stored = async () => [
  await scene.sql.rows`select id, name, state from :schema.repositories order by id`,
  (await readdir(join(scene.dataFolder, 'repositories'))).toSorted(),
];
const labelsOf = async (repository: string) =>
  (await cast.ada.call('GET', `/repos/${repository}/labels`)).items;

describe('label sets', () => {
  it('are named, and shown with their labels', async () => {
    const names = ['Advanced', 'Default'];
    expect((await cast.reader.call('GET', '/label/templates')).items).toEqual(names);
    for (const name of names) {
      const { items } = await cast.reader.call('GET', `/label/templates/${name.toLowerCase()}`);
      expect(items.length).toBeGreaterThan(5);
      for (const label of items) {
        expect(label).toEqual({
          name: expect.stringMatching(/\S/),
          color: expect.stringMatching(/^[0-9a-f]{6}$/),
          description: expect.stringMatching(/\S/),
          exclusive: String(label['name']).includes('/') && label['exclusive'],
        });
      }
    }
    expect((await cast.reader.call('GET', '/label/templates/None')).status).toBe(404);
  });

  it('are what a repository starts with when one is named', async () => {
    const wish = { name: 'labelled', issue_labels: 'default', auto_init: true, readme: 'Default' };
    expect((await cast.ada.call('POST', '/user/repos', wish)).status).toBe(201);
    const { items } = await cast.ada.call('GET', '/label/templates/Default');
    expect(await labelsOf('ada/labelled')).toMatchObject(
      items.map((label) => ({ ...label, is_archived: false })),
    );
    await cast.ada.call('POST', '/user/repos', { name: 'bare' });
    expect(await labelsOf('ada/bare')).toEqual([]);
  });

  it.each([{ issue_labels: 'None' }, { readme: 'Long', auto_init: true }])(
    'are refused when there are none, as other templates: %j',
    async (wish) => {
      const before = await stored();
      expect((await cast.ada.call('POST', '/user/repos', { name: 'never', ...wish })).status).toBe(422);
      expect(await stored()).toEqual(before);
    },
  );
});

describe('generating from a template', () => {
  const path = '/repos/ada/pattern/generate';

  it('is for templates only', async () => {
    const before = await stored();
    const refused = await cast.stranger.call('POST', path, { name: 'early', git_content: true });
    expect([refused.status, refused.body.message]).toEqual([422, 'this is not a template repo']);
    expect(await stored()).toEqual(before);
    await cast.ada.call('PATCH', '/repos/ada/pattern', { template: true });
  });

  it('takes the files without their history, topics and labels', async () => {
    const wish = { name: 'dress', description: 'Blue', git_content: true, topics: true, labels: true };
    const { status, body } = await cast.stranger.call('POST', path, wish);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      full_name: 'stranger/dress',
      description: 'Blue',
      fork: false,
      parent: null,
      template: false,
      empty: false,
      branch_count: 1,
      topics: ['sewing'],
      permissions: { admin: true },
    });
    const bare = await scene.bare('stranger', 'dress');
    expect(await git(bare, 'rev-parse', 'main^{tree}')).toBe(await git(tree, 'rev-parse', 'main^{tree}'));
    expect(await git(bare, 'log', '--format=%an %s', '--all')).toBe('stranger Initial commit');
    expect(await git(bare, 'fsck', '--full', '--strict', '--unreachable')).toBe('');
    // What was taken back in the template's history is not in the new one at all.
    const once = await git(tree, 'rev-parse', 'main~1:secret.txt');
    await expect(git(bare, 'cat-file', '-e', once)).rejects.toThrow();
    expect(await labelsOf('stranger/dress')).toMatchObject([
      { name: 'size/large', color: '00aabb', description: 'Wide', exclusive: true },
    ]);
    await git(scene.folder, 'clone', '-q', cast.stranger.remote('stranger/dress'), 'dress');
    await commit(join(scene.folder, 'dress'), { 'new.txt': 'x' }, 'goes on');
    await git(join(scene.folder, 'dress'), 'push', '-q', 'origin', 'main');
  });

  it('takes only what is asked for, under another branch, for an organization', async () => {
    const wish = { owner: 'club', name: 'skirt', private: true, default_branch: 'trunk', labels: true };
    const { status, body } = await cast.writer.call('POST', path, wish);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      full_name: 'club/skirt',
      private: true,
      empty: true,
      branch_count: 0,
      default_branch: 'trunk',
      topics: [],
    });
    const content = { name: 'coat', git_content: true, default_branch: 'trunk', owner: 'writer' };
    const made = await cast.writer.call('POST', path, content);
    expect(made.body).toMatchObject({ full_name: 'writer/coat', default_branch: 'trunk', empty: false });
    expect(await labelsOf('writer/coat')).toEqual([]);
  });

  it.each([
    ['nothing', 'stranger', { name: 'x' }, 422],
    ['hooks', 'stranger', { name: 'x', git_content: true, webhooks: true }, 422],
    ['protections', 'stranger', { name: 'x', git_content: true, protected_branch: true }, 422],
    ['no name', 'stranger', { git_content: true }, 422],
    ['a name nobody can have', 'stranger', { name: '..', git_content: true }, 422],
    ['a branch that cannot be', 'stranger', { name: 'x', git_content: true, default_branch: 'a..b' }, 422],
    ['a name that is taken', 'ada', { name: 'Pattern', git_content: true }, 409],
    ['an organization one may make nothing in', 'reader', { owner: 'club', name: 'x', topics: true }, 403],
    ['somebody else', 'reader', { owner: 'ada', name: 'x', topics: true }, 404],
  ] as const)('with %s is refused, and nothing is left', async (_what, who, wish, expected) => {
    const before = await stored();
    expect((await cast[who].call('POST', path, wish)).status).toBe(expected);
    expect(await stored()).toEqual(before);
  });

  it('takes labels only for whoever may read them where they are', async () => {
    const { items } = await cast.ada.call('GET', '/orgs/club/teams');
    const coders = { name: 'coders', units: ['repo.code'], includes_all_repositories: true };
    const { id } = (await cast.ada.call('POST', '/orgs/club/teams', coders)).body;
    expect([items.length, id]).toEqual([2, expect.any(Number)]);
    await cast.ada.call('PUT', `/teams/${id}/members/reader`);
    const template = { name: 'cut', private: true, template: true, auto_init: true, issue_labels: 'Default' };
    expect((await cast.ada.call('POST', '/orgs/club/repos', template)).status).toBe(201);
    expect((await cast.reader.call('GET', '/repos/club/cut/labels')).status).toBe(404);
    const before = await stored();
    const wish = { name: 'sewn', git_content: true, private: true };
    const from = '/repos/club/cut/generate';
    expect((await cast.reader.call('POST', from, { ...wish, labels: true })).status).toBe(404);
    expect(await stored()).toEqual(before);
    expect((await cast.reader.call('POST', from, wish)).status).toBe(201);
  });

  it('works from an empty one, and not from what one may not see', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'blank', template: true, private: true });
    const wish = { name: 'plain', git_content: true };
    const before = await stored();
    const hidden = await cast.stranger.call('POST', '/repos/ada/blank/generate', wish);
    const none = await cast.stranger.call('POST', '/repos/ada/none-such/generate', wish);
    expect([hidden.status, hidden.text]).toEqual([404, none.text]);
    expect(await stored()).toEqual(before);
    await openTo(cast, 'ada/blank');
    const made = await cast.reader.call('POST', '/repos/ada/blank/generate', wish);
    expect(made).toMatchObject({ status: 201, body: { empty: true, branch_count: 0 } });
  });
});
