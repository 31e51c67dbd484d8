import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
});

/** A repository whose main has a merge queue. */
async function queued(name: string, options: object = {}) {
  const tree = await pushedRepository(ada, name, scene.folder);
  const bare = await scene.bare('ada', name);
  const at = `/repos/ada/${name}`;
  const protection = { rule_name: 'main', enable_push: true, enable_merge_queue: true, ...options };
  expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
  return {
    at,
    tree,
    bare,
    pull: async (branch: string, files: Record<string, string>, base = 'main') => {
      await pushBranch(tree, branch, files);
      const { body } = await ada.call('POST', `${at}/pulls`, { head: branch, base, title: branch });
      return body.number;
    },
    merge: async (number: number, body: object = {}, who = ada) =>
      await who.call('POST', `${at}/pulls/${number}/merge`, body),
    isMerged: async (number: number) => (await ada.call('GET', `${at}/pulls/${number}/merge`)).status === 204,
    list: async () => (await ada.call('GET', `${at}/merge_queue/main`)).items,
    /** Waits until the merge ahead of the branch is written down, which comes after its ref, and gives its commit. */
    made: async (number: number, other?: string) => {
      const read = async () => {
        const ref = await readRef(bare, `refs/queue/main/${number}`);
        const rows = await scene.sql.rows`select from :schema.merge_queue where commit_sha = ${ref}`;
        return rows.length > 0 && ref !== other ? ref : '';
      };
      let sha = '';
      await expect.poll(async () => (sha = await read()), SOON).not.toBe('');
      return sha;
    },
    report: async (sha: string, state: string, context = 'ci') => {
      expect((await ada.call('POST', `${at}/statuses/${sha}`, { state, context })).status).toBe(201);
    },
    refs: async () =>
      (await git(bare, 'for-each-ref', '--format=%(refname)', 'refs/queue')).split('\n').filter(Boolean),
    timeline: async (number: number) =>
      (await ada.call('GET', `${at}/issues/${number}/timeline`)).items.map(({ type, body }) => [type, body]),
    main: () => git(bare, 'rev-parse', 'main'),
  };
}

/** Empty when there is none. */
const readRef = (bare: string, ref: string) =>
  git(bare, 'rev-parse', '--verify', '--quiet', ref).catch(() => '');

const REQUIRED = { enable_status_check: true, status_check_contexts: ['ci'] };
const SOON = { timeout: 15_000 };

describe('a merge queue without required checks', () => {
  it('merges what is queued in its order, and answers like a scheduled merge', async () => {
    const { pull, merge, isMerged, list, bare, timeline, refs, at } = await queued('plain', {
      merge_queue_batch: 2,
    });
    const numbers = [await pull('a', { a: '1' }), await pull('b', { b: '1' }), await pull('c', { c: '1' })];
    const answers = [];
    for (const number of numbers)
      answers.push(await merge(number, { delete_branch_after_merge: number === numbers[0] }));
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      [201, 201, 201].map((status) => [status, '']),
    );
    for (const number of numbers) await expect.poll(() => isMerged(number), SOON).toBe(true);
    const subjects = (await git(bare, 'log', '--first-parent', '--format=%s', '-3', 'main')).split('\n');
    expect(subjects.map((subject) => subject.match(/#(\d+)/)?.[1])).toEqual(
      [...numbers].reverse().map(String),
    );
    await expect.poll(() => scene.sql.rows`select id from :schema.merge_queue`, SOON).toEqual([]);
    expect([await list(), await refs()]).toEqual([[], []]);
    expect(await scene.sql.rows`select * from :schema.merges`).toEqual([]);
    expect(await timeline(numbers[0] as number)).toContainEqual([
      'pull_scheduled_merge',
      'Added to the merge queue of main',
    ]);
    expect((await ada.call('GET', `${at}/branches/a`)).status).toBe(404);
    expect((await ada.call('GET', `${at}/branches/b`)).status).toBe(200);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('sends away what conflicts with what is before it, and goes on without it', async () => {
    const { pull, merge, isMerged, timeline, made, bare } = await queued('conflicts', {
      merge_queue_batch: 5,
      ...REQUIRED,
    });
    const [one, two, three] = [
      await pull('one', { same: '1' }),
      await pull('two', { same: '2' }),
      await pull('three', { other: '3' }),
    ];
    for (const number of [one, two, three]) expect((await merge(number)).status).toBe(201);
    await expect
      .poll(() => timeline(two), SOON)
      .toContainEqual([
        'pull_cancel_scheduled_merge',
        'Removed from the merge queue of main: it conflicts in same',
      ]);
    expect(await Promise.all([one, two, three].map(isMerged))).toEqual([false, false, false]);
    const behind = await made(three);
    expect(await git(bare, 'rev-parse', `${behind}^`)).toBe(await made(one));
  });

  it('waits for all checks there are where none has a name', async () => {
    const { pull, merge, isMerged, made, report } = await queued('nameless', {
      enable_status_check: true,
      status_check_contexts: [],
    });
    const number = await pull('one', { one: '1' });
    expect((await merge(number)).status).toBe(201);
    const merged = await made(number);
    expect(await isMerged(number)).toBe(false);
    await report(merged, 'success');
    await expect.poll(() => isMerged(number), SOON).toBe(true);
  });

  it('lets the pull requests from its branch follow', async () => {
    const { pull, merge, main, at, tree } = await queued('followed');
    await git(tree, 'push', '-q', 'origin', 'main:refs/heads/release');
    const opened = { head: 'main', base: 'release', title: 'release' };
    const release = (await ada.call('POST', `${at}/pulls`, opened)).body.number;
    const before = await main();
    expect((await merge(await pull('a', { a: '1' }))).status).toBe(201);
    await expect.poll(main, SOON).not.toBe(before);
    const [tip, { id }] = [await main(), (await ada.call('GET', `${at}/issues/${release}`)).body];
    const row = () => scene.sql.row`select head_sha, written_sha from :schema.pulls where issue_id = ${id}`;
    await expect.poll(row, SOON).toEqual({ head_sha: tip, written_sha: tip });
  });

  it('takes every style', async () => {
    const { pull, merge, isMerged, bare } = await queued('styles');
    const numbers = [];
    for (const style of ['squash', 'rebase', 'rebase-merge', 'merge']) {
      const number = await pull(style, { [style]: '1' });
      numbers.push(number);
      expect((await merge(number, { Do: style, MergeTitleField: `by ${style}` })).status).toBe(201);
    }
    for (const number of numbers) await expect.poll(() => isMerged(number), SOON).toBe(true);
    const subjects = await git(bare, 'log', '--first-parent', '--format=%s', '-4', 'main');
    expect(subjects.split('\n')).toEqual(['by merge', 'by rebase-merge', 'work on rebase', 'by squash']);
  });
});

describe('a merge queue with required checks', () => {
  it('offers merges one upon the other, and moves the branch to the last green one', async () => {
    const { pull, merge, isMerged, made, report, main, list, refs, bare, tree } = await queued(
      'checked',
      REQUIRED,
    );
    const [a, b, c] = [await pull('a', { a: '1' }), await pull('b', { b: '1' }), await pull('c', { c: '1' })];
    const before = await main();
    for (const number of [a, b, c]) await merge(number);
    const [first, second, third] = [await made(a), await made(b), await made(c)];
    expect(await git(bare, 'rev-parse', `${first}^`, `${second}^`, `${third}^`)).toBe(
      [before, first, second].join('\n'),
    );
    // Whoever checks can fetch them.
    await git(tree, 'fetch', '-q', 'origin', `refs/queue/main/${c}`);
    expect(await git(tree, 'ls-tree', '--name-only', 'FETCH_HEAD')).toBe(
      ['README.md', 'a', 'b', 'c', 'lines.txt'].join('\n'),
    );
    // And nobody may push there.
    const ours = await git(bare, 'for-each-ref');
    const push = (change: string) => git(tree, 'push', '-q', '-f', 'origin', change);
    for (const name of [`refs/queue/main/${c}`, 'refs/queue/main/9999'])
      await expect(push(`main:${name}`)).rejects.toThrow('hidden ref');
    await expect(push(`:refs/queue/main/${c}`)).rejects.toThrow('failed to push');
    expect(await git(bare, 'for-each-ref')).toBe(ours);
    expect(await list()).toMatchObject([
      { position: 1, number: a, state: 'testing', sha: first, ref: `refs/queue/main/${a}`, do: 'merge' },
      { position: 2, number: b, state: 'testing', sha: second, queued_by: { login: 'ada' } },
      { position: 3, number: c, state: 'testing', sha: third },
    ]);
    await report(second, 'success');
    expect(await main()).toBe(before);
    await report(first, 'success');
    await expect.poll(main, SOON).toBe(second);
    await expect.poll(() => Promise.all([a, b, c].map(isMerged)), SOON).toEqual([true, true, false]);
    await expect.poll(refs, SOON).toEqual([`refs/queue/main/${c}`]);
    await report(third, 'success');
    await expect.poll(main, SOON).toBe(third);
    await expect.poll(refs, SOON).toEqual([]);
  });

  it('sends away only the culprit, and makes those behind it anew', async () => {
    const { pull, merge, isMerged, made, report, main, timeline, bare } = await queued('culprit', REQUIRED);
    const [a, b, c] = [await pull('a', { a: '1' }), await pull('b', { b: '1' }), await pull('c', { c: '1' })];
    for (const number of [a, b, c]) await merge(number);
    const [first, second, third] = [await made(a), await made(b), await made(c)];
    await report(third, 'failure');
    await report(second, 'failure');
    await report(first, 'success');
    await expect.poll(main, SOON).toBe(first);
    await expect
      .poll(() => timeline(b), SOON)
      .toContainEqual([
        'pull_cancel_scheduled_merge',
        'Removed from the merge queue of main: its checks failed',
      ]);
    const anew = await made(c, third);
    expect(await git(bare, 'rev-parse', `${anew}^`)).toBe(first);
    await report(anew, 'success');
    await expect.poll(main, SOON).toBe(anew);
    await expect.poll(() => Promise.all([a, b, c].map(isMerged)), SOON).toEqual([true, false, true]);
    expect(await git(bare, 'ls-tree', '--name-only', 'main')).not.toMatch(/^b$/m);
  });

  it('begins anew when somebody pushes to the branch', async () => {
    const { pull, merge, made, report, main, tree, bare, at } = await queued('pushed', REQUIRED);
    const a = await pull('a', { a: '1' });
    await merge(a);
    const before = await made(a);
    await commit(tree, { pushed: '1' }, 'past the queue');
    await git(tree, 'push', '-q', 'origin', 'main');
    const pushed = await main();
    const after = await made(a, before);
    expect(await git(bare, 'rev-parse', `${after}^`)).toBe(pushed);
    await report(before, 'success');
    await report(after, 'success');
    await expect.poll(main, SOON).toBe(after);
    await expect
      .poll(async () => (await ada.call('GET', `${at}/pulls/${a}`)).body, SOON)
      .toMatchObject({ merged: true, merge_commit_sha: after });
  });

  it('lets go who is pushed to, closed or taken out, and those behind them go on', async () => {
    const { pull, merge, made, report, main, tree, timeline, refs, at, isMerged } = await queued(
      'leaving',
      REQUIRED,
    );
    const [a, b, c, d] = [
      await pull('a', { a: '1' }),
      await pull('b', { b: '1' }),
      await pull('c', { c: '1' }),
      await pull('d', { d: '1' }),
    ];
    for (const number of [a, b, c, d]) await merge(number);
    let last = await made(d);
    await pushBranch(tree, 'a', { a: '2' }, 'a');
    last = await made(d, last);
    expect((await ada.call('PATCH', `${at}/pulls/${b}`, { state: 'closed' })).status).toBe(201);
    expect((await ada.call('DELETE', `${at}/pulls/${c}/merge`)).status).toBe(204);
    expect((await ada.call('DELETE', `${at}/pulls/${c}/merge`)).status).toBe(404);
    await report(last, 'pending');
    await expect.poll(async () => (await refs()).length, SOON).toBe(1);
    const alone = await made(d, last);
    await report(alone, 'success');
    await expect.poll(main, SOON).toBe(alone);
    await expect
      .poll(() => Promise.all([a, b, c, d].map(isMerged)), SOON)
      .toEqual([false, false, false, true]);
    const left = 'pull_cancel_scheduled_merge';
    expect(await timeline(a)).toContainEqual([
      left,
      'Removed from the merge queue of main: its head branch was pushed to',
    ]);
    expect(await timeline(b)).toContainEqual([left, 'Removed from the merge queue of main: it was closed']);
    expect(await timeline(c)).toContainEqual([left, 'Removed from the merge queue of main']);
    // It can be queued again.
    expect((await merge(a)).status).toBe(201);
  });

  it('tells webhooks of its merges as of pushes, and of the branch when it moves', async () => {
    const { pull, merge, made, report, main, at } = await queued('told', REQUIRED);
    const config = { url: 'http://127.0.0.1:9/', content_type: 'json' };
    expect(
      (await ada.call('POST', `${at}/hooks`, { type: 'gitea', config, active: true, events: ['push'] }))
        .status,
    ).toBe(201);
    const a = await pull('a', { a: '1' });
    await merge(a);
    const sha = await made(a);
    await report(sha, 'success');
    await expect.poll(main, SOON).toBe(sha);
    const pushed = async () => {
      const rows = await scene.sql.rows<{ ref: string }>`
        select payload::jsonb->>'ref' as ref from :schema.hook_deliveries
        where payload::jsonb->>'after' = ${sha} order by id`;
      return rows.map(({ ref }) => ref).sort();
    };
    await expect.poll(pushed, SOON).toEqual(['refs/heads/main', `refs/queue/main/${a}`]);
  });
});

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
      .poll(() => scene.sql.rows`select * from :schema.merge_queue where pull_id = ${a}`, SOON)
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

it('what leaves it does not come back by a schedule that it has as well', async () => {
  const { pull, merge, made, at, list, timeline } = await queued('both', REQUIRED);
  const a = await pull('a', { a: '1' });
  await merge(a);
  await made(a);
  await scene.sql.script('alter table forge.scheduled_merges disable trigger try_scheduled');
  const scheduled = { merge_when_checks_succeed: true };
  expect((await merge(a, scheduled)).status).toBe(201);
  expect((await ada.call('DELETE', `${at}/pulls/${a}/merge`)).status).toBe(204);
  await scene.sql.script('alter table forge.scheduled_merges enable trigger try_scheduled');
  expect([await list(), await scene.sql.rows`select * from :schema.scheduled_merges`]).toEqual([[], []]);
  const left = (await timeline(a)).filter(([type]) => type === 'pull_cancel_scheduled_merge');
  expect(left).toHaveLength(2);
  expect((await ada.call('DELETE', `${at}/pulls/${a}/merge`)).status).toBe(404);
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
  await expect.poll(() => readRef(bare, `refs/queue/early/${front}`), SOON).not.toBe('');
  const elsewhere = await pull('elsewhere', { elsewhere: '1' });
  // As a disk may lose it.
  const id = await git(bare, 'rev-parse', 'lost');
  await rm(join(bare, 'objects', id.slice(0, 2), id.slice(2)));
  expect((await ada.call('DELETE', `${at}/pulls/${front}/merge`)).status).toBe(204);
  expect((await merge(elsewhere)).status).toBe(201);
  await report(await made(elsewhere), 'success');
  await expect.poll(() => isMerged(elsewhere), SOON).toBe(true);
  const told = async () => {
    // Has the queues looked at again, which takes ten seconds otherwise.
    await report(await git(bare, 'rev-parse', 'early'), 'success', 'other');
    return await timeline(lost);
  };
  const reason = 'Removed from the merge queue of early: its merge could not be made';
  // Three attempts, each some seconds after the one before.
  await expect.poll(told, { timeout: 40_000 }).toContainEqual(['pull_cancel_scheduled_merge', reason]);
  await expect.poll(() => readRef(bare, `refs/queue/early/${behind}`), SOON).not.toBe('');
  await report(await readRef(bare, `refs/queue/early/${behind}`), 'success');
  await expect.poll(() => isMerged(behind), SOON).toBe(true);
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
  for (const number of [stuck, other]) await expect.poll(() => isMerged(number), SOON).toBe(true);
  const again = await pull('again', { again: '1' });
  expect((await merge(again)).status).toBe(201);
  await expect.poll(() => isMerged(again), SOON).toBe(true);
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
  await expect.poll(refs, SOON).toEqual([`refs/queue/release/${body.number}`]);
  const main = await git(bare, 'rev-parse', 'main');
  // By hand: nobody deletes a protected branch otherwise.
  await git(bare, 'update-ref', '-d', 'refs/heads/release');
  await ada.call('POST', `${at}/statuses/${main}`, { state: 'success', context: 'other' });
  await expect
    .poll(() => timeline(body.number), SOON)
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
    await expect.poll(rows, SOON).toEqual([]);
    expect([await isMerged(a), await refs()]).toEqual([true, []]);
    expect((await ada.call('GET', `${at}/branches/a`)).status).toBe(200);
  },
);

it('is dissolved when the protection has none any more', async () => {
  const { pull, merge, made, refs, timeline, at, main } = await queued('dissolved', REQUIRED);
  const a = await pull('a', { a: '1' });
  await merge(a);
  await made(a);
  const before = await main();
  await ada.call('PATCH', `${at}/branch_protections/main`, { enable_merge_queue: false });
  await expect
    .poll(() => timeline(a), SOON)
    .toContainEqual([
      'pull_cancel_scheduled_merge',
      'Removed from the merge queue of main: the branch has no merge queue any more',
    ]);
  expect(await refs()).toEqual([]);
  expect(await main()).toBe(before);
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
  await expect.poll(async () => (await timeline(a)).at(-1)?.[0], SOON).toBe('pull_cancel_scheduled_merge');
  expect([await main(), await isMerged(a)]).toEqual([before, false]);
});
