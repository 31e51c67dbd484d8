import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch } from './forge.ts';
import { REQUIRED, readRef, useMergeQueues } from './merge-queue-scene.ts';

const { scene, people, queued } = useMergeQueues();
let ada: Person;
let bob: Person;
beforeAll(() => {
  ({ ada, bob } = people);
});

// Who may not enter a queue or take out of it, and what leaves it without being merged.

describe('is refused and nothing changes', () => {
  const stored = () =>
    Promise.all([
      scene.sql.rows`select * from :schema.merge_queue order by id`,
      scene.sql.rows`select * from :schema.pulls order by id`,
      // What commits name is still told while the next one comes.
      scene.sql.rows`select id, kind from :schema.comments where kind <> 'commit_ref' order by id`,
    ]);

  it('queueing twice, what conflicts, what nobody may merge, and taking out what is not in', async () => {
    const { pull, merge, made, tree, at, main } = await queued('refused', REQUIRED);
    const [a, b] = [await pull('a', { same: 'a' }), await pull('b', { same: 'b' })];
    await merge(a);
    await made(a);
    await git(tree, 'checkout', '-q', 'main');
    await commit(tree, { same: 'main' }, 'in the way');
    await git(tree, 'push', '-q', 'origin', 'main');
    await expect
      .poll(() => scene.sql.rows`select * from :schema.merge_queue where pull_id = ${a}`)
      .toEqual([]);
    const [c] = [await pull('c', { c: '1' })];
    expect((await merge(c)).status).toBe(201);
    await made(c);
    const before = [await stored(), await main()];
    expect([(await merge(c)).status, (await merge(b)).status, (await merge(b, {}, bob)).status]).toEqual([
      409, 405, 405,
    ]);
    expect((await bob.call('DELETE', `${at}/pulls/${c}/merge`)).status).toBe(403);
    expect((await ada.call('DELETE', `${at}/pulls/${b}/merge`)).status).toBe(404);
    expect((await ada.call('GET', `${at}/merge_queue/other`)).items).toEqual([]);
    for (const wrong of [
      { merge_queue_batch: 0 },
      { merge_queue_batch: 101 },
      { merge_queue_timeout_minutes: 0 },
    ])
      expect((await ada.call('PATCH', `${at}/branch_protections/main`, wrong)).status).toBe(422);
    expect([await stored(), await main()]).toEqual(before);
  });
});

it('is for those who may merge to take out of, and for who put it in', async () => {
  const { pull, merge, made, at, list, timeline } = await queued('taking', {
    ...REQUIRED,
    enable_merge_whitelist: true,
    merge_whitelist_usernames: ['ada'],
  });
  const cleo = scene.person('cleo');
  await cleo.call('GET', '/user');
  for (const person of [bob, cleo])
    await ada.call('PUT', `${at}/collaborators/${person.name}`, { permission: 'write' });
  await ada.call('PATCH', `${at}/branch_protections/main`, { merge_whitelist_usernames: ['ada', 'bob'] });
  const [a, b] = [await pull('a', { a: '1' }), await pull('b', { b: '1' })];
  await merge(a);
  expect((await merge(b, {}, bob)).status).toBe(201);
  await made(b);
  const look = async () => [await list(), await timeline(a), await timeline(b)];
  const before = await look();
  // A writer who may not merge.
  for (const number of [a, b])
    expect((await cleo.call('DELETE', `${at}/pulls/${number}/merge`)).status).toBe(403);
  expect(await look()).toEqual(before);
  // Who put it in takes it out, also when he may not merge any more.
  const rule = `${at}/branch_protections/main`;
  await ada.call('PATCH', rule, { merge_whitelist_usernames: ['ada'] });
  expect((await bob.call('DELETE', `${at}/pulls/${a}/merge`)).status).toBe(403);
  expect((await bob.call('DELETE', `${at}/pulls/${b}/merge`)).status).toBe(204);
  await ada.call('PATCH', rule, { merge_whitelist_usernames: ['ada', 'bob'] });
  expect((await bob.call('DELETE', `${at}/pulls/${a}/merge`)).status).toBe(204);
  expect(await list()).toEqual([]);
});

it('what leaves it does not come back by a schedule that it has as well, from a forge that let it', async () => {
  const { pull, merge, made, at, list, timeline } = await queued('both', REQUIRED);
  const a = await pull('a', { a: '1' });
  await merge(a);
  await made(a);
  await scene.sql.script('alter table forge.scheduled_merges disable trigger try_scheduled');
  await scene.sql.run`
    insert into :schema.scheduled_merges (pull_id, repository_id, scheduled_by, style, title, message, delete_branch,
      scheduled_at)
    select q.pull_id, q.repository_id, q.queued_by, q.style, '', '', false, q.queued_at
    from :schema.merge_queue q join :schema.repositories r on r.id = q.repository_id where r.name = 'both'`;
  expect((await ada.call('DELETE', `${at}/pulls/${a}/merge`)).status).toBe(204);
  await scene.sql.script('alter table forge.scheduled_merges enable trigger try_scheduled');
  expect([await list(), await scene.sql.rows`select * from :schema.scheduled_merges`]).toEqual([[], []]);
  const left = (await timeline(a)).filter(([type]) => type === 'pull_cancel_scheduled_merge');
  expect(left).toHaveLength(2);
  expect((await ada.call('DELETE', `${at}/pulls/${a}/merge`)).status).toBe(404);
});

it('does not leave it for a push from before, whose record comes later', async () => {
  const { pull, merge, isMerged, made, report, timeline, list, tree, bare } = await queued('ahead', REQUIRED);
  const number = await pull('topic', { topic: '1' });
  await git(tree, 'checkout', '-q', 'topic');
  const next = await commit(tree, { topic: '2' }, 'more');
  // Past the forge, as it is while a push has moved its branch and nothing else.
  await git(tree, 'push', '-q', bare, 'topic');
  expect((await merge(number)).status).toBe(201);
  const sha = await made(number);
  expect(await list()).toMatchObject([{ number, head_sha: next, sha }]);
  await report(sha, 'success');
  await expect.poll(() => isMerged(number)).toBe(true);
  expect(await git(bare, 'rev-parse', 'main^2')).toBe(next);
  expect((await timeline(number)).map(([type]) => type)).not.toContain('pull_cancel_scheduled_merge');
});

it('gives up on a merge that cannot be made, and nobody else waits for it, behind it or elsewhere', async () => {
  const { pull, merge, isMerged, made, timeline, report, at, tree, bare } = await queued('broken', REQUIRED);
  // Looked at before main.
  await git(tree, 'push', '-q', 'origin', 'main:refs/heads/early');
  const queue = { enable_push: true, enable_merge_queue: true, merge_queue_batch: 1, ...REQUIRED };
  const protection = { rule_name: 'early', ...queue };
  expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
  const open = (head: string) => pull(head, { [head]: '1' }, 'early');
  const [front, lost, behind] = [await open('front'), await open('lost'), await open('behind')];
  await git(tree, 'checkout', '-q', '-B', 'early', 'main');
  await commit(tree, { moved: '1' }, 'so that there is something to rebase on');
  await git(tree, 'push', '-q', 'origin', 'early');
  await git(tree, 'checkout', '-q', 'main');
  for (const number of [front, lost, behind])
    expect((await merge(number, { Do: number === lost ? 'rebase' : 'merge' })).status).toBe(201);
  await expect.poll(() => readRef(bare, `refs/queue/early/${front}`)).not.toBe('');
  const elsewhere = await pull('elsewhere', { elsewhere: '1' });
  // As a disk may lose it.
  const id = await git(bare, 'rev-parse', 'lost');
  await rm(join(bare, 'objects', id.slice(0, 2), id.slice(2)));
  expect((await ada.call('DELETE', `${at}/pulls/${front}/merge`)).status).toBe(204);
  expect((await merge(elsewhere)).status).toBe(201);
  await report(await made(elsewhere), 'success');
  await expect.poll(() => isMerged(elsewhere)).toBe(true);
  const told = async () => {
    // Has the queues looked at again, which takes ten seconds otherwise.
    await report(await git(bare, 'rev-parse', 'early'), 'success', 'other');
    return await timeline(lost);
  };
  const reason = 'Removed from the merge queue of early: its merge could not be made';
  // Three attempts, each some seconds after the one before.
  await expect.poll(told).toContainEqual(['pull_cancel_scheduled_merge', reason]);
  await expect.poll(() => readRef(bare, `refs/queue/early/${behind}`)).not.toBe('');
  await report(await readRef(bare, `refs/queue/early/${behind}`), 'success');
  await expect.poll(() => isMerged(behind)).toBe(true);
});

it('goes on when a head branch cannot be deleted', async () => {
  const { pull, merge, isMerged, at } = await queued('undeletable', REQUIRED);
  const [stuck, other] = [await pull('stuck', { stuck: '1' }), await pull('other', { other: '1' })];
  expect((await merge(stuck, { delete_branch_after_merge: true })).status).toBe(201);
  expect((await merge(other)).status).toBe(201);
  await scene.sql.script(`
    create function forge.refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end';
    create trigger refuse before insert on forge.pushes for each row
      when (new.details::text like '%refs/heads/stuck%') execute function forge.refuse()`);
  const change = { enable_status_check: false };
  expect((await ada.call('PATCH', `${at}/branch_protections/main`, change)).status).toBe(200);
  for (const number of [stuck, other]) await expect.poll(() => isMerged(number)).toBe(true);
  const again = await pull('again', { again: '1' });
  expect((await merge(again)).status).toBe(201);
  await expect.poll(() => isMerged(again)).toBe(true);
  await scene.sql.script('drop trigger refuse on forge.pushes');
});

it('is dissolved when its branch is gone', async () => {
  const { merge, at, tree, bare, refs, timeline } = await queued('gone');
  await git(tree, 'push', '-q', 'origin', 'main:refs/heads/release');
  const protection = { rule_name: 'release', enable_push: true, enable_merge_queue: true, ...REQUIRED };
  await ada.call('POST', `${at}/branch_protections`, protection);
  await pushBranch(tree, 'a', { a: '1' });
  const { body } = await ada.call('POST', `${at}/pulls`, { head: 'a', base: 'release', title: 'a' });
  expect((await merge(body.number)).status).toBe(201);
  await expect.poll(refs).toEqual([`refs/queue/release/${body.number}`]);
  const main = await git(bare, 'rev-parse', 'main');
  // By hand: nobody deletes a protected branch otherwise.
  await git(bare, 'update-ref', '-d', 'refs/heads/release');
  await ada.call('POST', `${at}/statuses/${main}`, { state: 'success', context: 'other' });
  await expect
    .poll(() => timeline(body.number))
    .toContainEqual([
      'pull_cancel_scheduled_merge',
      'Removed from the merge queue of release: the branch is gone',
    ]);
  expect([await refs(), await git(bare, 'rev-parse', 'main')]).toEqual([[], main]);
  expect(await scene.sql.rows`select * from :schema.merge_queue where base_branch = 'release'`).toEqual([]);
});

it('administrators go past the queue when they force it, and it goes on behind them', async () => {
  const { pull, merge, made, isMerged, main, bare } = await queued('forced', REQUIRED);
  const [a, b] = [await pull('a', { a: '1' }), await pull('b', { b: '1' })];
  await merge(a);
  const before = await made(a);
  expect((await merge(b, { force_merge: true })).status).toBe(200);
  expect(await isMerged(b)).toBe(true);
  const after = await made(a, before);
  expect(await git(bare, 'rev-parse', `${after}^`)).toBe(await main());
});

it.each(['merge', 'fast-forward-only'])(
  'keeps the head branch of what went past it by %s, by somebody who wants it kept',
  async (style) => {
    const { pull, merge, made, isMerged, refs, at } = await queued(`kept-${style}`, REQUIRED);
    expect((await ada.call('PATCH', at, { allow_fast_forward_only_merge: true })).status).toBe(200);
    const a = await pull('a', { a: '1' });
    expect((await merge(a, { Do: style, delete_branch_after_merge: true })).status).toBe(201);
    await made(a);
    const now = { Do: style, force_merge: true, delete_branch_after_merge: false };
    expect((await merge(a, now)).status).toBe(200);
    const rows = () => scene.sql.rows`
      select from :schema.merge_queue q join :schema.repositories r on r.id = q.repository_id
      where r.name = ${`kept-${style}`}`;
    await expect.poll(rows).toEqual([]);
    expect([await isMerged(a), await refs()]).toEqual([true, []]);
    expect((await ada.call('GET', `${at}/branches/a`)).status).toBe(200);
  },
);

it('lets go of what somebody queued whose account is removed', async () => {
  const { pull, merge, made, refs, timeline, at } = await queued('bereft', REQUIRED);
  const gone = scene.person('gone');
  await gone.call('GET', '/user');
  await ada.call('PUT', `${at}/collaborators/gone`, { permission: 'write' });
  const [a, b] = [await pull('a', { a: '1' }), await pull('b', { b: '1' })];
  expect((await merge(a, {}, gone)).status).toBe(201);
  expect((await merge(b)).status).toBe(201);
  const before = await made(b);
  const root = scene.person('root', { role: 'service_role' });
  expect((await root.call('DELETE', '/admin/users/gone')).status).toBe(204);
  expect((await timeline(a)).at(-1)).toEqual([
    'pull_cancel_scheduled_merge',
    'Removed from the merge queue of main: the account of who queued it was removed',
  ]);
  // What stood behind it stands on the branch itself now.
  await made(b, before);
  expect(await refs()).toEqual([`refs/queue/main/${b}`]);
});

it('is dissolved when the protection has none any more', async () => {
  const { pull, merge, made, refs, timeline, at, main } = await queued('dissolved', REQUIRED);
  const a = await pull('a', { a: '1' });
  await merge(a);
  await made(a);
  const before = await main();
  await ada.call('PATCH', `${at}/branch_protections/main`, { enable_merge_queue: false });
  await expect
    .poll(() => timeline(a))
    .toContainEqual([
      'pull_cancel_scheduled_merge',
      'Removed from the merge queue of main: the branch has no merge queue any more',
    ]);
  expect(await refs()).toEqual([]);
  expect(await main()).toBe(before);
});

/** Who is in the queues of a repository. */
const waitingIn = (name: string) =>
  scene.sql
    .rows`select q.pull_id from :schema.merge_queue q join :schema.repositories r on r.id = q.repository_id
    where r.name = ${name}`;

it('nothing lands where there are no pull requests any more', async () => {
  const { pull, merge, made, report, at, main, list } = await queued('switched-off', REQUIRED);
  const a = await pull('a', { a: '1' });
  expect((await merge(a)).status).toBe(201);
  const sha = await made(a);
  const before = await main();
  expect((await ada.call('PATCH', at, { has_pull_requests: false })).status).toBe(200);
  await report(sha, 'success');
  await expect.poll(() => waitingIn('switched-off')).toEqual([]);
  expect(await main()).toBe(before);
  expect((await ada.call('PATCH', at, { has_pull_requests: true })).status).toBe(200);
  expect(await list()).toEqual([]);
});

it.each([
  ['closed', { state: 'closed' }, { state: 'open' }],
  ['given another base', { base: 'side' }, { base: 'main' }],
])('what was %s is out of it, also when that is taken back at once', async (what, change, back) => {
  const name = what.replaceAll(' ', '-');
  const { pull, merge, made, report, at, tree, main } = await queued(name, REQUIRED);
  await git(tree, 'push', '-q', 'origin', 'main:side');
  const a = await pull('a', { a: '1' });
  expect((await merge(a)).status).toBe(201);
  const sha = await made(a);
  const before = await main();
  for (const edit of [change, back])
    expect((await ada.call('PATCH', `${at}/pulls/${a}`, edit)).status).toBe(201);
  await report(sha, 'success');
  await expect.poll(() => waitingIn(name)).toEqual([]);
  expect(await main()).toBe(before);
});

it('what was closed, open again and queued again at once is in it', async () => {
  const { pull, merge, made, madeNow, report, at, isMerged } = await queued('queued-again', REQUIRED);
  const a = await pull('a', { a: '1' });
  expect((await merge(a)).status).toBe(201);
  await made(a);
  for (const state of ['closed', 'open'])
    expect((await ada.call('PATCH', `${at}/issues/${a}`, { state })).status).toBe(201);
  expect((await merge(a)).status).toBe(201);
  // The merge made before or a new one, by whether the queue looked in between.
  await expect
    .poll(async () => {
      const sha = await madeNow(a);
      if (sha !== undefined) await report(sha, 'success');
      return await isMerged(a);
    })
    .toBe(true);
});

it('a merge in the name of somebody who may not merge any more does not happen', async () => {
  const { pull, merge, made, report, timeline, at, main, isMerged } = await queued('left', REQUIRED);
  await ada.call('PUT', `${at}/collaborators/bob`, { permission: 'write' });
  const a = await pull('a', { a: '1' });
  expect((await merge(a, {}, bob)).status).toBe(201);
  const sha = await made(a);
  const before = await main();
  await ada.call('DELETE', `${at}/collaborators/bob`);
  await report(sha, 'success');
  await expect.poll(async () => (await timeline(a)).at(-1)?.[0]).toBe('pull_cancel_scheduled_merge');
  expect([await main(), await isMerged(a)]).toEqual([before, false]);
});
