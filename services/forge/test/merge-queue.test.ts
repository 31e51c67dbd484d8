import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch } from './forge.ts';
import { REQUIRED, useMergeQueues } from './merge-queue-scene.ts';

const { scene, people, queued } = useMergeQueues();
let ada: Person;
beforeAll(() => {
  ({ ada } = people);
});

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
    for (const number of numbers) await expect.poll(() => isMerged(number)).toBe(true);
    const subjects = (await git(bare, 'log', '--first-parent', '--format=%s', '-3', 'main')).split('\n');
    expect(subjects.map((subject) => subject.match(/#(\d+)/)?.[1])).toEqual(
      [...numbers].reverse().map(String),
    );
    await expect.poll(() => scene.sql.rows`select id from :schema.merge_queue`).toEqual([]);
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
      .poll(() => timeline(two))
      .toContainEqual([
        'pull_cancel_scheduled_merge',
        'Removed from the merge queue of main: it conflicts in one file',
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
    await expect.poll(() => isMerged(number)).toBe(true);
  });

  it('lets the pull requests from its branch follow', async () => {
    const { pull, merge, main, at, tree } = await queued('followed');
    await git(tree, 'push', '-q', 'origin', 'main:refs/heads/release');
    const opened = { head: 'main', base: 'release', title: 'release' };
    const release = (await ada.call('POST', `${at}/pulls`, opened)).body.number;
    const before = await main();
    expect((await merge(await pull('a', { a: '1' }))).status).toBe(201);
    await expect.poll(main).not.toBe(before);
    const [tip, { id }] = [await main(), (await ada.call('GET', `${at}/issues/${release}`)).body];
    const row = () => scene.sql.row`select head_sha, written_sha from :schema.pulls where issue_id = ${id}`;
    await expect.poll(row).toEqual({ head_sha: tip, written_sha: tip });
  });

  it('takes every style', async () => {
    const { pull, merge, isMerged, bare } = await queued('styles');
    const numbers = [];
    for (const style of ['squash', 'rebase', 'rebase-merge', 'merge']) {
      const number = await pull(style, { [style]: '1' });
      numbers.push(number);
      expect((await merge(number, { Do: style, MergeTitleField: `by ${style}` })).status).toBe(201);
    }
    for (const number of numbers) await expect.poll(() => isMerged(number)).toBe(true);
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
    await expect.poll(main).toBe(second);
    await expect.poll(() => Promise.all([a, b, c].map(isMerged))).toEqual([true, true, false]);
    await expect.poll(refs).toEqual([`refs/queue/main/${c}`]);
    await report(third, 'success');
    await expect.poll(main).toBe(third);
    await expect.poll(refs).toEqual([]);
  });

  it('sends away only the culprit, and makes those behind it anew', async () => {
    const { pull, merge, isMerged, made, report, main, timeline, bare } = await queued('culprit', REQUIRED);
    const [a, b, c] = [await pull('a', { a: '1' }), await pull('b', { b: '1' }), await pull('c', { c: '1' })];
    for (const number of [a, b, c]) await merge(number);
    const [first, second, third] = [await made(a), await made(b), await made(c)];
    await report(third, 'failure');
    await report(second, 'failure');
    await report(first, 'success');
    await expect.poll(main).toBe(first);
    await expect
      .poll(() => timeline(b))
      .toContainEqual([
        'pull_cancel_scheduled_merge',
        'Removed from the merge queue of main: its checks failed',
      ]);
    const anew = await made(c, third);
    expect(await git(bare, 'rev-parse', `${anew}^`)).toBe(first);
    await report(anew, 'success');
    await expect.poll(main).toBe(anew);
    await expect.poll(() => Promise.all([a, b, c].map(isMerged))).toEqual([true, false, true]);
    expect(await git(bare, 'ls-tree', '--name-only', 'main')).not.toMatch(/^b$/m);
  });

  it('is entered by itself once the required checks of the head succeeded, whatever others say', async () => {
    const { pull, merge, isMerged, report, list, at } = await queued('by-itself', REQUIRED);
    const number = await pull('a', { a: '1' });
    const head = (await ada.call('GET', `${at}/pulls/${number}`)).body.head.sha;
    await report(head, 'failure', 'lint');
    await report(head, 'pending');
    expect((await merge(number, { merge_when_checks_succeed: true })).status).toBe(201);
    await report(head, 'failure');
    const looks = () => scene.sql.rows`select from :schema.outbox where topic = 'scheduled-merge'`;
    await expect.poll(looks).toEqual([]);
    expect(await list()).toEqual([]);
    await report(head, 'success');
    await expect.poll(list).toMatchObject([{ number, head_sha: head, queued_by: { login: 'ada' } }]);
    expect(await isMerged(number)).toBe(false);
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
    await expect.poll(main).toBe(after);
    await expect
      .poll(async () => (await ada.call('GET', `${at}/pulls/${a}`)).body)
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
    await expect.poll(async () => (await refs()).length).toBe(1);
    const alone = await made(d, last);
    await report(alone, 'success');
    await expect.poll(main).toBe(alone);
    await expect.poll(() => Promise.all([a, b, c, d].map(isMerged))).toEqual([false, false, false, true]);
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
    await expect.poll(main).toBe(sha);
    const pushed = async () => {
      const rows = await scene.sql.rows<{ ref: string }>`
        select payload::jsonb->>'ref' as ref from :schema.hook_deliveries
        where payload::jsonb->>'after' = ${sha} order by id`;
      return rows.map(({ ref }) => ref).sort();
    };
    await expect.poll(pushed).toEqual(['refs/heads/main', `refs/queue/main/${a}`]);
  });
});
