import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from './forge.ts';
import { type Stacked, THREE, useStacks } from './stack-scene.ts';

// Stacks of pull requests that are not merged, because of one of them or of who asks.

const { scene, at, stacked, merge, show, top, stored, push, refused, prefix, made } = useStacks();
let ada: Person;
let bob: Person;
let cleo: Person;
beforeAll(() => {
  ({ ada, bob, cleo } = made());
});

describe('a stack of which one is in the way is not merged, and nothing changes', () => {
  it.each<[string, number, unknown, (stack: Stacked) => Promise<unknown>, object?]>([
    [
      'a draft in the middle',
      405,
      '#1: Work in progress PRs cannot be merged',
      ({ numbers }) => ada.call('PATCH', `${at}/pulls/${numbers[1]}`, { title: 'WIP: not yet' }),
    ],
    [
      'a conflict with the branch',
      405,
      '#0: Please try again later',
      ({ base }) => push(base, { one: 'other\n' }),
    ],
    [
      'a conflict in the middle with the branch',
      405,
      '#1: Please try again later',
      ({ base }) => push(base, { two: 'other\n' }),
    ],
    [
      'a conflict in the middle with the branch, squashing',
      405,
      '#1: Please try again later',
      ({ base }) => push(base, { two: 'other\n' }),
      { Do: 'squash' },
    ],
    [
      'a conflict in the middle with the branch, rebasing',
      409,
      expect.stringMatching(/^#1: commit \w{10} conflicts with the base branch$/),
      ({ base }) => push(base, { two: 'other\n' }),
      { Do: 'rebase' },
    ],
    [
      'a conflict with the one below',
      405,
      '#2: Please try again later',
      () => push(`${prefix()}-2`, { three: 'other\n' }),
    ],
    [
      'an approval that is missing',
      405,
      '#1: Does not have enough approvals',
      async ({ base, numbers }) => {
        await ada.call('POST', `${at}/branch_protections`, { rule_name: base, required_approvals: 1 });
        for (const number of [numbers[0], numbers[2]])
          await cleo.call('POST', `${at}/pulls/${number}/reviews`, { event: 'APPROVED' });
      },
    ],
    [
      'a check that is missing',
      405,
      '#2: Not all required status checks successful',
      async ({ base, heads }) => {
        const checked = { enable_status_check: true, status_check_contexts: ['ci'] };
        await ada.call('POST', `${at}/branch_protections`, { rule_name: base, ...checked });
        for (const sha of heads.slice(0, 2))
          await ada.call('POST', `${at}/statuses/${sha}`, { context: 'ci', state: 'success' });
      },
    ],
    [
      'one that is behind where it must not be',
      405,
      '#2: The head branch is behind the base branch',
      async ({ base }) => {
        await ada.call('POST', `${at}/branch_protections`, {
          rule_name: base,
          block_on_outdated_branch: true,
        });
        await push(`${prefix()}-2`, { more: '1\n' });
      },
    ],
    [
      'a file that nobody changes',
      405,
      '#1: Changed protected files',
      ({ base }) =>
        ada.call('POST', `${at}/branch_protections`, { rule_name: base, protected_file_patterns: 'two' }),
    ],
    [
      'a merge queue',
      405,
      expect.stringMatching(/^#0: s\d+-base has a merge queue, which takes them one by one$/),
      ({ base }) =>
        ada.call('POST', `${at}/branch_protections`, { rule_name: base, enable_merge_queue: true }),
    ],
    [
      'a style that is not allowed',
      405,
      expect.stringMatching(/^#0: rebase-merge is not allowed/),
      () => ada.call('PATCH', at, { allow_rebase_explicit: false }),
      { Do: 'rebase-merge' },
    ],
    [
      'another head than the caller has seen',
      409,
      '#2: head out of date',
      () => Promise.resolve(),
      { head_commit_id: '1'.repeat(40) },
    ],
    [
      'a branch that is the head of two',
      405,
      expect.stringMatching(/^#2: s\d+-2 is the head of #1 and of #\d+$/),
      () => bob.call('POST', `${at}/pulls`, { head: `${prefix()}-2`, base: 'main', title: 'twice' }),
    ],
  ])('%s', async (_, status, message, obstruct, wish) => {
    const stack = await stacked(THREE);
    await obstruct(stack);
    const { numbers } = stack;
    // Numbers are known only now.
    const meant = (text: unknown): unknown =>
      typeof text === 'string'
        ? text.replace(/#([012])\b/, (_match, place) => `#${numbers[Number(place)]}`)
        : text;
    const before = await stored();
    const answer = await merge(top(stack), wish);
    const said = numbers.reduce(
      (words, number, place) => words.replace(`#${number}`, `#${place}`),
      String(answer.body.message),
    );
    expect([answer.status, said]).toEqual([status, typeof message === 'string' ? message : meant(message)]);
    expect(await stored()).toEqual(before);
    await ada.call('PATCH', at, { allow_rebase_explicit: true });
  });

  it('pull requests that stand on each other', async () => {
    const stack = await stacked(THREE.slice(0, 1));
    await push(stack.base, { ahead: '1\n' });
    const back = await bob.call('POST', `${at}/pulls`, {
      head: stack.base,
      base: `${prefix()}-1`,
      title: 'back',
    });
    expect((await show(top(stack))).stack).toMatchObject([
      { number: back.body.number },
      { number: top(stack) },
    ]);
    await refused(() => merge(top(stack)), 405, `#${top(stack)}: it stands on itself`);
    // Alone each can be merged.
    expect((await merge(top(stack), { merge_stack: false })).status).toBe(200);
  });

  it('what cannot be for several', async () => {
    const stack = await stacked(THREE.slice(0, 2));
    await refused(
      () => merge(top(stack), { Do: 'manually-merged' }),
      422,
      '[MergeStack]: not with manually-merged',
    );
    await refused(
      () => merge(top(stack), { merge_when_checks_succeed: true }),
      422,
      '[MergeStack]: not with MergeWhenChecksSucceed',
    );
  });

  it('for somebody who may merge the upper ones only, or none', async () => {
    const stack = await stacked(THREE.slice(0, 2));
    await ada.call('POST', `${at}/branch_protections`, {
      rule_name: stack.base,
      enable_merge_whitelist: true,
      merge_whitelist_usernames: ['ada'],
    });
    await refused(
      () => merge(top(stack), {}, bob),
      405,
      `#${stack.numbers[0]}: User not allowed to merge PR`,
    );
    const eve = scene.person('eve');
    await eve.call('GET', '/user');
    await refused(() => merge(top(stack), { force_merge: true }, eve), 405, 'User not allowed to merge PR');
    // He may merge what does not go there.
    expect((await merge(top(stack), { merge_stack: false }, bob)).status).toBe(200);
  });

  it('and administrators go past what is required when they force it', async () => {
    const stack = await stacked(THREE.slice(0, 2));
    const queue = { rule_name: stack.base, enable_merge_queue: true, required_approvals: 1 };
    await ada.call('POST', `${at}/branch_protections`, queue);
    await refused(
      () => merge(top(stack), { force_merge: true }, bob),
      405,
      `#${stack.numbers[0]}: ${stack.base} has a merge queue, which takes them one by one`,
    );
    expect((await merge(top(stack), { force_merge: true })).status).toBe(200);
  });
});
