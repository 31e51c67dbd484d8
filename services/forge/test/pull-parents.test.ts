import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { type Person, pushBranch, useForge } from './forge.ts';
import { type ForkScene, forkScene } from './fork-scene.ts';

// What the repositories of a pull request are forks of: clients tell by it that one comes from a fork, and of what.

const scene = useForge();
let forks: ForkScene;
beforeAll(async () => {
  forks = await forkScene(scene);
});

async function open(who: Person, path: string, head: string): Promise<number> {
  const made = await who.call('POST', `${path}/pulls`, { head, base: 'main', title: head });
  expect(made.status, made.text).toBe(201);
  return made.body.number;
}
/** The parents of base and head, of one and in a list. */
async function parentsOf(who: Person, path: string, number: number): Promise<unknown[]> {
  const one = await who.call('GET', `${path}/pulls/${number}`);
  expect(one.status, one.text).toBe(200);
  const { items } = await who.call('GET', `${path}/pulls?state=all`);
  const listed = items.find((pull) => pull.number === number) ?? one.body;
  expect(listed).not.toBe(one.body);
  const parents = [one.body, listed].map((pull) =>
    ['base', 'head'].map((side) => {
      const { repo } = pull[side] as { repo: { parent: { full_name: string; parent: null } | null } };
      expect(repo.parent?.parent ?? null).toBeNull();
      return repo.parent?.full_name ?? null;
    }),
  );
  expect(parents[1]).toEqual(parents[0]);
  return parents[0] ?? [];
}

it('of a pull request from a fork the head has one, of one in a fork both have', async () => {
  const { ada, bob, eve, forked } = forks;
  await pushBranch(forked, 'feature', { 'feature.txt': 'x' });
  const number = await open(bob, '/repos/ada/work', 'bob:feature');
  expect(await parentsOf(eve, '/repos/ada/work', number)).toEqual([null, 'ada/work']);
  const { body } = await ada.call('GET', `/repos/ada/work/pulls/${number}`);
  const { repo } = body.head as unknown as { repo: { full_name: string; parent: unknown } };
  const own = (await ada.call('GET', '/repos/bob/bobs')).body;
  expect(repo.parent).toEqual(own['parent']);
  const inFork = await open(bob, '/repos/bob/bobs', 'feature');
  expect(await parentsOf(eve, '/repos/bob/bobs', inFork)).toEqual(['ada/work', 'ada/work']);
});

it('a fork of a fork names the fork, also where that is not the base', async () => {
  const { eve } = forks;
  await eve.call('POST', '/repos/bob/bobs/forks', { name: 'eves' });
  const tree = join(scene.folder, 'eves');
  await git(scene.folder, 'clone', '-q', eve.remote('eve/eves'), tree);
  await pushBranch(tree, 'deep', { 'deep.txt': 'x' });
  const number = await open(eve, '/repos/bob/bobs', 'eve:deep');
  expect(await parentsOf(eve, '/repos/bob/bobs', number)).toEqual(['ada/work', 'bob/bobs']);
});

it('a parent that the viewer may not read is null', async () => {
  const { ada, bob, eve } = forks;
  await ada.call('POST', '/user/repos', { name: 'secret', private: true, auto_init: true });
  await ada.call('PUT', '/repos/ada/secret/collaborators/bob', { permission: 'read' });
  await bob.call('POST', '/repos/ada/secret/forks', { name: 'hidden' });
  await bob.call('PUT', '/repos/bob/hidden/collaborators/eve', { permission: 'read' });
  const tree = join(scene.folder, 'hidden');
  await git(scene.folder, 'clone', '-q', bob.remote('bob/hidden'), tree);
  await pushBranch(tree, 'side', { 'side.txt': 'x' });
  const number = await open(bob, '/repos/bob/hidden', 'side');
  expect(await parentsOf(bob, '/repos/bob/hidden', number)).toEqual(['ada/secret', 'ada/secret']);
  expect(await parentsOf(eve, '/repos/bob/hidden', number)).toEqual([null, null]);
  expect((await eve.call('GET', `/repos/bob/hidden/pulls/${number}`)).text).not.toContain('secret');
});
