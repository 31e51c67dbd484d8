import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { git } from '@croft/testing';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { askDuring } from './ask-during.ts';
import { type Person, pushedRepository, useForge } from './forge.ts';
import { NONE, pushByHand } from './push-by-hand.ts';
import { rowsOf } from './rows-of.ts';

// A branch that a push deletes while an edit makes it the default one: one of both is refused, whichever comes first.

const scene = useForge();
let ada: Person;
let tree: string;
let bare: string;
let side: string;
const at = '/repos/ada/work';
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});
beforeEach(async () => {
  await git(tree, 'push', '-q', 'origin', 'main:side');
  side = await git(bare, 'rev-parse', 'side');
});

const deletion = () => pushByHand(scene, ada, 'ada/work', [`${side} ${NONE} refs/heads/side`]);
const makeDefault = (more: object = {}) => ada.call('PATCH', at, { default_branch: 'side', ...more });
const stands = async () => [
  await git(bare, 'symbolic-ref', 'HEAD'),
  (await ada.call('GET', at)).body['default_branch'],
  (await git(bare, 'for-each-ref', '--format=%(refname)', 'refs/heads')).split('\n'),
];

it('an edit does not take a branch that a push is deleting', async () => {
  const lock = join(bare, 'packed-refs.lock');
  const before = await rowsOf(scene, 'repositories(id, name, description, default_branch)');
  // git has looked at HEAD and waits for this, for a second.
  await writeFile(lock, '');
  const pushed = deletion();
  await expect.poll(() => scene.sql.rows`select id from :schema.pushes`, { interval: 10 }).not.toEqual([]);
  await sleep(300);
  const edited = await makeDefault({ description: 'other' });
  expect(await rowsOf(scene, 'repositories(id, name, description, default_branch)')).toEqual(before);
  await rm(lock);
  expect(await pushed).toContain('ok refs/heads/side');
  expect(edited).toMatchObject({ status: 422, body: { message: "the branch 'side' is being deleted" } });
  expect(await stands()).toEqual(['refs/heads/main', 'main', ['refs/heads/main']]);
  expect((await makeDefault()).status).toBe(422);
});

it('a push does not delete a branch that an edit has taken', async () => {
  const before = await stands();
  const answer = await askDuring(
    scene,
    (tx) => tx.run`update :schema.repositories set default_branch = 'side' where name = 'work'`,
    async () => ({ status: 0, text: await deletion() }) as never,
  );
  expect(answer.text).not.toContain('ok refs/heads/side');
  expect(answer.text).toContain('please try again');
  expect((await ada.call('GET', at)).body['default_branch']).toBe('side');
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  await ada.call('PATCH', at, { default_branch: 'main' });
  expect(await stands()).toEqual(before);
});

it('an edit that is refused for its name leaves the default branch', async () => {
  await ada.call('POST', '/user/repos', { name: 'taken' });
  const before = await stands();
  const refused = await makeDefault({ name: 'taken' });
  expect(refused.status, refused.text).toBe(422);
  expect(await stands()).toEqual(before);
});

it('of many at once, none leaves a default branch that is not there', async () => {
  for (let n = 0; n < 8; n++) {
    const [edited] = await Promise.all([makeDefault(), deletion().catch(() => '')]);
    expect([200, 422]).toContain(edited.status);
    const [head, branch, branches] = await stands();
    expect(head).toBe(`refs/heads/${String(branch)}`);
    expect(branches).toContain(head);
    expect((await ada.call('PATCH', at, { default_branch: 'main' })).status).toBe(200);
    await git(tree, 'push', '-q', 'origin', 'main:side');
  }
});
