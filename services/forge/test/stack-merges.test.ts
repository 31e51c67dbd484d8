import { setTimeout as sleep } from 'node:timers/promises';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch } from './forge.ts';
import { SAME, THREE, useStacks } from './stack-scene.ts';

// Pull requests that stand on each other, merged all at once.

const { scene, at, stacked, merge, show, top, subjects, stored, push, refused, prefix, made } = useStacks();
let ada: Person;
let bob: Person;
let cleo: Person;
let tree: string;
let bare: string;
beforeAll(() => {
  ({ ada, bob, cleo, tree, bare } = made());
});

describe.each(['merge', 'squash', 'rebase', 'rebase-merge'])('a stack that is merged by %s', (style) => {
  it.each([
    ['new files', 2, THREE],
    ['new files', 3, THREE],
    ['the same lines', 2, SAME],
    ['the same lines', 3, SAME],
  ])('and brings %s on %i levels gives each its own commits, in order', async (_, levels, files) => {
    const brought = files.slice(0, levels);
    const stack = await stacked(brought);
    // Somebody was faster, so that a rebase has something to do.
    await push(stack.base, { faster: '1\n' });
    const before = await git(bare, 'rev-parse', stack.base);
    const answer = await merge(top(stack), { Do: style });
    expect([answer.status, answer.text]).toEqual([200, '']);
    const pulls = await Promise.all(stack.numbers.map(show));
    for (const [index, pull] of pulls.entries()) {
      expect(pull).toMatchObject({
        state: 'closed',
        merged: true,
        merged_by: { login: 'ada' },
        base: { ref: stack.base },
        head: { sha: stack.heads[index] },
        changed_files: 1,
        stack: [],
      });
      expect((await ada.call('GET', `${at}/pulls/${stack.numbers[index]}/commits`)).items).toHaveLength(1);
      const found = await ada.call('GET', `${at}/commits/${pull.merge_commit_sha}/pull`);
      expect(found.body.number).toBe(stack.numbers[index]);
    }
    // Each stands on the one before.
    const commits = pulls.map((pull) => pull.merge_commit_sha);
    expect(await git(bare, 'rev-parse', stack.base)).toBe(commits.at(-1));
    const path = (
      await git(bare, 'rev-list', '--first-parent', '--reverse', `${before}..${stack.base}`)
    ).split('\n');
    expect(path).toEqual(commits);
    // What each brings is what it brought.
    for (const [index, sha] of commits.entries()) {
      const [file, content] = Object.entries(brought[index] as object)[0] as [string, string];
      expect(await git(bare, 'diff', '--name-only', `${sha}^`, sha)).toBe(file);
      expect(`${await git(bare, 'show', `${sha}:${file}`)}\n`).toBe(content);
    }
    expect(await git(bare, 'ls-tree', '--name-only', stack.base)).toMatch(/^faster$/m);
    expect(await scene.sql.rows`select * from :schema.merges`).toEqual([]);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });
});

describe('a stack', () => {
  it('fast-forwards to its top, and not when a part of it is behind', async () => {
    const stack = await stacked(THREE);
    expect((await merge(top(stack), { Do: 'fast-forward-only' })).status).toBe(200);
    expect(await git(bare, 'rev-parse', stack.base)).toBe(stack.heads[2]);
    expect((await Promise.all(stack.numbers.map(show))).map((pull) => pull.merge_commit_sha)).toEqual(
      stack.heads,
    );

    const behind = await stacked(THREE);
    await push(`${prefix()}-2`, { two: 'more\n' });
    await refused(
      () => merge(top(behind), { Do: 'fast-forward-only' }),
      409,
      expect.stringMatching(new RegExp(`^#${behind.numbers[2]}: the head branch is behind`)),
    );
  });

  it('is merged up to the one that is named, whose words it gets, and the rest goes to where it went', async () => {
    const stack = await stacked([...THREE, { four: '4\n' }]);
    const [one, two, three, four] = stack.numbers as [number, number, number, number];
    const wish = { MergeTitleField: 'All of it', delete_branch_after_merge: true, Do: 'squash' };
    expect((await merge(two, wish)).status).toBe(200);
    expect(await subjects(stack.base)).toEqual(['All of it', `Add ${prefix()}-1 (#${one})`]);
    for (const branch of [`${prefix()}-1`, `${prefix()}-2`])
      expect((await ada.call('GET', `${at}/branches/${branch}`)).status).toBe(404);
    // Those above are rebased as after any merge.
    await expect.poll(async () => (await show(three)).base).toMatchObject({ ref: stack.base });
    const commitsOf = async (number: number) =>
      (await ada.call('GET', `${at}/pulls/${number}/commits`)).items.length;
    await expect.poll(() => commitsOf(three)).toBe(1);
    expect(await show(three)).toMatchObject({ state: 'open', mergeable: true });
    expect((await show(four)).stack).toMatchObject([{ number: three }, { number: four }]);
  });

  it.each(['squash', 'rebase', 'merge'])(
    'leaves what stands on it with commits of its own, and what comes from its base follows: %s',
    async (style) => {
      const stack = await stacked(THREE);
      const [, two, three] = stack.numbers as [number, number, number];
      await push(stack.base, { [`faster-${style}`]: '1\n' });
      const fork = '/repos/cleo/work';
      // From the second time on there is one.
      await cleo.call('POST', `${at}/forks`, {});
      const wish = { head: `ada:${stack.base}`, base: 'main', title: 'Elsewhere' };
      const elsewhere = await cleo.call('POST', `${fork}/pulls`, wish);
      expect(elsewhere.status).toBe(201);
      expect((await merge(two, { Do: style, delete_branch_after_merge: true })).status).toBe(200);

      const commitsOf = async () =>
        (await ada.call('GET', `${at}/pulls/${three}/commits`)).items.map(({ sha }) => sha as string);
      await expect.poll(async () => (await commitsOf()).length).toBe(1);
      const upper = await show(three);
      expect(upper).toMatchObject({ state: 'open', base: { ref: stack.base }, mergeable: true });
      expect(await commitsOf()).toEqual([upper.head.sha]);
      expect(await git(bare, 'rev-parse', `refs/pull/${three}/head`, `${prefix()}-3`)).toBe(
        `${upper.head.sha}\n${upper.head.sha}`,
      );
      expect(await git(bare, 'diff', '--name-only', `${upper.merge_base}..${upper.head.sha}`)).toBe('three');
      const tip = await git(bare, 'rev-parse', stack.base);
      const followed = async () =>
        (await cleo.call('GET', `${fork}/pulls/${elsewhere.body.number}`)).body.head.sha;
      await expect.poll(followed).toBe(tip);
      await expect.poll(() => scene.sql.rows`select * from :schema.pushes`).toEqual([]);
      expect((await ada.call('POST', `${at}/pulls/${three}/merge`, { Do: style })).status).toBe(200);
    },
  );

  it('says in its timelines and to webhooks what happened', async () => {
    const stack = await stacked(THREE);
    const config = { url: 'http://127.0.0.1:9/', content_type: 'json' };
    const hook = { type: 'gitea', config, active: true, events: ['push', 'pull_request'] };
    const { body } = await ada.call('POST', `${at}/hooks`, hook);
    expect((await merge(top(stack), { delete_branch_after_merge: true })).status).toBe(200);
    const told = async () =>
      await scene.sql.rows<{ number: number | null; base: string | null; merged: boolean | null }>`
        select (payload::jsonb->>'number')::int as number, payload::jsonb->'pull_request'->'base'->>'ref' as base,
          (payload::jsonb->'pull_request'->>'merged')::boolean as merged
        from :schema.hook_deliveries where hook_id = ${body.id} and payload::jsonb->>'action' = 'closed' order by number`;
    await expect
      .poll(told)
      .toEqual(stack.numbers.map((number) => ({ number, base: stack.base, merged: true })));
    await ada.call('DELETE', `${at}/hooks/${body.id}`);
    const timeline = async (number: number) =>
      (await ada.call('GET', `${at}/issues/${number}/timeline`)).items
        .filter(({ type }) => /target|delete|merge/.test(String(type)))
        .map((entry) => [entry['type'], entry['old_ref'], entry['new_ref']]);
    const kinds = async (number: number) => (await timeline(number)).map(([type]) => type);
    expect(await kinds(stack.numbers[0] as number)).not.toContain('change_target_branch');
    expect(await timeline(top(stack))).toContainEqual(['change_target_branch', `${prefix()}-2`, stack.base]);
    expect(await kinds(top(stack))).toContain('delete_branch');
  });

  it('of one is merged as ever', async () => {
    const stack = await stacked([{ one: '1\n' }]);
    expect((await merge(top(stack))).status).toBe(200);
    expect(await show(top(stack))).toMatchObject({ merged: true });
  });

  it('may end in a fork', async () => {
    const stack = await stacked([{ one: '1\n' }]);
    await cleo.call('POST', `${at}/forks`, {});
    await git(tree, 'fetch', '-q', 'origin');
    await git(tree, 'checkout', '-q', '-B', 'elsewhere', `origin/${prefix()}-1`);
    await commit(tree, { elsewhere: '1\n' }, 'from a fork');
    await git(tree, 'push', '-q', '-f', cleo.remote('cleo/work'), 'elsewhere');
    await git(tree, 'checkout', '-q', 'main');
    const opened = await cleo.call('POST', `${at}/pulls`, {
      head: 'cleo:elsewhere',
      base: `${prefix()}-1`,
      title: 'From a fork',
    });
    expect(opened.body['stack']).toMatchObject([
      { number: top(stack), base: stack.base, head: `${prefix()}-1` },
      { number: opened.body.number, head: 'elsewhere' },
    ]);
    expect((await merge(opened.body.number, { Do: 'squash' })).status).toBe(200);
    expect(await subjects(stack.base)).toEqual([
      `From a fork (#${opened.body.number})`,
      `Add ${prefix()}-1 (#${top(stack)})`,
    ]);
  });

  it('has no step at the default branch: a release from it is none of what goes into it', async () => {
    await git(tree, 'fetch', '-q', 'origin');
    await git(tree, 'push', '-q', 'origin', 'origin/main:refs/heads/stable');
    await pushBranch(tree, 'for-main', { 'for-main': '1\n' }, 'origin/main');
    const { body: feature } = await bob.call('POST', `${at}/pulls`, {
      head: 'for-main',
      base: 'main',
      title: 'f',
    });
    await ada.call('POST', `${at}/contents/released.txt`, {
      content: '',
      message: 'to be released',
      branch: 'main',
    });
    const { body: release } = await ada.call('POST', `${at}/pulls`, {
      head: 'main',
      base: 'stable',
      title: 'release',
    });
    expect(release.number).toBeGreaterThan(feature.number);
    expect((await show(feature.number)).stack).toEqual([]);
    expect((await show(release.number)).stack).toEqual([]);
    expect((await merge(feature.number)).status).toBe(200);
    expect(await show(feature.number)).toMatchObject({ merged: true, base: { ref: 'main' } });
    expect(await show(release.number)).toMatchObject({ merged: false, state: 'open' });
    await ada.call('PATCH', `${at}/pulls/${release.number}`, { state: 'closed' });
  });

  it('does not go past a protected branch', async () => {
    const stack = await stacked(THREE);
    await ada.call('POST', `${at}/branch_protections`, { rule_name: `${prefix()}-2`, enable_push: true });
    const before = await stored();
    const { status, body } = await merge(top(stack));
    expect([status, body.message]).toEqual([
      405,
      expect.stringContaining(`#${stack.numbers[1]}: ${prefix()}-2 is protected`),
    ]);
    expect(await stored()).toEqual(before);
    await ada.call('DELETE', `${at}/branch_protections/${prefix()}-2`);
    expect((await merge(top(stack))).status).toBe(200);
  });

  it('is shown by each of its members, drafts as such', async () => {
    const stack = await stacked(THREE);
    const [one, two, three] = stack.numbers as [number, number, number];
    await ada.call('PATCH', `${at}/pulls/${two}`, { title: 'WIP: two' });
    const entries = ['one', 'two', 'three'].map((_, index) => ({
      number: stack.numbers[index],
      title: index === 1 ? 'WIP: two' : `Add ${prefix()}-${index + 1}`,
      state: 'open',
      draft: index === 1,
      base: index === 0 ? stack.base : `${prefix()}-${index}`,
      head: `${prefix()}-${index + 1}`,
      sha: stack.heads[index],
    }));
    for (const number of [one, two, three]) expect((await show(number)).stack).toEqual(entries);
    await ada.call('PATCH', `${at}/pulls/${two}`, { state: 'closed' });
    expect([(await show(one)).stack, (await show(two)).stack, (await show(three)).stack]).toEqual([
      [],
      [],
      [],
    ]);
    expect((await ada.call('GET', `${at}/pulls?state=all`)).items[0]).not.toHaveProperty('stack');
  });

  it('takes approvals of those who may approve where it goes to', async () => {
    const stack = await stacked(THREE.slice(0, 2));
    const [one, two] = stack.numbers as [number, number];
    const approve = (who: Person, number: number) =>
      who.call('POST', `${at}/pulls/${number}/reviews`, { event: 'APPROVED' });
    await ada.call('POST', `${at}/branch_protections`, {
      rule_name: stack.base,
      required_approvals: 1,
      enable_approvals_whitelist: true,
      approvals_whitelist_username: ['cleo'],
    });
    for (const number of [one, two]) expect((await approve(ada, number)).status).toBe(200);
    expect((await approve(cleo, one)).status).toBe(200);
    await refused(() => merge(two), 405, `#${two}: Does not have enough approvals`);
    expect((await approve(cleo, two)).status).toBe(200);
    // A rejection where somebody's word did not count counts where it does.
    await ada.call('PATCH', `${at}/branch_protections/${stack.base}`, { block_on_rejected_reviews: true });
    const reviews = `${at}/pulls/${two}/reviews`;
    const { body } = await cleo.call('POST', reviews, { event: 'REQUEST_CHANGES', body: 'no' });
    await refused(() => merge(two), 405, `#${two}: Does not have enough approvals`);
    // What she said before does not come back with it, also where its row does not say so.
    expect((await ada.call('POST', `${reviews}/${body.id}/dismissals`, {})).status).toBe(200);
    await refused(() => merge(two), 405, `#${two}: Does not have enough approvals`);
    await scene.sql.rows`
      update :schema.reviews set dismissed_at = null, official = true where kind = 'APPROVED'`;
    await refused(() => merge(two), 405, `#${two}: Does not have enough approvals`);
    expect((await approve(cleo, two)).status).toBe(200);
    expect((await merge(two)).status).toBe(200);
  });

  it('does not wait for what it merges itself', async () => {
    const stack = await stacked(THREE.slice(0, 2));
    const [one, two] = stack.numbers as [number, number];
    const depends = (number: number, on: number) =>
      ada.call('POST', `${at}/issues/${number}/dependencies`, { index: on, owner: 'ada', repo: 'work' });
    const other = await ada.call('POST', `${at}/issues`, { title: 'first this' });
    expect((await depends(two, one)).status).toBe(201);
    expect((await depends(two, other.body.number)).status).toBe(201);
    const waits = `#${two}: cannot merge this pull request because it still has open dependencies`;
    await refused(() => merge(two), 405, waits);
    await ada.call('PATCH', `${at}/issues/${other.body.number}`, { state: 'closed' });
    expect((await merge(two)).status).toBe(200);
  });
});

describe('two at once', () => {
  it('the same stack many times is merged once', async () => {
    const stack = await stacked(THREE);
    const answers = await Promise.all(Array.from({ length: 6 }, () => merge(top(stack))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 405, 405, 405, 405, 405]);
    const others = answers.filter(({ status }) => status === 405).map(({ body }) => body.message);
    expect(new Set(others)).toEqual(new Set(['The PR is already merged']));
    expect(await subjects(stack.base, '--first-parent')).toHaveLength(3);
  });

  it('what was merged alone meanwhile does not leave the others on a branch that nobody meant', async () => {
    const stack = await stacked(THREE);
    await scene.sql.script(`
      create function forge.slow() returns trigger language plpgsql as 'begin perform pg_sleep(1); return new; end';
      create trigger slow before insert on forge.merges for each row execute function forge.slow()`);
    const alone = merge(stack.numbers[0] as number);
    const sleeps = () =>
      scene.sql
        .rows`select pid from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
    await expect.poll(sleeps).toHaveLength(1);
    const all = merge(top(stack));
    const answers = await Promise.all([alone, all]);
    await scene.sql.script('drop function forge.slow() cascade');
    expect(answers.map(({ status }) => status)).toEqual([200, 409]);
    expect(answers[1]?.body.message).toBe('the stack was changed meanwhile, please look at it again');
    const merged = (await Promise.all(stack.numbers.map(show))).map((pull) => pull['merged']);
    expect(merged).toEqual([true, false, false]);
    expect(await git(bare, 'rev-parse', `${prefix()}-1`)).toBe(stack.heads[0]);
  });

  it('what got another base meanwhile is not merged into a branch that nobody meant', async () => {
    const [stack, other] = [await stacked(THREE), await stacked([{ one: '1\n' }])];
    const before = await git(bare, 'rev-parse', stack.base, other.base);
    await scene.sql.script(`
      create function forge.slow() returns trigger language plpgsql as 'begin perform pg_sleep(3); return new; end';
      create trigger slow before insert on forge.merges for each row execute function forge.slow()`);
    const first = merge(top(other));
    const sleeps = () =>
      scene.sql
        .rows`select pid from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
    await expect.poll(sleeps).toHaveLength(1);
    // Both wait for the first, in this order.
    const edit = ada.call('PATCH', `${at}/pulls/${stack.numbers[0]}`, { base: 'main' });
    await sleep(1_000);
    const all = merge(top(stack));
    const answers = await Promise.all([first, edit, all]);
    await scene.sql.script('drop function forge.slow() cascade');
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 409]);
    expect(await git(bare, 'rev-parse', stack.base)).toBe(before.split('\n')[0]);
    expect((await Promise.all(stack.numbers.map(show))).map((pull) => pull['merged'])).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('pushes to the branch and to the heads lose no commit', async () => {
    for (let round = 0; round < 3; round++) {
      const stack = await stacked(THREE);
      await git(tree, 'fetch', '-q', 'origin');
      const pushed = await Promise.all(
        [stack.base, `${prefix()}-1`, `${prefix()}-2`, `${prefix()}-3`].map(async (branch, index) => {
          const parent = await git(tree, 'rev-parse', `origin/${branch}`);
          const files = await git(tree, 'rev-parse', `${parent}^{tree}`);
          const sha = await git(tree, 'commit-tree', '-p', parent, '-m', `late ${index}`, files);
          return { branch, sha };
        }),
      );
      const [answer, ...arrived] = await Promise.all([
        merge(top(stack)),
        ...pushed.map(({ branch, sha }) =>
          git(tree, 'push', '-q', 'origin', `${sha}:refs/heads/${branch}`).then(
            () => true,
            () => false,
          ),
        ),
      ]);
      expect([200, 409]).toContain(answer.status);
      const merged = (await Promise.all(stack.numbers.map(show))).map((pull) => pull['merged']);
      expect(merged).toEqual(stack.numbers.map(() => answer.status === 200));
      for (const [index, { branch, sha }] of pushed.entries())
        if (arrived[index]) await git(bare, 'merge-base', '--is-ancestor', sha, branch);
      // A merge that was refused lost to the push.
      if (answer.status === 409) expect(arrived[0]).toBe(true);
      expect(await scene.sql.rows`select * from :schema.merges`).toEqual([]);
    }
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });
});
