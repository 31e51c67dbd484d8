import { git } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lines, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada', { user_metadata: { user_name: 'ada', full_name: 'Ada <Lovelace>' } });
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});

const path = '/repos/ada/work/pulls';
const merge = (number: number, body: object = {}, who = ada) =>
  who.call('POST', `${path}/${number}/merge`, body);
const isMerged = async (number: number) => (await ada.call('GET', `${path}/${number}/merge`)).status;
/** A branch with the given files and a pull request for it. */
async function pull(
  branch: string,
  files: Record<string, string | Buffer | null>,
  more: object = {},
): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, files, 'origin/main');
  const { body } = await ada.call('POST', path, {
    head: branch,
    base: 'main',
    title: `About ${branch}`,
    ...more,
  });
  return body.number;
}
/** Refs, rows and objects: everything a refused merge must leave as it was. */
const stored = () =>
  Promise.all([
    git(bare, 'for-each-ref'),
    git(bare, 'count-objects', '-v'),
    rowsOf(scene, 'issues', 'pulls', 'merges', 'repositories(id, closed_pulls)'),
  ]);

describe('a merge', () => {
  it('makes the commit that git would make, closes the pull request and says so', async () => {
    const number = await pull('feature', {
      'README.md': null,
      'docs/READ ME.md': '# work\n',
      'lines.txt': lines(1, 20).replace('line 3', 'three'),
      'blob.bin': Buffer.from([0, 255, 0, 1]),
    });
    await pushBranch(tree, 'main', { 'lines.txt': lines(1, 20).replace('line 18', 'eighteen') });
    const base = await git(tree, 'rev-parse', 'main');
    const head = await git(tree, 'rev-parse', 'feature');
    expect(await isMerged(number)).toBe(404);

    const { status, text } = await merge(number);
    expect(status).toBe(200);
    expect(text).toBe('');
    expect(await isMerged(number)).toBe(204);

    const merged = await git(bare, 'rev-parse', 'main');
    await git(tree, 'checkout', '-q', '-B', 'by-hand', base);
    await git(tree, 'merge', '-q', '--no-ff', '-m', 'by hand', head);
    expect(await git(bare, 'rev-parse', `${merged}^{tree}`)).toBe(
      await git(tree, 'rev-parse', 'by-hand^{tree}'),
    );
    await git(tree, 'checkout', '-q', 'main');
    expect(await git(bare, 'log', '-1', '--format=%P|%an|%ae|%cn|%B', merged)).toBe(
      `${base} ${head}|Ada Lovelace|ada@example.test|Ada Lovelace|Merge pull request 'About feature' (#${number}) from feature into main`,
    );
    const { body } = await ada.call('GET', `${path}/${number}`);
    expect(body).toMatchObject({
      state: 'closed',
      merged: true,
      merge_commit_sha: merged,
      merged_by: { login: 'ada' },
      mergeable: true,
      merge_base: await git(tree, 'merge-base', base, head),
      base: { sha: merged },
      head: { sha: head },
      closed_at: body['merged_at'],
    });
    expect(body['merged_at']).toMatch(/Z$/);
    expect((await ada.call('GET', `/repos/ada/work/issues/${number}`)).body).toMatchObject({
      state: 'closed',
      pull_request: { merged: true, merged_at: body['merged_at'] },
    });
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
    expect(await scene.sql.rows`select * from :schema.merges`).toEqual([]);
  });

  it('leaves the changes to be seen as they were, even when the branch is gone', async () => {
    const number = await pull('seen', { 'seen.txt': 'seen\n' });
    const before = (await ada.call('GET', `${path}/${number}.diff`)).text;
    expect(before).toContain('+seen');
    expect((await merge(number, { delete_branch_after_merge: true })).status).toBe(200);
    expect((await ada.call('GET', `${path}/${number}.diff`)).text).toBe(before);
    expect((await ada.call('GET', `${path}/${number}`)).body.head.ref).toBe(`refs/pull/${number}/head`);
    expect(await git(bare, 'branch', '--list', 'seen')).toBe('');
  });

  it('takes title and message from the caller, in every spelling of the keys', async () => {
    const message = async () => await git(bare, 'log', '-1', '--format=%B', 'main');
    await merge(await pull('m1', { m1: '1' }), {
      Do: 'merge',
      MergeTitleField: '  Title  ',
      MergeMessageField: ' Body ',
    });
    expect(await message()).toBe('Title\n\nBody');
    const number = await pull('m2', { m2: '2' });
    await merge(number, { do: 'merge', merge_message_field: 'Only a body' });
    expect(await message()).toBe(
      `Merge pull request 'About m2' (#${number}) from m2 into main\n\nOnly a body`,
    );
    await merge(await pull('m3', { m3: '3' }), { DO: '', mergeTitleField: 'a\nb <c>' });
    expect(await message()).toBe('a\nb <c>');
  });

  it('takes the head the caller has seen, and no other', async () => {
    const number = await pull('pinned', { pinned: '1' });
    const head = await git(tree, 'rev-parse', 'pinned');
    const before = await stored();
    const refused = await merge(number, { head_commit_id: await git(tree, 'rev-parse', 'main') });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toBe('head out of date');
    expect(await stored()).toEqual(before);
    expect((await merge(number, { HeadCommitID: head })).status).toBe(200);
  });

  it('of a branch that other pull requests start from moves them', async () => {
    await git(tree, 'fetch', '-q', 'origin');
    await pushBranch(tree, 'lower', { lower: '1' }, 'origin/main');
    await pushBranch(tree, 'upper', { upper: '1' }, 'lower');
    const toMain = (await ada.call('POST', path, { head: 'lower', base: 'main', title: 'lower to main' }))
      .body.number;
    const toLower = (await ada.call('POST', path, { head: 'upper', base: 'lower', title: 'upper to lower' }))
      .body.number;
    await merge(toLower);
    const lower = await git(bare, 'rev-parse', 'lower');
    expect((await ada.call('GET', `${path}/${toMain}`)).body.head.sha).toBe(lower);
    expect(await git(bare, 'rev-parse', `refs/pull/${toMain}/head`)).toBe(lower);
  });

  it('is undisturbed by what a later push brings', async () => {
    const number = await pull('afterwards', { afterwards: '1' });
    await merge(number);
    const head = await git(tree, 'rev-parse', 'afterwards');
    await pushBranch(tree, 'afterwards', { afterwards: '2' });
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(head);
    expect((await ada.call('GET', `${path}/${number}.diff`)).text).toContain('+1');
  });
});

describe('a merge is refused', () => {
  const refusals: [why: string, prepare: () => Promise<number>, body: object, status: number][] = [
    ['for a missing pull request', async () => 9999, {}, 404],
    [
      'for an issue',
      async () => (await ada.call('POST', '/repos/ada/work/issues', { title: 'i' })).body.number,
      {},
      404,
    ],
    [
      'when merged already',
      async () => {
        const number = await pull('again', { again: '1' });
        await merge(number);
        return number;
      },
      {},
      405,
    ],
    [
      'when closed',
      async () => {
        const number = await pull('closed', { closed: '1' });
        await ada.call('PATCH', `${path}/${number}`, { state: 'closed' });
        return number;
      },
      {},
      404,
    ],
    ['for work in progress', () => pull('wip', { wip: '1' }, { title: 'WIP: not yet' }), {}, 405],
    [
      'with conflicts',
      async () => {
        const number = await pull('conflict', { 'lines.txt': 'mine\n' });
        await merge(await pull('conflicting', { 'lines.txt': 'theirs\n' }));
        return number;
      },
      {},
      405,
    ],
    [
      'when the base has it all',
      async () => {
        const number = await pull('ancestor', { ancestor: '1' });
        await git(tree, 'fetch', '-q', 'origin');
        await git(tree, 'push', '-q', 'origin', 'ancestor:refs/heads/base-of-ancestor');
        await ada.call('PATCH', `${path}/${number}`, { base: 'base-of-ancestor' });
        return number;
      },
      {},
      405,
    ],
    ['with a style nobody knows', () => pull('styled-2', { styled: '1' }), { Do: 'octopus' }, 405],
    ['with values of another type', () => pull('typed', { typed: '1' }), { Do: 5 }, 422],
  ];
  it.each(refusals)('%s, and nothing changes', async (_why, prepare, body, status) => {
    const number = await prepare();
    const before = await stored();
    const refused = await merge(number, body);
    expect(refused.status).toBe(status);
    expect(refused.body.message).not.toBe('');
    expect(await stored()).toEqual(before);
  });

  it('with conflicts, and names the files', async () => {
    const list = (await ada.call('GET', `${path}?limit=50`)).items;
    const number = list.find(({ title }) => title === 'About conflict')?.number ?? 0;
    const { body } = await merge(number);
    expect(body).toMatchObject({ message: 'Please try again later', conflicted_files: ['lines.txt'] });
  });

  it('for somebody who may only read', async () => {
    const number = await pull('bobs', { bobs: '1' });
    const before = await stored();
    const refused = await merge(number, {}, bob);
    expect(refused.status).toBe(405);
    expect(refused.body.message).toBe('User not allowed to merge PR');
    expect(await stored()).toEqual(before);
  });

  it('for unrelated histories, in the shape of a conflict', async () => {
    await git(tree, 'checkout', '-q', '--orphan', 'island');
    await git(tree, 'commit', '-q', '-m', 'island');
    await git(tree, 'push', '-q', 'origin', 'island');
    await git(tree, 'checkout', '-q', 'main');
    const { body } = await ada.call('POST', path, { head: 'island', base: 'main', title: 'island' });
    const before = await stored();
    const refused = await merge(body.number);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      Style: 'merge',
      StdErr: expect.stringContaining('unrelated histories'),
      Err: {},
    });
    expect(await stored()).toEqual(before);
  });

  it('in an archived repository', async () => {
    const number = await pull('archived', { archived: '1' });
    await scene.sql.run`update :schema.repositories set archived = true`;
    expect((await merge(number)).status).toBe(423);
    await scene.sql.run`update :schema.repositories set archived = false`;
    expect(await isMerged(number)).toBe(404);
  });
});

describe('the head branch, when it is to be deleted after the merge,', () => {
  const remove = { delete_branch_after_merge: true };

  it('stays while another pull request needs it', async () => {
    const number = await pull('needed', { needed: '1' });
    await git(tree, 'push', '-q', 'origin', 'main:refs/heads/other-base');
    await ada.call('POST', path, { head: 'needed', base: 'other-base', title: 'second' });
    expect((await merge(number, remove)).status).toBe(200);
    expect(await git(bare, 'branch', '--list', 'needed')).toContain('needed');
  });

  it('is never the default branch: 403, and merged all the same', async () => {
    await git(tree, 'fetch', '-q', 'origin');
    await git(tree, 'push', '-q', 'origin', 'origin/main~1:refs/heads/downstream');
    const { body } = await ada.call('POST', path, { head: 'main', base: 'downstream', title: 'down' });
    const answer = await merge(body.number, remove);
    expect(answer.status).toBe(403);
    expect(answer.body.message).toBe('can not delete default branch');
    expect(await isMerged(body.number)).toBe(204);
    expect(await git(bare, 'branch', '--list', 'main')).toContain('main');
  });
});

describe('the head branch, where the repository deletes it after a merge,', () => {
  const deletes = async (value: boolean) =>
    expect(
      (await ada.call('PATCH', '/repos/ada/work', { default_delete_branch_after_merge: value })).status,
    ).toBe(200);
  beforeAll(() => deletes(true));
  afterAll(() => deletes(false));
  const exists = async (branch: string) => (await git(bare, 'branch', '--list', branch)) !== '';

  it('goes, unless the caller says otherwise', async () => {
    const [silent, kept] = [await pull('silent', { silent: '1' }), await pull('kept', { kept: '1' })];
    expect((await merge(silent)).status).toBe(200);
    expect((await merge(kept, { delete_branch_after_merge: false })).status).toBe(200);
    expect([await exists('silent'), await exists('kept')]).toEqual([false, true]);
  });

  it('goes after a scheduled merge, too', async () => {
    const [silent, kept] = [await pull('silent-2', { silent2: '1' }), await pull('kept-2', { kept2: '1' })];
    const wish = { merge_when_checks_succeed: true };
    expect((await merge(kept, { ...wish, delete_branch_after_merge: false })).status).toBe(201);
    expect((await merge(silent, wish)).status).toBe(201);
    await expect.poll(() => exists('silent-2')).toBe(false);
    expect(await Promise.all([silent, kept].map(isMerged))).toEqual([204, 204]);
    expect(await exists('kept-2')).toBe(true);
  });

  it('goes with each of a stack', async () => {
    const lower = await pull('stack-lower', { lower: '1' });
    await pushBranch(tree, 'stack-upper', { upper: '1' }, 'stack-lower');
    const upper = { head: 'stack-upper', base: 'stack-lower', title: 'upper' };
    const { number } = (await ada.call('POST', path, upper)).body;
    expect((await merge(number, { merge_stack: true })).status).toBe(200);
    expect(await Promise.all([lower, number].map(isMerged))).toEqual([204, 204]);
    expect([await exists('stack-lower'), await exists('stack-upper')]).toEqual([false, false]);
  });

  it('stays where it has to, of which nobody is told who did not ask', async () => {
    await git(tree, 'fetch', '-q', 'origin');
    await git(tree, 'push', '-q', 'origin', 'origin/main~1:refs/heads/below-main');
    const { body } = await ada.call('POST', path, { head: 'main', base: 'below-main', title: 'down' });
    expect((await merge(body.number)).status).toBe(200);
    expect([await isMerged(body.number), await exists('main')]).toEqual([204, true]);
  });
});

it('asking whether something can be merged leaves nothing in the repository', async () => {
  const number = await pull('litter', { 'lines.txt': `litter\n${lines(1, 30)}`, 'new/file': 'x' });
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, 'main', { 'moved-on': '1' }, 'origin/main');
  const before = await git(bare, 'count-objects', '-v');
  expect((await ada.call('GET', `${path}/${number}`)).body.mergeable).toBe(true);
  expect(await git(bare, 'count-objects', '-v')).toBe(before);
});
