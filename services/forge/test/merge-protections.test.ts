import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
});

it('a protection names who may merge into a branch, and keeps a head branch that may not be deleted', async () => {
  const tree = await pushedRepository(ada, 'guarded', scene.folder);
  for (const branch of ['release', 'topic']) await pushBranch(tree, branch, { [`${branch}.txt`]: branch });
  const at = '/repos/ada/guarded';
  expect((await ada.call('PUT', `${at}/collaborators/bob`, { permission: 'write' })).status).toBe(204);
  for (const rule of ['main', 'release']) {
    const protection = {
      rule_name: rule,
      enable_push: true,
      enable_merge_whitelist: true,
      merge_whitelist_usernames: ['ada'],
    };
    expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
  }
  const open = async (head: string) =>
    (await bob.call('POST', `${at}/pulls`, { head, base: 'main', title: head })).body.number;
  const [release, topic] = [await open('release'), await open('topic')];
  const mainBefore = (await ada.call('GET', `${at}/branches/main`)).text;
  const merge = { Do: 'merge', delete_branch_after_merge: true };

  const refused = await bob.call('POST', `${at}/pulls/${topic}/merge`, merge);
  expect([refused.status, refused.body.message]).toEqual([405, 'User not allowed to merge PR']);
  expect((await ada.call('GET', `${at}/branches/main`)).text).toBe(mainBefore);
  expect((await ada.call('GET', `${at}/pulls/${topic}/merge`)).status).toBe(404);
  expect((await ada.call('GET', `${at}/branches/topic`)).status).toBe(200);

  const kept = await ada.call('POST', `${at}/pulls/${release}/merge`, merge);
  expect([kept.status, kept.body.message]).toEqual([403, 'branch protected']);
  expect((await ada.call('GET', `${at}/pulls/${release}/merge`)).status).toBe(204);
  expect((await ada.call('GET', `${at}/branches/release`)).status).toBe(200);

  expect((await ada.call('POST', `${at}/pulls/${topic}/merge`, merge)).status).toBe(200);
  expect((await ada.call('GET', `${at}/branches/topic`)).status).toBe(404);
});

it.each([
  ['signed commits', { require_signed_commits: true }, /signed commits only/],
  ['what files it keeps', { protected_file_patterns: 'keys/**;*.LOCK' }, /^Changed protected files$/],
])('a protection that says %s is not merged past, by its owner neither', async (name, options, message) => {
  const repository = `kept-${Object.keys(options).join()}`;
  const at = `/repos/ada/${repository}`;
  const tree = await pushedRepository(ada, repository, scene.folder);
  expect((await ada.call('PUT', `${at}/collaborators/bob`, { permission: 'write' })).status, name).toBe(204);
  const open = async (head: string, file: string) => {
    await pushBranch(tree, head, { [file]: head });
    return (await bob.call('POST', `${at}/pulls`, { head, base: 'main', title: head })).body.number;
  };
  const [locking, plain] = [await open('locking', 'x.lock'), await open('plain', 'plain.txt')];
  const protection = { rule_name: 'main', enable_push: true, ...options };
  expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
  const bare = await scene.bare('ada', repository);
  const stored = () =>
    Promise.all([
      git(bare, 'for-each-ref'),
      git(bare, 'count-objects', '-v'),
      scene.sql.rows`select * from :schema.pulls order by id`,
      scene.sql.rows`select * from :schema.merges`,
    ]);
  const before = await stored();
  for (const person of [ada, bob]) {
    const answer = await person.call('POST', `${at}/pulls/${locking}/merge`, { Do: 'merge' });
    expect([answer.status, answer.body.message]).toEqual([405, expect.stringMatching(message)]);
  }
  expect(await stored()).toEqual(before);
  // What it says nothing of.
  const merged = await bob.call('POST', `${at}/pulls/${plain}/merge`, { Do: 'merge' });
  expect(merged.status).toBe('protected_file_patterns' in options ? 200 : 405);
});
