import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  for (const branch of ['left', 'right']) await pushBranch(tree, branch, { [`${branch}.txt`]: branch });
});

const path = '/repos/ada/work/pulls';
const open = (body: object, who = ada) => who.call('POST', path, { base: 'main', title: 'T', ...body });
const patch = (number: number, body: object, who = ada) => who.call('PATCH', `${path}/${number}`, body);
const stored = () => rowsOf(scene, 'issues', 'pulls', 'repositories(id, last_number, pulls, closed_pulls)');

describe('editing a pull request', () => {
  it('changes what is given, closes and reopens', async () => {
    await pushBranch(tree, 'edited', { 'e.txt': 'e' });
    const { number } = (await open({ head: 'edited', body: 'old' })).body;
    const first = await patch(number, {
      title: 'New',
      body: '',
      due_date: '2026-02-03T00:00:00Z',
      state: 'closed',
    });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      title: 'New',
      body: 'old',
      due_date: '2026-02-03T23:59:59Z',
      state: 'closed',
    });
    expect((await patch(number, { state: 'open', base: 'right' })).body).toMatchObject({
      state: 'open',
      base: { ref: 'right' },
    });
    expect((await patch(number, { allow_maintainer_edit: true })).body['allow_maintainer_edit']).toBe(true);
  });

  it.each(['pulls', 'issues'])('reopens it at where its head branch is now: PATCH /%s', async (kind) => {
    const branch = `asleep-${kind}`;
    const first = await pushBranch(tree, branch, { 'a.txt': '1' });
    const { number } = (await open({ head: branch })).body;
    await patch(number, { state: 'closed' });
    const second = await pushBranch(tree, branch, { 'a.txt': '2' }, branch);
    const row = () => scene.sql.row`select head_sha, written_sha from :schema.pulls order by id desc limit 1`;
    expect(await row()).toEqual({ head_sha: first, written_sha: first });
    const edit = { state: 'open' };
    expect((await ada.call('PATCH', `/repos/ada/work/${kind}/${number}`, edit)).status).toBe(201);
    expect(await row()).toEqual({ head_sha: second, written_sha: second });
    const bare = await scene.bare('ada', 'work');
    expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(second);

    await git(tree, 'push', '-q', 'origin', `:${branch}`);
    const before = await stored();
    const refused = await ada.call('PATCH', `/repos/ada/work/${kind}/${number}`, edit);
    expect(refused.status).toBe(422);
    expect(refused.body.message).toBe(`the head branch '${branch}' does not exist`);
    expect(await stored()).toEqual(before);
  });

  it('cannot reopen a twin', async () => {
    await pushBranch(tree, 'twin', { 't.txt': 't' });
    const { number } = (await open({ head: 'twin' })).body;
    await patch(number, { state: 'closed' });
    await open({ head: 'twin' });
    const before = await stored();
    const refused = await patch(number, { state: 'open', title: 'not this either' });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toMatch(/^pull request already exists for these targets \[id: /);
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['a missing base', { base: 'none' }, 404],
    ['a base that is an expression', { base: 'main~0' }, 404],
    ['the head as base', { base: 'guarded' }, 422],
    ['a base that makes a twin', { base: 'right' }, 409],
    ['a base while it is closed', { base: 'left', state: 'closed' }, 422],
    ['an unknown assignee', { assignees: ['nobody'] }, 422],
  ])('is refused with %s, and nothing changes', async (_what, change, status) => {
    await pushBranch(tree, 'guarded', { 'g.txt': 'g' });
    const found = (await ada.call('GET', `${path}?state=open&limit=50`)).items.filter(
      ({ head }) => head.ref === 'guarded',
    );
    if (found.length === 0) {
      await open({ head: 'guarded', title: 'to main' });
      await open({ head: 'guarded', base: 'right', title: 'to right' });
    }
    const list = (await ada.call('GET', `${path}?limit=50`)).items;
    const number = list.find(({ title }) => title === 'to main')?.number ?? 0;
    const before = await stored();
    expect((await patch(number, { title: 'changed', ...change })).status).toBe(status);
    expect(await stored()).toEqual(before);
  });

  it('takes halves of characters for what they are: unknown ones', async () => {
    await pushBranch(tree, 'halves', { 'h.txt': 'h' });
    const made = await open({ head: 'halves', title: 'half \ud83d', body: '\udc00' });
    expect([made.status, made.body]).toMatchObject([201, { title: 'half \ufffd', body: '\ufffd' }]);
    const edited = await patch(made.body.number, { title: '\ud83d\ude00 \ud83d', body: 'x\ud83dx' });
    expect([edited.status, edited.body]).toMatchObject([
      201,
      { title: '\ud83d\ude00 \ufffd', body: 'x\ufffdx' },
    ]);
  });

  it('with several faults is refused for the first in the order of the contract, and nothing changes', async () => {
    await pushBranch(tree, 'faulty', { 'f.txt': 'f' });
    const { number } = (await open({ head: 'faulty' }, bob)).body;
    const blocker = (await ada.call('POST', '/repos/ada/work/issues', { title: 'blocks' })).body.number;
    await ada.call('POST', `/repos/ada/work/issues/${number}/dependencies`, { index: blocker });
    await open({ head: 'faulty', base: 'right' });
    const faults: [object, number, RegExp][] = [
      [{ title: 'x'.repeat(256) }, 422, /^\[Title\]/],
      [{ assignees: ['nobody'] }, 422, /^Assignee does not exist/],
      [{ milestone: 999_999 }, 404, /^milestone does not exist/],
      [{ state: 'closed' }, 412, /open dependencies/],
      [{ base: 'none' }, 404, /^new base 'none' not exist$/],
      // Only its poster may, and only who writes to the head.
      [{ allow_maintainer_edit: true }, 403, /^SetAllowEdits: /],
    ];
    const before = await stored();
    for (let first = 0; first < faults.length; first++) {
      const change = Object.assign({}, ...faults.slice(first).map(([fault]) => fault)) as object;
      const { status, body } = await patch(number, change);
      const [, expected, why] = faults[first] as (typeof faults)[number];
      expect([status, body.message], JSON.stringify(change)).toEqual([expected, expect.stringMatching(why)]);
    }
    // A twin, too, comes before that; who may not edit at all hears of nothing else.
    expect((await patch(number, { base: 'right', allow_maintainer_edit: true })).status).toBe(409);
    expect((await patch(1, { title: 'x'.repeat(256), state: 'closed' }, bob)).status).toBe(403);
    expect(await stored()).toEqual(before);

    await ada.call('DELETE', `/repos/ada/work/issues/${number}/dependencies`, { index: blocker });
    await patch(number, { state: 'closed' });
    const closed = await stored();
    // It stays closed, whatever else is wrong.
    expect((await patch(number, { base: 'none', allow_maintainer_edit: true })).status).toBe(404);
    expect((await patch(number, { base: 'left', allow_maintainer_edit: true })).status).toBe(422);
    expect(await stored()).toEqual(closed);
  });

  it('reopens one whose base is gone when it gets another', async () => {
    await pushBranch(tree, 'outliving', { 'o.txt': 'o' });
    await git(tree, 'push', '-q', 'origin', 'main:refs/heads/short-lived');
    const { number } = (await open({ head: 'outliving', base: 'short-lived' })).body;
    await patch(number, { state: 'closed' });
    await git(tree, 'push', '-q', 'origin', ':short-lived');
    const before = await stored();
    const refused = await patch(number, { state: 'open' });
    expect([refused.status, refused.body.message]).toEqual([
      422,
      "the base branch 'short-lived' does not exist",
    ]);
    expect((await patch(number, { state: 'open', base: 'none' })).status).toBe(404);
    expect(await stored()).toEqual(before);
    // Into the former base there is another one by now.
    await git(tree, 'push', '-q', 'origin', 'main:refs/heads/short-lived');
    const twin = (await open({ head: 'outliving', base: 'short-lived' })).body;
    expect((await patch(number, { state: 'open' })).status).toBe(409);
    const reopened = await patch(number, { state: 'open', base: 'left' });
    expect((await patch(twin.number, { state: 'closed' })).status).toBe(201);
    expect([reopened.status, reopened.body]).toMatchObject([201, { state: 'open', base: { ref: 'left' } }]);
  });

  it('is for its poster and writers', async () => {
    await pushBranch(tree, 'bobs', { 'b.txt': 'b' });
    const { number } = (await open({ head: 'bobs' }, bob)).body;
    expect(
      (await patch(number, { title: 'By Bob', base: 'right', assignees: ['ada'] }, bob)).body,
    ).toMatchObject({
      title: 'By Bob',
      base: { ref: 'main' },
      assignees: [],
    });
    expect((await patch(number, { allow_maintainer_edit: true }, bob)).status).toBe(403);
    expect((await patch(1, { title: 'x' }, bob)).status).toBe(403);
    expect((await patch(999, { title: 'x' })).status).toBe(404);
  });
});
