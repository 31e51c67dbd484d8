import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  await ada.call('PUT', '/repos/ada/work/collaborators/bob', { permission: 'write' });
});

const at = '/repos/ada/work';
async function pull(branch: string): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [`${branch}.txt`]: branch }, 'origin/main');
  const made = await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch });
  if (made.status !== 201) throw new Error(made.text);
  return made.body.number;
}
const refsOf = (number: number) => git(bare, 'for-each-ref', `refs/pull/${number}/`, 'refs/queue/');
const advertised = async () => await git(scene.folder, 'ls-remote', bob.remote('ada/work'));
const raw = (number: number, file: string) =>
  bob.call('GET', `${at}/raw/${file}?ref=refs/pull/${number}/head`);
const stored = () =>
  Promise.all([git(bare, 'for-each-ref'), rowsOf(scene, 'issues', 'pulls', 'comments', 'merge_queue')]);

describe('a pull request that is deleted', () => {
  it.each([
    ['open', async () => {}],
    ['closed', (number: number) => ada.call('PATCH', `${at}/pulls/${number}`, { state: 'closed' })],
    ['merged', (number: number) => ada.call('POST', `${at}/pulls/${number}/merge`, { Do: 'squash' })],
  ])('and %s takes its ref along, packed or not', async (state, become) => {
    const number = await pull(`pw-${state}`);
    await become(number);
    await git(tree, 'push', '-q', 'origin', `:pw-${state}`);
    if (state === 'closed') await git(bare, 'pack-refs', '--all');
    expect(await advertised()).toContain(`refs/pull/${number}/head`);
    expect((await raw(number, `pw-${state}.txt`)).status).toBe(200);
    expect((await ada.call('DELETE', `${at}/issues/${number}`)).status).toBe(204);
    expect(await refsOf(number)).toBe('');
    expect(await advertised()).not.toContain(`refs/pull/${number}/`);
    expect((await raw(number, `pw-${state}.txt`)).status).toBe(404);
    expect((await ada.call('DELETE', `${at}/issues/${number}`)).status).toBe(404);
  });

  it('leaves the refs of others and of its branch', async () => {
    const [kept, gone] = [await pull('kept'), await pull('gone')];
    const others = async () =>
      (await git(bare, 'for-each-ref'))
        .split('\n')
        .filter((line) => !line.endsWith(`refs/pull/${gone}/head`));
    const before = await others();
    expect((await ada.call('DELETE', `${at}/issues/${gone}`)).status).toBe(204);
    expect(await others()).toEqual(before);
    expect(await refsOf(kept)).not.toBe('');
  });

  it('takes the ref of its place in a merge queue along', async () => {
    const number = await pull('queued');
    const checks = { enable_merge_queue: true, enable_status_check: true, status_check_contexts: ['ci'] };
    const rule = { rule_name: 'main', enable_push: true, ...checks };
    expect((await ada.call('POST', `${at}/branch_protections`, rule)).status).toBe(201);
    expect((await ada.call('POST', `${at}/pulls/${number}/merge`, {})).status).toBe(201);
    await expect.poll(() => refsOf(number)).toContain(`refs/queue/main/${number}`);
    expect((await ada.call('DELETE', `${at}/issues/${number}`)).status).toBe(204);
    expect(await refsOf(number)).toBe('');
    expect(await rowsOf(scene, 'merge_queue')).toEqual([[]]);
    await ada.call('DELETE', `${at}/branch_protections/main`);
  });

  it('is not by who does not administrate, and nothing changes', async () => {
    const number = await pull('refused');
    const before = await stored();
    expect((await bob.call('DELETE', `${at}/issues/${number}`)).status).toBe(403);
    expect(await stored()).toEqual(before);
  });

  it('stays as it was when its ref cannot be removed', async () => {
    const number = await pull('stuck');
    const lock = join(bare, `refs/pull/${number}/head.lock`);
    await writeFile(lock, '');
    const before = await stored();
    expect((await ada.call('DELETE', `${at}/issues/${number}`)).status).toBe(500);
    await rm(lock);
    expect((await stored())[0]).toBe(before[0]);
    expect((await ada.call('GET', `${at}/pulls/${number}.diff`)).text).toContain('+stuck');
    await scene.restart();
    await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
    expect(await stored()).toEqual(before);
    expect((await ada.call('DELETE', `${at}/issues/${number}`)).status).toBe(204);
    expect(await refsOf(number)).toBe('');
  });

  it('stays as it was when its rows cannot be removed', async () => {
    const number = await pull('held');
    const before = await stored();
    await scene.sql.script(`
      create function forge.fail() returns trigger language plpgsql as 'begin raise exception ''no''; end';
      create trigger fail before delete on forge.pulls for each row execute function forge.fail()`);
    expect((await ada.call('DELETE', `${at}/issues/${number}`)).status).toBe(500);
    await scene.sql.script('drop function forge.fail() cascade');
    expect(await stored()).toEqual(before);
  });
});
