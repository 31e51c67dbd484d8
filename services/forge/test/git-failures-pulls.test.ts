import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { git } from '@croft/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type FailingGit, failingGit, READING } from './failing-git.ts';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

// A git that cannot run for a while closes no pull request and loses no event.

const failing: FailingGit = await failingGit();
const scene = useForge({ environment: { FORGE_GIT_COMMAND: failing.command } });
const at = '/repos/ada/work';
let ada: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  await recordHappenings(scene);
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});
afterEach(() => failing.recover());
afterAll(() => failing[Symbol.asyncDispose]());

async function open(branch: string): Promise<number> {
  await pushBranch(tree, branch, { [branch]: '1' }, 'origin/main');
  const { body } = await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch });
  return body.number;
}
async function stateOf(number: number): Promise<[unknown, string | undefined]> {
  const { body } = await ada.call('GET', `${at}/pulls/${number}`);
  const row = await scene.sql.row<{ head_sha: string }>`
    select head_sha from :schema.pulls p join :schema.issues i on i.id = issue_id where number = ${number}`;
  return [body['state'], row?.head_sha];
}
const tipOf = (branch: string) => git(tree, 'rev-parse', branch);
const refs = () => git(bare, 'for-each-ref', 'refs/heads', 'refs/pull');
const told = async (kind: string) =>
  (await scene.sql.rows<{ payload: Record<string, unknown> }>`select payload from :schema.told order by id`)
    .map(({ payload }) => payload)
    .filter((payload) => payload['kind'] === kind);
const forget = () => scene.sql.run`delete from :schema.told`;
const UNCHANGED = ['pulls', 'issues', 'comments', 'repositories', 'told'];

/** The processes at hand end; the next question needs one that can be started. */
async function endConversations(): Promise<void> {
  const works = (id: string) => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(`--git-dir=${bare}`);
    } catch {
      return false;
    }
  };
  const ours = readdirSync('/proc').filter((id) => /^\d+$/.test(id) && works(id));
  for (const id of ours) process.kill(Number(id), 'SIGTERM');
  await expect.poll(() => ours.filter((id) => existsSync(`/proc/${id}`))).toEqual([]);
}
async function breakGit(...subcommands: readonly string[]): Promise<void> {
  await failing.fail(...subcommands);
  await endConversations();
}

async function restart(): Promise<void> {
  await scene.restart();
  await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
}

it('a push to another branch closes none', async () => {
  const numbers = [await open('one'), await open('two')];
  const heads = [await tipOf('one'), await tipOf('two')];
  await forget();
  const before = await rowsOf(scene, ...UNCHANGED);
  await breakGit('cat-file', 'show-ref', 'for-each-ref');
  await pushBranch(tree, 'other', { other: '1' }, 'origin/main');
  expect(await rowsOf(scene, ...UNCHANGED)).toEqual(before);
  expect(await scene.sql.rows`select id from :schema.pushes`).toHaveLength(1);
  await failing.recover();
  for (const [index, number] of numbers.entries())
    expect(await stateOf(number)).toEqual(['open', heads[index]]);

  await restart();
  expect(await told('ref')).toMatchObject([{ ref: 'refs/heads/other', after: await tipOf('other') }]);
  expect(await told('issue')).toEqual([]);
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  for (const [index, number] of numbers.entries())
    expect(await stateOf(number)).toEqual(['open', heads[index]]);
});

it('a push to a head is followed when git works again', async () => {
  const number = await open('followed');
  const before = await tipOf('followed');
  await forget();
  await breakGit(...READING);
  await git(tree, 'checkout', '-q', 'followed');
  const after = await commit(tree, { more: '1' }, 'more');
  await git(tree, 'push', '-q', 'origin', 'followed');
  expect(await told('issue')).toEqual([]);
  await failing.recover();
  expect(await stateOf(number)).toEqual(['open', before]);
  await restart();
  expect(await stateOf(number)).toEqual(['open', after]);
  const { items } = await ada.call('GET', `${at}/issues/${number}/timeline`);
  const pushed = items.filter((entry) => entry['type'] === 'pull_push');
  expect(pushed.map((entry) => JSON.parse(String(entry['body'])))).toEqual([
    { is_force_push: false, commit_ids: [before] },
    { is_force_push: false, commit_ids: [after] },
  ]);
  expect(await told('ref')).toMatchObject([{ before, after }]);
});

it('a branch that could not be deleted is not said to be, and what hangs on it stays', async () => {
  const number = await open('kept');
  await forget();
  const [before, was] = [await rowsOf(scene, ...UNCHANGED), await refs()];
  await breakGit('update-ref', ...READING);
  expect((await ada.call('DELETE', `${at}/branches/kept`)).status).toBe(500);
  await failing.recover();
  // It can be read, and then not moved.
  await breakGit('update-ref');
  expect((await ada.call('DELETE', `${at}/branches/kept`)).status).toBe(500);
  expect(await rowsOf(scene, ...UNCHANGED)).toEqual(before);
  expect(await refs()).toBe(was);
  await failing.recover();
  expect((await ada.call('DELETE', `${at}/branches/kept`)).status).toBe(204);
  expect((await stateOf(number))[0]).toBe('closed');
});

it('a head branch that could not be deleted after the merge leaves no push behind', async () => {
  const number = await open('left');
  await forget();
  await breakGit('update-ref');
  const merge = { do: 'merge', delete_branch_after_merge: true };
  expect((await ada.call('POST', `${at}/pulls/${number}/merge`, merge)).status).toBe(500);
  expect((await ada.call('GET', `${at}/pulls/${number}`)).body['merged']).toBe(true);
  expect(await git(bare, 'rev-parse', 'left')).toBe(await tipOf('left'));
  await expect.poll(() => scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  expect((await told('ref')).filter(({ ref }) => ref === 'refs/heads/left')).toEqual([]);
  await failing.recover();
  expect((await ada.call('DELETE', `${at}/branches/left`)).status).toBe(204);
});

it.each([
  ['a branch', () => ada.call('GET', `${at}/branches/main`)],
  ['the branches', () => ada.call('GET', `${at}/branches`)],
  ['the tags', () => ada.call('GET', `${at}/tags`)],
  ['a file', () => ada.call('GET', `${at}/contents/README.md`)],
  ['a commit', () => ada.call('GET', `${at}/commits/main/status`)],
  ['a blob', async () => ada.call('GET', `${at}/git/blobs/${await tipOf('main:README.md')}`)],
])('%s is not said to be missing', async (_, ask) => {
  await breakGit(...READING);
  expect((await ask()).status).toBe(500);
  await failing.recover();
  expect((await ask()).status).toBe(200);
});
