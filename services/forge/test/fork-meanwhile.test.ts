import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { scriptedGit } from './scripted-git.ts';

// What changes about a repository while it is forked.

/** Forks wait at the reading of the refs while there is a file `slow`, and say so with a file `forking`. */
const program = await scriptedGit(
  (folder) =>
    `case "$*" in *for-each-ref*refs/heads*refs/tags*) while [ -e ${folder}/slow ]; do touch ${folder}/forking; sleep 0.05; done;; esac`,
);
const { folder } = program;
const [slow, forking] = [join(folder, 'slow'), join(folder, 'forking')];
afterAll(() => program[Symbol.asyncDispose]());

const scene = useForge({ environment: { FORGE_GIT_COMMAND: program.command } });
let ada: Person;
let bob: Person;
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
  await ada.call('POST', '/orgs', { username: 'club' });
});

/** A repository of the club with `secret` on a branch that came while bob forked it, and after something else changed. */
async function forkedMeanwhile(name: string, change: () => Promise<unknown>) {
  const tree = await pushedRepository(ada, name, scene.folder);
  expect((await ada.call('POST', `/repos/ada/${name}/transfer`, { new_owner: 'club' })).status).toBe(202);
  await git(tree, 'remote', 'set-url', 'origin', ada.remote(`club/${name}`));
  const stored = async () => [
    await scene.sql.rows`select id, name, state, forks from :schema.repositories order by id`,
    (await readdir(join(scene.dataFolder, 'repositories'))).toSorted(),
  ];
  const before = await stored();
  await writeFile(slow, '');
  const answer = bob.call('POST', `/repos/club/${name}/forks`, {});
  await expect.poll(() => readdir(folder)).toContain('forking');
  await change();
  await pushBranch(tree, 'secret', { secret: '1' });
  await rm(slow);
  const { status, body } = await answer;
  await rm(forking);
  return { status, body, before, after: await stored() };
}

it.each([
  ['became private', (at: string) => ada.call('PATCH', at, { private: true })],
  [
    'became private, though he may read it',
    async (at: string) => {
      await ada.call('PUT', `${at}/collaborators/bob`, { permission: 'read' });
      await ada.call('PATCH', at, { private: true });
    },
  ],
  ['has an owner who became hidden', () => ada.call('PATCH', '/orgs/club', { visibility: 'limited' })],
])('nothing is left of the fork of what %s', async (what, change) => {
  const name = `work-${what.length}`;
  const { status, before, after } = await forkedMeanwhile(name, () => change(`/repos/club/${name}`));
  expect(status).toBe(404);
  expect((await bob.call('GET', `/repos/bob/${name}`)).status).toBe(404);
  expect(after).toEqual(before);
  await ada.call('PATCH', '/orgs/club', { visibility: 'public' });
});

it('other changes do not matter', async () => {
  const change = () => ada.call('PATCH', '/repos/club/open', { description: 'More' });
  const { status, body } = await forkedMeanwhile('open', change);
  expect([status, body.full_name, body.private]).toEqual([202, 'bob/open', false]);
});
