import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, lines, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// `protected_file_patterns`: what the base branch gets decides, whatever the head was made from.

const scene = useForge();
let ada: Person;
let bob: Person;
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  for (const person of [ada, bob]) await person.call('GET', '/user');
});

const KEEP = 's/**';
const REFUSED = 'Changed protected files';

/** A repository with `a/x` and `s/key`, before anything is protected. */
async function kept(name: string) {
  const tree = await pushedRepository(ada, name, scene.folder);
  const bare = await scene.bare('ada', name);
  const at = `/repos/ada/${name}`;
  await commit(tree, { 'a/x': lines(1, 20), 's/key': 'A\n' }, 'files');
  await git(tree, 'push', '-q', 'origin', 'main');
  return {
    at,
    tree,
    bare,
    protect: async (options: object = {}) => {
      const protection = { rule_name: 'main', enable_push: true, protected_file_patterns: KEEP, ...options };
      expect((await ada.call('POST', `${at}/branch_protections`, protection)).status).toBe(201);
    },
    open: async (head: string, base = 'main', who = ada): Promise<number> => {
      const made = await who.call('POST', `${at}/pulls`, { head, base, title: head });
      expect(made.status).toBe(201);
      return made.body.number;
    },
    merge: (number: number, body: object = {}) => ada.call('POST', `${at}/pulls/${number}/merge`, body),
    stored: () =>
      Promise.all([
        git(bare, 'for-each-ref'),
        rowsOf(scene, 'issues', 'pulls', 'comments', 'merges', 'merge_queue', 'scheduled_merges'),
      ]),
    objects: () => git(bare, 'count-objects', '-v'),
    show: (path: string) => git(bare, 'show', `main:${path}`),
  };
}

type Kept = Awaited<ReturnType<typeof kept>>;

/** It is refused for the file it would change, and nothing changes. */
async function refused(work: Kept, number: number, path: string, body: object = {}): Promise<void> {
  const before = await work.stored();
  const answer = await work.merge(number, body);
  const message = expect.stringMatching(new RegExp(`^(#\\d+: )?${REFUSED}$`));
  expect(answer).toMatchObject({ status: 405, body: { message, protected_files: [path] } });
  expect(await work.stored()).toEqual(before);
}

/** The base has `a/x` as `s/moved` since, with whatever else is to be there. */
async function move({ tree }: Kept): Promise<void> {
  await git(tree, 'mv', 'a/x', 's/moved');
  await git(tree, 'commit', '-q', '-m', 'move');
  await git(tree, 'push', '-q', 'origin', 'main');
}

const EDITED = { 'a/x': `${lines(1, 9)}changed\n${lines(11, 20)}` };

it.each(['merge', 'squash', 'rebase', 'rebase-merge'])(
  'a file that the base moved to where it is kept is not changed from a fork of before, by %s',
  async (style) => {
    const work = await kept(`moved-${style}`);
    const made = await bob.call('POST', `${work.at}/forks`, { name: `fork-${style}` });
    expect(made.status).toBe(202);
    await move(work);
    await work.protect();
    const remote = bob.remote(`bob/fork-${style}`);
    await git(work.tree, 'checkout', '-q', '-b', 'topic', 'main~1');
    await commit(work.tree, EDITED, 'edit');
    await git(work.tree, 'push', '-q', remote, 'topic');
    const number = await work.open('bob:topic', 'main', bob);
    const before = await work.objects();
    await refused(work, number, 's/moved', { Do: style });
    expect(await work.objects()).toBe(before);
    // As who may says; and what is there is what was refused.
    expect((await work.merge(number, { Do: style, force_merge: true })).status).toBe(200);
    expect(await work.show('s/moved')).toContain('changed');
  },
);

it('what two merge bases disagree about is looked at as the base has it', async () => {
  const work = await kept('crossed');
  const { tree } = work;
  await git(tree, 'branch', 'right');
  await git(tree, 'checkout', '-q', '-b', 'left');
  await commit(tree, { 's/key': 'B\n' }, 'left');
  await git(tree, 'checkout', '-q', 'right');
  await commit(tree, { 'right.txt': 'right' }, 'right');
  await git(tree, 'checkout', '-q', 'main');
  await git(tree, 'merge', '-q', '--ff-only', 'left');
  await git(tree, 'merge', '-q', '--no-ff', '-m', 'both', 'right');
  await git(tree, 'push', '-q', 'origin', 'main');
  const crossing = async (name: string, one: string, other: string) => {
    await git(tree, 'checkout', '-q', '-b', name, one);
    await git(tree, 'merge', '-q', '--no-commit', '--no-ff', other);
    await writeFile(join(tree, 's/key'), 'A\n');
    await git(tree, 'add', '.');
    await git(tree, 'commit', '-q', '-m', 'both, otherwise');
    await git(tree, 'push', '-q', 'origin', name);
    return await work.open(name);
  };
  const numbers = [await crossing('one', 'left', 'right'), await crossing('two', 'right', 'left')];
  await work.protect();
  for (const number of numbers)
    for (const style of ['merge', 'squash']) await refused(work, number, 's/key', { Do: style });
  expect(await work.show('s/key')).toBe('B');
});

it.each(['rebase', 'rebase-merge'])(
  'a change that only a merge within the head takes back is one by %s, which leaves that merge out',
  async (style) => {
    const work = await kept(`taken-back-${style}`);
    const { tree } = work;
    await git(tree, 'checkout', '-q', '-b', 'side');
    await commit(tree, { 'side.txt': 'side' }, 'side');
    await git(tree, 'checkout', '-q', '-b', 'topic', 'main');
    await commit(tree, { 's/key': 'B\n' }, 'change');
    await git(tree, 'merge', '-q', '--no-commit', '--no-ff', 'side');
    await writeFile(join(tree, 's/key'), 'A\n');
    await git(tree, 'add', '.');
    await git(tree, 'commit', '-q', '-m', 'take back');
    await git(tree, 'push', '-q', 'origin', 'topic');
    await work.protect();
    const number = await work.open('topic');
    await refused(work, number, 's/key', { Do: style });
    expect((await work.merge(number, { Do: 'squash' })).status).toBe(200);
    expect(await work.show('s/key')).toBe('A');
  },
);

it.each(['merge', 'squash', 'rebase'])(
  'nor by a stack, of which one only sees the one below, by %s',
  async (style) => {
    const work = await kept(`stacked-${style}`);
    const { tree } = work;
    await pushBranch(tree, 'lower', { 'lower.txt': 'lower' });
    await pushBranch(tree, 'upper', EDITED, 'lower');
    await move(work);
    await work.protect();
    const [lower, upper] = [await work.open('lower'), await work.open('upper', 'lower')];
    await refused(work, upper, 's/moved', { Do: style, merge_stack: true });
    expect((await work.merge(lower, { Do: style })).status).toBe(200);
  },
);

describe('a merge queue', () => {
  const checked = { enable_merge_queue: true, enable_status_check: true, status_check_contexts: ['ci'] };

  it('does not take what it would not merge', async () => {
    const work = await kept('not-queued');
    await pushBranch(work.tree, 'topic', EDITED);
    await move(work);
    await work.protect({ enable_merge_queue: true });
    await refused(work, await work.open('topic'), 's/moved');
  });

  it('lets go what changes a file once it is merged onto what came in between', async () => {
    const work = await kept('queued');
    await pushBranch(work.tree, 'topic', EDITED);
    await git(work.tree, 'checkout', '-q', '-b', 'mover', 'main');
    await git(work.tree, 'mv', 'a/x', 's/moved');
    await git(work.tree, 'commit', '-q', '-m', 'move');
    await git(work.tree, 'push', '-q', 'origin', 'mover');
    await work.protect(checked);
    const [topic, mover] = [await work.open('topic'), await work.open('mover')];
    expect((await work.merge(topic)).status).toBe(201);
    const made = () =>
      git(work.bare, 'rev-parse', '-q', '--verify', `refs/queue/main/${topic}`).catch(() => '');
    await expect.poll(made).not.toBe('');
    expect((await work.merge(mover, { force_merge: true })).status).toBe(200);
    const main = await git(work.bare, 'rev-parse', 'main');
    const told = async () =>
      (await ada.call('GET', `${work.at}/issues/${topic}/timeline`)).items.map(({ body }) => body);
    await expect.poll(told).toContain(`Removed from the merge queue of main: ${REFUSED}`);
    expect([await made(), await git(work.bare, 'rev-parse', 'main')]).toEqual(['', main]);
    expect((await ada.call('GET', `${work.at}/pulls/${topic}/merge`)).status).toBe(404);
  });

  it('nor lands what was made before the file was kept', async () => {
    const work = await kept('made-before');
    await pushBranch(work.tree, 'topic', EDITED);
    await move(work);
    await work.protect({ ...checked, protected_file_patterns: '' });
    const topic = await work.open('topic');
    expect((await work.merge(topic)).status).toBe(201);
    const made = () =>
      git(work.bare, 'rev-parse', '-q', '--verify', `refs/queue/main/${topic}`).catch(() => '');
    await expect.poll(made).not.toBe('');
    const main = await git(work.bare, 'rev-parse', 'main');
    const now = { protected_file_patterns: KEEP };
    expect((await ada.call('PATCH', `${work.at}/branch_protections/main`, now)).status).toBe(200);
    const green = { state: 'success', context: 'ci' };
    expect((await ada.call('POST', `${work.at}/statuses/${await made()}`, green)).status).toBe(201);
    const told = async () =>
      (await ada.call('GET', `${work.at}/issues/${topic}/timeline`)).items.map(({ body }) => body);
    await expect.poll(told).toContain(`Removed from the merge queue of main: ${REFUSED}`);
    expect([await made(), await git(work.bare, 'rev-parse', 'main')]).toEqual(['', main]);
  });
});

it('nothing is refused for a file that is kept elsewhere, or that the base had changed itself', async () => {
  const work = await kept('elsewhere');
  await pushBranch(work.tree, 'topic', { 'other.txt': 'other', ...EDITED });
  await commit(work.tree, { 's/key': 'B\n' }, 'base changes');
  await git(work.tree, 'push', '-q', 'origin', 'main');
  await work.protect();
  expect((await work.merge(await work.open('topic'))).status).toBe(200);
  expect([await work.show('s/key'), await work.show('other.txt')]).toEqual(['B', 'other']);
});
