import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let tree: string;
let bare: string;
const at = '/repos/ada/work';
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});

/** A pull request from a branch that starts at its base. */
async function pull(head: string, base: string, files: Record<string, string>): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, head, files, `origin/${base}`);
  return (await ada.call('POST', `${at}/pulls`, { head, base, title: head })).body.number;
}

const merge = async (number: number, style: string) =>
  (await ada.call('POST', `${at}/pulls/${number}/merge`, { Do: style, delete_branch_after_merge: true }))
    .status;
const commitsOf = async (number: number) =>
  (await ada.call('GET', `${at}/pulls/${number}/commits`)).items.map(({ sha }) => sha as string);

it.each(['squash', 'rebase', 'merge'])(
  'a pull request on another one brings only its own commits when that one is merged by %s',
  async (style) => {
    await pushBranch(tree, `long-${style}`, { [`long-${style}`]: '1' }, 'origin/main');
    const lower = await pull(`lower-${style}`, `long-${style}`, { [`lower-${style}`]: '1' });
    const upper = await pull(`upper-${style}`, `lower-${style}`, { [`upper-${style}`]: '1' });
    // Somebody was faster, so that a rebase has something to do.
    await git(tree, 'checkout', '-q', `long-${style}`);
    await commit(tree, { [`faster-${style}`]: '1' }, 'faster');
    await git(tree, 'push', '-q', 'origin', `long-${style}`);
    expect(await merge(lower, style)).toBe(200);
    await expect.poll(async () => (await commitsOf(upper)).length).toBe(1);
    const { body } = await ada.call('GET', `${at}/pulls/${upper}`);
    expect(body).toMatchObject({ state: 'open', base: { ref: `long-${style}` }, mergeable: true });
    expect(await commitsOf(upper)).toEqual([body.head.sha]);
    expect(await git(bare, 'rev-parse', `refs/pull/${upper}/head`)).toBe(body.head.sha);
    expect(await git(bare, 'diff', '--name-only', `${body.merge_base}..${body.head.sha}`)).toBe(
      `upper-${style}`,
    );
    await expect.poll(() => scene.sql.rows`select * from :schema.pushes`).toEqual([]);
    expect(await merge(upper, style)).toBe(200);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  },
);

it('what stands on one that was rebased is rebased, too, and so up to the top', async () => {
  const shown = async (number: number) => (await ada.call('GET', `${at}/pulls/${number}`)).body;
  const lowest = await pull('first', 'main', { first: '1' });
  const numbers = [
    await pull('second', 'first', { second: '1' }),
    await pull('third', 'second', { third: '1' }),
    await pull('fourth', 'third', { fourth: '1' }),
  ];
  // On the third as well, and gone its own way: it does not have what the third had at the end.
  await pushBranch(tree, 'aside', { aside: '1' }, 'origin/main');
  const aside = (await ada.call('POST', `${at}/pulls`, { head: 'aside', base: 'third', title: 'aside' }))
    .body;
  expect(await merge(lowest, 'squash')).toBe(200);
  const counts = () => Promise.all(numbers.map(async (number) => (await commitsOf(number)).length));
  await expect.poll(counts).toEqual([1, 1, 1]);
  await settled();
  const tips = await Promise.all(numbers.map(async (number) => (await shown(number)).head.sha));
  expect(await git(bare, 'log', '--format=%H', '-4', 'fourth')).toBe(
    [...tips.reverse(), await git(bare, 'rev-parse', 'main')].join('\n'),
  );
  expect((await shown(aside.number)).head.sha).toBe(aside.head.sha);
  for (const number of numbers) expect((await shown(number))['mergeable']).toBe(true);
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
});

it('what stands on a head from before that was amended and merged brings only its own', async () => {
  const lower = await pull('amended', 'main', { amended: '1' });
  const upper = await pull('on-amended', 'amended', { 'on-amended': '1' });
  for (const text of ['2', '3']) await pushBranch(tree, 'amended', { amended: text }, 'origin/main');
  await settled();
  expect(await commitsOf(upper)).toHaveLength(2);
  expect(await merge(lower, 'squash')).toBe(200);
  await expect.poll(async () => (await commitsOf(upper)).length).toBe(1);
  await settled();
  expect(await git(bare, 'show', 'on-amended:amended')).toBe('3');
});

it('where its commits do not fit it gets the other base only, and says why', async () => {
  const lower = await pull('lower', 'main', { shared: '1\n' });
  const upper = await pull('upper', 'lower', { shared: '2\n' });
  await git(tree, 'checkout', '-q', 'lower');
  await commit(tree, { shared: '3\n' }, 'something else');
  await git(tree, 'push', '-q', 'origin', 'lower');
  await git(tree, 'checkout', '-q', 'upper');
  await git(tree, 'merge', '-q', '-s', 'ours', '-m', 'mine', 'lower');
  await commit(tree, { shared: '4\n' }, 'on it');
  await git(tree, 'push', '-q', 'origin', 'upper');
  const before = await git(bare, 'rev-parse', 'upper');
  await git(tree, 'checkout', '-q', 'main');
  expect(await merge(lower, 'squash')).toBe(200);
  const { body } = await ada.call('GET', `${at}/pulls/${upper}`);
  expect([body['state'], body.head.sha, (body.base as unknown as { ref: string }).ref]).toEqual([
    'open',
    before,
    'main',
  ]);
  const comments = async () =>
    (await ada.call('GET', `${at}/issues/${upper}/comments`)).items.map((one) => one['body']);
  await expect.poll(comments).toEqual(['Not rebased onto main: it conflicts in one file']);
});

it.each([
  ['changes what its commits do not', { resolved: '1\n' }, false],
  ['changes nothing', {}, true],
])(
  'what has a merge of its own that %s: rebased only if nothing is lost',
  async (name, change, isRebased) => {
    const end = name.replaceAll(' ', '-');
    const [below, above, side] = [`below-${end}`, `above-${end}`, `side-${end}`];
    const lower = await pull(below, 'main', { [below]: '1\n' });
    const upper = await pull(above, below, { [above]: '1\n' });
    await pushBranch(tree, side, { [side]: '1\n' }, `origin/${below}`);
    await git(tree, 'checkout', '-q', above);
    await git(tree, 'merge', '-q', '--no-ff', '--no-commit', side);
    await commit(tree, change, 'together');
    await git(tree, 'push', '-q', 'origin', above);
    await git(tree, 'checkout', '-q', 'main');
    const before = await git(bare, 'rev-parse', above);
    expect(await merge(lower, 'squash')).toBe(200);
    const comments = async () =>
      (await ada.call('GET', `${at}/issues/${upper}/comments`)).items.map((one) => one['body']);
    const head = () => git(bare, 'rev-parse', above);
    if (isRebased) await expect.poll(head).not.toBe(before);
    const reason = 'Not rebased onto main: its commits one by one do not give all that it changes';
    await expect.poll(comments).toEqual(isRebased ? [] : [reason]);
    await settled();
    if (!isRebased) expect(await head()).toBe(before);
    // Whatever became of it brings the same.
    const files = await git(bare, 'ls-tree', '--name-only', above);
    expect(files.split('\n')).toEqual(expect.arrayContaining([below, above, side, ...Object.keys(change)]));
    expect(await git(bare, 'rev-list', '--count', '--merges', `main..${above}`)).toBe(isRebased ? '0' : '1');
  },
);

it('whoever may not write has no branch of others rebased, whatever base or ref he writes', async () => {
  const eve = scene.person('eve');
  await eve.call('GET', '/user');
  const lower = await pull('below', 'main', { below: '1' });
  const upper = await pull('above', 'below', { above: '1' });
  await git(tree, 'checkout', '-q', '-B', 'main', 'origin/main');
  await commit(tree, { faster: 'again' }, 'faster again');
  await git(tree, 'push', '-q', 'origin', 'main');
  expect((await ada.call('POST', `${at}/pulls/${lower}/merge`, { Do: 'squash' })).status).toBe(200);
  const hers = await eve.call('POST', `${at}/pulls`, { head: 'above', base: 'main', title: 'mine' });
  expect(hers.status).toBe(201);
  const before = await git(bare, 'for-each-ref');
  await eve.call('PATCH', `${at}/issues/${hers.body.number}`, { ref: 'below' });
  await eve.call('PATCH', `${at}/issues/${hers.body.number}`, { ref: '' });
  await expect.poll(() => scene.sql.rows`select * from :schema.outbox`).toEqual([]);
  expect(await git(bare, 'for-each-ref')).toBe(before);
  expect((await ada.call('GET', `${at}/pulls/${upper}`)).body.state).toBe('open');
});

/** Until nothing is to be told or followed any more. */
async function settled(): Promise<void> {
  await expect.poll(() => scene.sql.rows`select * from :schema.outbox`).toEqual([]);
  await expect.poll(() => scene.sql.rows`select * from :schema.pushes`).toEqual([]);
}
const baseOf = async (number: number) => {
  const { text } = await ada.call('GET', `${at}/pulls/${number}`);
  return (JSON.parse(text) as { base: { ref: string } }).base.ref;
};

it('the default branch is rewritten for no pull request that brings it somewhere', async () => {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, 'release', { 'only-release': '1' }, 'origin/main');
  const feature = await pull('feature', 'main', { feature: '1' });
  expect((await ada.call('POST', `${at}/pulls/${feature}/merge`, {})).status).toBe(200);
  const picked = { head: 'feature', base: 'release', title: 'to the release, too' };
  const { number } = (await ada.call('POST', `${at}/pulls`, picked)).body;
  await git(tree, 'fetch', '-q', 'origin');
  const tip = await pushBranch(tree, 'main', { 'only-main': '1' }, 'origin/main');
  const wish = { head: 'main', base: 'feature', title: 'what is new on main' };
  const upward = (await ada.call('POST', `${at}/pulls`, wish)).body.number;
  expect(await merge(number, 'squash')).toBe(200);
  expect(await baseOf(upward)).toBe('release');
  await settled();
  expect(await git(bare, 'rev-parse', 'main')).toBe(tip);
});

it('where a branch of the same name was merged long before says nothing of where a pull request goes', async () => {
  await git(tree, 'push', '-q', 'origin', 'origin/main:refs/heads/old-base');
  const old = await pull('topic', 'old-base', { topic: '1' });
  expect(await merge(old, 'merge')).toBe(200);
  await pushBranch(tree, 'topic', { anew: '1' }, 'origin/main');
  const child = await pull('child', 'topic', { child: '1' });
  expect((await ada.call('DELETE', `${at}/branches/topic`)).status).toBe(204);
  await settled();
  expect(await baseOf(child)).toBe('main');
});
