import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { lines, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
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
  await ada.call('PUT', '/repos/ada/work/collaborators/bob', { permission: 'write' });
  await recordHappenings(scene);
});

const path = '/repos/ada/work/pulls';
const merge = (number: number, body: object, who = ada) => who.call('POST', `${path}/${number}/merge`, body);
const tip = (ref: string) => git(bare, 'rev-parse', ref);
const log = (range: string, format: string) => git(bare, 'log', '--reverse', `--format=${format}`, range);
const stored = () =>
  Promise.all([
    git(bare, 'for-each-ref'),
    git(bare, 'count-objects', '-v'),
    rowsOf(scene, 'issues', 'pulls', 'merges', 'told'),
  ]);

/** A pull request of two commits, and a base that has moved on unless said otherwise. */
async function pull(branch: string, { moved = true, who = ada } = {}): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [`${branch}-1`]: '1' }, 'origin/main');
  await pushBranch(tree, branch, { [`${branch}-2`]: '2' }, branch);
  if (moved) await pushBranch(tree, 'main', { [`main-of-${branch}`]: '1' }, 'origin/main');
  const { body } = await who.call('POST', path, { head: branch, base: 'main', title: `About ${branch}` });
  return body.number;
}

/** What every style ends with. */
async function expectMerged(number: number, commit: string): Promise<void> {
  expect(await tip('main')).toBe(commit);
  const { body } = await ada.call('GET', `${path}/${number}`);
  expect(body).toMatchObject({ state: 'closed', merged: true, merge_commit_sha: commit });
  expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  expect(await scene.sql.rows`select * from :schema.merges`).toEqual([]);
}

describe('squash', () => {
  it('makes one commit of its poster, committed by whoever merges', async () => {
    const number = await pull('squashed', { who: bob });
    const base = await tip('main');
    expect((await merge(number, { Do: 'squash' })).status).toBe(200);
    const made = await tip('main');
    await expectMerged(number, made);
    expect(await git(bare, 'log', '-1', '--format=%P|%an|%cn|%B', made)).toBe(
      `${base}|bob|Ada Lovelace|About squashed (#${number})\n\nCo-authored-by: bob <bob@example.test>\nCo-committed-by: Ada Lovelace <ada@example.test>`,
    );
    expect(await git(bare, 'diff', '--name-only', base, made)).toBe('squashed-1\nsquashed-2');
  });

  it('takes the words of the caller', async () => {
    const number = await pull('squashed-words');
    await merge(number, { Do: 'squash', MergeTitleField: 'Mine', MergeMessageField: 'and why' });
    expect(await git(bare, 'log', '-1', '--format=%B', 'main')).toBe('Mine\n\nand why');
  });
});

describe('rebase', () => {
  it('puts each commit on the base, with its author and message', async () => {
    const number = await pull('rebased');
    const [base, head] = [await tip('main'), await tip('rebased')];
    const words = await log(`${base}..${head}`, '%an|%ae|%ad|%B');
    expect((await merge(number, { Do: 'rebase', MergeTitleField: 'is not used' })).status).toBe(200);
    await expectMerged(number, await tip('main'));
    expect(await log(`${base}..main`, '%an|%ae|%ad|%B')).toBe(words);
    expect(await log(`${base}..main`, '%cn')).toBe('Ada Lovelace\nAda Lovelace');
    expect(await git(bare, 'rev-list', '--merges', `${base}..main`)).toBe('');
    expect((await ada.call('GET', `${path}/${number}`)).body.head.sha).toBe(head);
  });

  it('leaves commits alone that are on the base already', async () => {
    const number = await pull('straight', { moved: false });
    const head = await tip('straight');
    await merge(number, { Do: 'rebase' });
    await expectMerged(number, head);
  });

  it('that conflicts where a merge would not is 409 and names commit and files; nothing changes', async () => {
    await git(tree, 'fetch', '-q', 'origin');
    // Changed and changed back: the end fits, the way there does not.
    await pushBranch(
      tree,
      'detour',
      { 'lines.txt': lines(1, 20).replace('line 5', 'detour') },
      'origin/main',
    );
    const culprit = await git(tree, 'rev-parse', 'detour');
    await pushBranch(tree, 'detour', { 'lines.txt': lines(1, 20), 'detour.txt': '1' }, 'detour');
    await pushBranch(tree, 'main', { 'lines.txt': lines(1, 20).replace('line 5', 'main') }, 'origin/main');
    const { body } = await ada.call('POST', path, { head: 'detour', base: 'main', title: 'detour' });
    expect((await ada.call('GET', `${path}/${body.number}`)).body.mergeable).toBe(true);
    const before = await stored();
    for (const Do of ['rebase', 'rebase-merge']) {
      const refused = await merge(body.number, { Do });
      expect(refused.status).toBe(409);
      expect(refused.body).toMatchObject({ Style: Do, CommitSHA: culprit, conflicted_files: ['lines.txt'] });
    }
    expect(await stored()).toEqual(before);
    expect((await merge(body.number, { Do: 'squash' })).status).toBe(200);
  });
});

it('rebase-merge puts a merge commit on top of the rebased commits', async () => {
  const number = await pull('rebase-merged');
  const base = await tip('main');
  expect((await merge(number, { Do: 'rebase-merge' })).status).toBe(200);
  const made = await tip('main');
  await expectMerged(number, made);
  const [first, second] = (await git(bare, 'log', '-1', '--format=%P', made)).split(' ');
  expect(first).toBe(base);
  expect(await git(bare, 'rev-list', '--count', `${base}..${second}`)).toBe('2');
  expect(await git(bare, 'log', '-1', '--format=%s', made)).toBe(
    `Merge pull request 'About rebase-merged' (#${number}) from rebase-merged into main`,
  );
});

describe('fast-forward-only', () => {
  it('moves the base to the head and makes no commit', async () => {
    const number = await pull('forward', { moved: false });
    const head = await tip('forward');
    expect((await merge(number, { Do: 'fast-forward-only' })).status).toBe(200);
    await expectMerged(number, head);
  });

  it('is 409 when the base has moved on; nothing changes', async () => {
    const number = await pull('diverged');
    const before = await stored();
    const refused = await merge(number, { Do: 'fast-forward-only' });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('behind the base branch');
    expect(await stored()).toEqual(before);
  });
});

describe('manually-merged', () => {
  beforeAll(() => ada.call('PATCH', '/repos/ada/work', { allow_manual_merge: true }));

  it('is a style that repositories have to want', async () => {
    await ada.call('POST', '/user/repos', { name: 'fresh' });
    expect((await ada.call('GET', '/repos/ada/fresh')).body).toMatchObject({ allow_manual_merge: false });
  });

  it('marks what somebody merged by hand, at the time of the commit', async () => {
    const number = await pull('by-hand');
    await git(tree, 'checkout', '-q', 'main');
    await git(tree, 'merge', '-q', '--no-ff', '-m', 'by hand', 'by-hand');
    const commit = await git(tree, 'rev-parse', 'main');
    const unknown = '0123456789'.repeat(4);
    // Of what leads to a commit of the base, or is a part of one.
    await git(tree, 'tag', '-a', '-m', 'tagged', 'tagged', 'origin/main');
    await git(tree, 'push', '-q', 'origin', 'tagged');
    const [tag, folder] = [await git(tree, 'rev-parse', 'tagged'), await tip('main^{tree}')];
    const before = await stored();
    for (const MergeCommitID of [commit, commit.slice(0, 12), unknown, tag, folder, '', 'main', undefined]) {
      // The first is not on the base yet.
      const refused = await merge(number, { Do: 'manually-merged', MergeCommitID });
      expect([refused.status, refused.body.message]).toEqual([409, 'Wrong commit ID']);
    }
    expect(await stored()).toEqual(before);
    await git(tree, 'push', '-q', 'origin', 'main');
    expect((await merge(number, { Do: 'manually-merged', MergeCommitID: commit })).status).toBe(200);
    await expectMerged(number, commit);
    const { body } = await ada.call('GET', `${path}/${number}`);
    expect(Date.parse(String(body['merged_at']))).toBe(
      Number(await git(tree, 'log', '-1', '--format=%at', commit)) * 1000,
    );
  });

  it.each([
    ['into the base', 'main', 'joined'],
    ['the other way round', 'turned', 'main'],
  ])('leaves the changes of what was merged %s to be seen as they were', async (_how, ours, theirs) => {
    const branch = ours === 'main' ? theirs : ours;
    const number = await pull(branch);
    const seen = async () =>
      await Promise.all([
        ada.call('GET', `${path}/${number}.diff`).then(({ text }) => text),
        ada.call('GET', `${path}/${number}.patch`).then(({ text }) => text),
        ada.call('GET', `${path}/${number}/files`).then(({ items }) => items.length),
        ada.call('GET', `${path}/${number}/commits`).then(({ items }) => items.map(({ sha }) => sha)),
      ]);
    const before = await seen();
    expect(before[2]).toBe(2);
    await git(tree, 'checkout', '-q', ours);
    await git(tree, 'merge', '-q', '--no-ff', '-m', 'by hand', theirs);
    const commit = await git(tree, 'rev-parse', 'HEAD');
    await git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/main');
    await git(tree, 'checkout', '-q', '-B', 'main', commit);
    expect((await merge(number, { Do: 'manually-merged', MergeCommitID: commit })).status).toBe(200);
    expect(await seen()).toEqual(before);
  });
});

describe('what a repository does not allow', () => {
  it.each([
    ['merge', 'allow_merge_commits'],
    ['', 'allow_merge_commits'],
    ['rebase', 'allow_rebase'],
    ['rebase-merge', 'allow_rebase_explicit'],
    ['squash', 'allow_squash_merge'],
    ['fast-forward-only', 'allow_fast_forward_only_merge'],
    ['manually-merged', 'allow_manual_merge'],
  ])('style %j without %s is 405; nothing changes', async (Do, setting) => {
    const number = await pull(`off-${Do || 'empty'}`, { moved: false });
    await ada.call('PATCH', '/repos/ada/work', { [setting]: false });
    const before = await stored();
    const refused = await merge(number, { Do });
    expect(refused.status).toBe(405);
    expect(refused.body.message).toBe(
      `${Do || 'merge'} is not allowed an allowed merge style for this repository`,
    );
    expect(await stored()).toEqual(before);
    await ada.call('PATCH', '/repos/ada/work', { [setting]: true });
    await ada.call('PATCH', `${path}/${number}`, { state: 'closed' });
  });
});

it('a template on the default branch words the merges of its style', async () => {
  const template = '${PullRequestTitle} by ${PullRequestPosterName}\n\nInto ${BaseBranch}, ${ClosingIssues}.';
  await git(tree, 'fetch', '-q', 'origin');
  const file = '.gitea/default_merge_message/SQUASH_TEMPLATE.md';
  await pushBranch(tree, 'main', { [file]: template }, 'origin/main');
  const number = await pull('worded');
  await ada.call('PATCH', `${path}/${number}`, { body: 'Closes #1.' });
  await merge(number, { Do: 'squash' });
  expect(await git(bare, 'log', '-1', '--format=%B', 'main')).toBe(
    'About worded by ada\n\nInto main, close #1.',
  );
});

describe('a template of rebase', () => {
  const file = '.gitea/default_merge_message/REBASE_TEMPLATE.md';
  const words = '${CommitTitle} (${PullRequestReference})\n\n${CommitBody}\n\n${ReviewedOn}\n${ReviewedBy}';
  let cleo: Person;

  beforeAll(async () => {
    cleo = scene.person('cleo');
    await cleo.call('GET', '/user');
    await ada.call('PUT', '/repos/ada/work/collaborators/cleo', { permission: 'write' });
    await git(tree, 'fetch', '-q', 'origin');
    await pushBranch(tree, 'main', { [file]: words }, 'origin/main');
  });

  it.each([true, false])('words the last commit, of a base that moved: %s', async (moved) => {
    await git(tree, 'fetch', '-q', 'origin');
    await git(tree, 'reset', '-q', '--hard', 'origin/main');
    const branch = `reworded-${moved}`;
    await pushBranch(tree, branch, { [`${branch}-1`]: '1' }, 'main');
    const first = await git(tree, 'log', '-1', '--format=%s', branch);
    await git(tree, 'checkout', '-q', branch);
    const author = ['--author=Zoe <zoe@x.test>', '--date=1700000000 +0130'];
    await git(tree, 'commit', '-q', '--allow-empty', '-m', 'Last', '-m', 'For reasons.', ...author);
    await git(tree, 'push', '-q', 'origin', branch);
    await git(tree, 'checkout', '-q', 'main');
    if (moved) await pushBranch(tree, 'main', { [`main-of-${branch}`]: '1' }, 'main');
    const base = await tip('main');
    const { number } = (await ada.call('POST', path, { head: branch, base: 'main', title: branch })).body;
    const review = await bob.call('POST', `${path}/${number}/reviews`, { event: 'APPROVED' });
    expect(review.status).toBe(200);
    // Who took it back is not named, also where that was dismissed.
    const verdict = (event: string) =>
      cleo.call('POST', `${path}/${number}/reviews`, { event, body: 'words' });
    expect((await verdict('APPROVED')).status).toBe(200);
    const taken = `${path}/${number}/reviews/${(await verdict('REQUEST_CHANGES')).body.id}`;
    expect((await ada.call('POST', `${taken}/dismissals`, {})).status).toBe(200);
    await scene.sql.rows`
      update :schema.reviews set dismissed_at = null, official = true where kind = 'APPROVED'`;
    // Words of the caller are for commits that the merge makes.
    expect((await merge(number, { Do: 'rebase', MergeTitleField: 'Mine' })).status).toBe(200);
    const bobs = await git(bare, 'log', '-1', '--format=%an|%ad|%cn|%B', '--date=raw', 'main');
    const mail = (await bob.call('GET', '/user')).body['email'];
    expect(bobs).toBe(
      `Zoe|1700000000 +0130|Ada Lovelace|Last (#${number})\n\nFor reasons.\n\n` +
        `Reviewed-on: ${scene.address}/ada/work/pulls/${number}\nReviewed-by: bob <${String(mail)}>`,
    );
    expect(await log(`${base}..main`, '%s')).toBe(`${first}\nLast (#${number})`);
    await expectMerged(number, await tip('main'));
  });

  it('that changes no words leaves the commit as it is', async () => {
    await git(tree, 'fetch', '-q', 'origin');
    await pushBranch(tree, 'main', { [file]: '${CommitTitle}\n\n${CommitBody}\n' }, 'origin/main');
    const head = await pushBranch(tree, 'worded-already', { 'worded.txt': '1' }, 'main');
    const wish = { head: 'worded-already', base: 'main', title: 'worded already' };
    const { number } = (await ada.call('POST', path, wish)).body;
    expect((await merge(number, { Do: 'rebase' })).status).toBe(200);
    expect(await tip('main')).toBe(head);
    await git(tree, 'fetch', '-q', 'origin');
    await pushBranch(tree, 'main', { [file]: words }, 'origin/main');
  });

  it('says nothing of a head that brings nothing', async () => {
    const number = await pull('there-already');
    await git(tree, 'fetch', '-q', 'origin');
    await git(tree, 'checkout', '-q', '-B', 'main', 'origin/main');
    await git(tree, 'cherry-pick', 'origin/main..there-already');
    await git(tree, 'push', '-q', 'origin', 'main');
    const before = await tip('main');
    expect((await merge(number, { Do: 'rebase' })).status).toBe(200);
    expect(await tip('main')).toBe(before);
  });
});

it('attributes of the base say how files merge', async () => {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(
    tree,
    'main',
    { 'notes/.gitattributes': '*.md merge=union\n', 'notes/a.md': 'a\n' },
    'origin/main',
  );
  await pushBranch(tree, 'union', { 'notes/a.md': 'a\nb\n' }, 'main');
  await pushBranch(tree, 'main', { 'notes/a.md': 'a\nc\n' }, 'main');
  const { body } = await ada.call('POST', path, { head: 'union', base: 'main', title: 'union' });
  expect(body.mergeable).toBe(true);
  expect((await merge(body.number, { Do: 'merge' })).status).toBe(200);
  expect(await git(bare, 'show', 'main:notes/a.md')).toBe('a\nc\nb');
});
