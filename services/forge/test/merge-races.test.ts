import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';

// Merges of every style and updates, in races with themselves, with each other and with pushes.

const scene = useForge();
let ada: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  await recordHappenings(scene);
  const styles = { allow_fast_forward_only_merge: true, allow_manual_merge: true };
  await ada.call('PATCH', '/repos/ada/work', { ...styles, allow_rebase_update: true });
});

/** How many commits the base gets by a pull request of one, whose base has not moved. */
const COMMITS = {
  merge: 2,
  squash: 1,
  rebase: 1,
  'rebase-merge': 2,
  'fast-forward-only': 1,
  'manually-merged': 0,
};
type Style = keyof typeof COMMITS;
const STYLES = Object.keys(COMMITS) as Style[];
const path = '/repos/ada/work/pulls';
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const statuses = (replies: { status: number }[]) => replies.map(({ status }) => status).sort();
const tip = (branch = 'main') => git(bare, 'rev-parse', branch);
const filesOf = async (branch: string) => (await git(bare, 'ls-tree', '--name-only', branch)).split('\n');
const isMerged = async (number: number) => (await ada.call('GET', `${path}/${number}`)).body['merged'];

async function openPull(branch: string, from = 'origin/main'): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [branch]: '1' }, from);
  return (await ada.call('POST', path, { head: branch, base: 'main', title: branch })).body.number;
}

/** Merges; by hand it was merged where the base was before. */
const merge = (number: number, style: Style, base: string) =>
  ada.call('POST', `${path}/${number}/merge`, { Do: style, MergeCommitID: base });

const push = (refspec: string): Promise<'pushed' | 'rejected'> =>
  git(tree, 'push', '-q', 'origin', refspec).then(
    () => 'pushed',
    () => 'rejected',
  );

async function checkWhole(): Promise<void> {
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  expect(await scene.sql.rows`select pull_id from :schema.merges`).toEqual([]);
}

/** How often the pull request was announced to be closed, and its base to have moved. */
async function told(number: number, after: string) {
  return await scene.sql.row`
    select count(*) filter (where payload->>'action' = 'closed' and payload->>'issueId' = i.id::text)::int as closed,
      count(*) filter (where payload->>'ref' = 'refs/heads/main' and payload->>'after' = ${after})::int as moved
    from :schema.told, :schema.issues i where i.is_pull and i.number = ${number} group by i.id`;
}

describe.each(STYLES)('%s', (style) => {
  it('merges once, asked ten times at once', async () => {
    const number = await openPull(`ten-${style}`);
    const base = await tip();
    const replies = await times(10, () => merge(number, style, base));
    expect(statuses(replies)).toEqual([200, ...Array(9).fill(405)]);
    const after = await tip();
    expect(Number(await git(bare, 'rev-list', '--count', `${base}..${after}`))).toBe(COMMITS[style]);
    if (style !== 'manually-merged') expect(await told(number, after)).toEqual({ closed: 1, moved: 1 });
    await checkWhole();
  });

  it('merges different pull requests at once, each whole or not at all', async () => {
    const names = ['p', 'q', 'r', 's'].map((name) => `${name}-${style}`);
    const numbers: number[] = [];
    for (const name of names) numbers.push(await openPull(name));
    const base = await tip();
    const replies = await Promise.all(numbers.map((number) => merge(number, style, base)));
    // Only one of them can stand right on the base.
    const expected = style === 'fast-forward-only' ? [200, 409, 409, 409] : [200, 200, 200, 200];
    expect(statuses(replies)).toEqual(expected);
    const files = await filesOf('main');
    for (const [index, name] of names.entries()) {
      const merged = replies[index]?.status === 200;
      expect(await isMerged(numbers[index] as number)).toBe(merged);
      expect(files.includes(name)).toBe(merged && style !== 'manually-merged');
    }
    await checkWhole();
  });

  it('and a push at once: neither is lost, and whoever is late is told', async () => {
    for (let round = 0; round < 3; round++) {
      const name = `race-${style}-${round}`;
      const number = await openPull(name);
      const base = await tip();
      await git(tree, 'checkout', '-q', '-B', 'pusher', 'origin/main');
      const pushed = await commit(tree, { [`push-${name}`]: '1' }, `push ${name}`);
      const [{ status }, outcome] = await Promise.all([merge(number, style, base), push('pusher:main')]);
      expect([200, 409]).toContain(status);
      const files = await filesOf('main');
      expect(files.includes(name)).toBe(status === 200 && style !== 'manually-merged');
      expect(files.includes(`push-${name}`)).toBe(outcome === 'pushed');
      expect(await isMerged(number)).toBe(status === 200);
      if (outcome === 'pushed')
        expect(await git(bare, 'branch', '--contains', pushed, 'main')).toContain('main');
    }
    await checkWhole();
  });
});

describe.each(['merge', 'rebase'])('an update by %s', (style) => {
  const update = (number: number) => ada.call('POST', `${path}/${number}/update?style=${style}`);

  it('happens once, asked ten times at once', async () => {
    const branch = `update-${style}`;
    const number = await openPull(branch, 'origin/main~1');
    const base = await tip();
    const replies = await times(10, () => update(number));
    expect(statuses(replies)).toEqual(Array(10).fill(200));
    expect(await git(bare, 'rev-list', '--count', `${base}..${branch}`)).toBe(style === 'merge' ? '2' : '1');
    expect((await ada.call('GET', `${path}/${number}`)).body.head.sha).toBe(await tip(branch));
    await checkWhole();
  });

  it('and a push at once: no commit is lost', async () => {
    for (let round = 0; round < 3; round++) {
      const branch = `pushed-${style}-${round}`;
      const number = await openPull(branch, 'origin/main~1');
      await git(tree, 'checkout', '-q', '-B', 'pusher', branch);
      await commit(tree, { [`more-${branch}`]: '1' }, 'more');
      const [{ status }, outcome] = await Promise.all([update(number), push(`pusher:${branch}`)]);
      expect([200, 409]).toContain(status);
      const files = await filesOf(branch);
      expect(files).toContain(branch);
      expect(files.includes(`more-${branch}`)).toBe(outcome === 'pushed');
      const behind = await git(bare, 'rev-list', '--count', `${branch}..main`);
      expect(behind === '0').toBe(status === 200);
      await expect
        .poll(async () => (await ada.call('GET', `${path}/${number}`)).body.head.sha)
        .toBe(await tip(branch));
    }
    await checkWhole();
  });
});
