import { expect, it } from 'vitest';
import { pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();

it('a protection names who may merge into a branch, and keeps a head branch that may not be deleted', async () => {
  const [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
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
