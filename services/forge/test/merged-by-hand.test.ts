import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import * as baseMoves from '../src/store/pulls/base-moves.ts';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// Pull requests that came to their base by a push of somebody's own, and are marked as merged afterwards: they show what
// came, as git shows it between where the base was and the head.

const scene = useForge();
const path = '/repos/ada/work/pulls';
let ada: Person;
let bob: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  await ada.call('PATCH', '/repos/ada/work', { allow_manual_merge: true });
});

const tip = (ref: string) => git(bare, 'rev-parse', ref);
const push = (...words: string[]) => git(tree, 'push', '-q', 'origin', ...words);
const show = async (number: number) => (await ada.call('GET', `${path}/${number}`)).body;
const mark = (number: number, commitId: string) =>
  ada.call('POST', `${path}/${number}/merge`, { Do: 'manually-merged', MergeCommitID: commitId });
/** One more commit on a branch of the work tree, on which it stays. */
const work = (name: string) => commit(tree, { [`${name}.txt`]: `${name}\n` }, name);
/** The same, pushed. */
async function moveMain(name: string): Promise<string> {
  await git(tree, 'checkout', '-q', '-B', 'main', 'origin/main');
  const moved = await work(name);
  await push('main');
  return moved;
}

/** A pull request of two commits, from where the base is or from another branch. */
async function pull(branch: string, { from = 'origin/main', base = 'main' } = {}): Promise<number> {
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [`${branch}-1`]: '1\n' }, from);
  await pushBranch(tree, branch, { [`${branch}-2`]: '2\n' }, branch);
  const made = await ada.call('POST', path, { head: branch, base, title: branch });
  expect(made.status).toBe(201);
  return made.body.number;
}

/** What there is to see of a pull request's changes. */
async function seen(number: number) {
  const read = (what: string) => ada.call('GET', `${path}/${number}${what}`);
  const [{ body }, files, commits, diff, patch] = await Promise.all([
    read(''),
    read('/files'),
    read('/commits'),
    read('.diff'),
    read('.patch'),
  ]);
  return {
    base: body.merge_base,
    count: body['changed_files'],
    files: files.items.map((file) => file['filename']),
    commits: commits.items.map((one) => one['sha']),
    diff: diff.text.trim(),
    patches: [...patch.text.matchAll(/^From ([0-9a-f]{40}) /gm)].map(([, sha]) => sha),
  };
}

/** The same as git says it of a base and a head. */
async function between(before: string, head: string) {
  const list = async (...words: string[]) => (await git(bare, ...words)).split('\n').filter((line) => line);
  const files = await list('diff', '--name-only', `${before}...${head}`);
  const range = `${before}..${head}`;
  return {
    base: await git(bare, 'merge-base', before, head),
    count: files.length,
    files,
    commits: await list('rev-list', range),
    diff: await git(bare, 'diff', `${before}...${head}`),
    patches: await list('rev-list', '--reverse', '--no-merges', range),
  };
}

const nothing = (base: string) => ({ base, count: 0, files: [], commits: [], diff: '', patches: [] });

/** Marks a pull request, after which it shows what came between a former base and its head. */
async function expectShown(number: number, before: string, commitId?: string): Promise<void> {
  const head = await tip(`refs/pull/${number}/head`);
  expect((await mark(number, commitId ?? head)).status).toBe(200);
  expect(await show(number)).toMatchObject({ merged: true, state: 'closed', head: { sha: head } });
  const there = await seen(number);
  expect(there).toEqual(await between(before, head));
  expect(there.count).toBeGreaterThan(0);
}

describe('a pull request that was fast-forwarded by hand', () => {
  it('has nothing to merge until it is marked, and shows its changes from then on', async () => {
    const number = await pull('plain');
    const [before, head] = [await tip('main'), await tip('plain')];
    const open = await seen(number);
    expect(open.commits).toHaveLength(2);
    await push('plain:main');
    expect(await seen(number)).toEqual(nothing(head));
    expect(await show(number)).toMatchObject({ state: 'open', merged: false, mergeable: false });
    const rows = () => rowsOf(scene, 'issues', 'pulls', 'merges');
    const stored = await rows();
    expect((await ada.call('POST', `${path}/${number}/merge`, { Do: 'merge' })).status).toBe(405);
    expect(await rows()).toEqual(stored);
    await expectShown(number, before);
    expect(await seen(number)).toEqual(open);
    // Wherever the base goes.
    await moveMain('after-plain');
    await push('-f', `${before}:main`);
    expect(await seen(number)).toEqual(open);
  });

  it('after its base had moved on and it was rebased onto that', async () => {
    const number = await pull('rebased');
    const before = await moveMain('meanwhile');
    await git(tree, 'checkout', '-q', 'rebased');
    await git(tree, 'rebase', '-q', 'main');
    await push('-f', 'rebased');
    await push('rebased:main');
    await expectShown(number, before);
  });

  it('after its base was merged into it', async () => {
    const number = await pull('joined');
    const before = await moveMain('into-joined');
    await git(tree, 'checkout', '-q', 'joined');
    await git(tree, 'merge', '-q', '--no-edit', 'main');
    await push('joined');
    await push('joined:main');
    await expectShown(number, before);
  });

  it.each([
    ['with commits on top', false],
    ['rebased', true],
  ])('%s, the base pushed before the head', async (how, isRebased) => {
    const branch = `ahead-${isRebased}`;
    const number = await pull(branch);
    const before = isRebased ? await moveMain(`before-${branch}`) : await tip('main');
    await git(tree, 'checkout', '-q', branch);
    if (isRebased) await git(tree, 'rebase', '-q', 'main');
    await work(`${how} ${branch}`);
    await push(`${branch}:main`);
    await push('-f', branch);
    await expectShown(number, before);
  });

  it('along with its head, in one push', async () => {
    const number = await pull('at-once');
    const before = await moveMain('before-at-once');
    await git(tree, 'checkout', '-q', 'at-once');
    await git(tree, 'rebase', '-q', 'main');
    await push('--atomic', '-f', 'at-once', 'at-once:main');
    await expectShown(number, before);
  });

  it('long before it is marked, with whichever commit', async () => {
    const numbers = [await pull('long-ago'), await pull('long-ago-too', { from: 'long-ago' })];
    const [before, first] = [await tip('main'), await tip('long-ago^')];
    await push('long-ago-too:main');
    await git(tree, 'fetch', '-q', 'origin');
    let later = '';
    for (let n = 0; n < 9; n++) later = await moveMain(`later-${n}`);
    await expectShown(Number(numbers[0]), before, later);
    // One that the pull request had before its last.
    await expectShown(Number(numbers[1]), before, first);
  });

  it('before others were merged that stood on less', async () => {
    const [number, other] = [await pull('first'), await pull('second')];
    const before = await moveMain('before-first');
    await git(tree, 'checkout', '-q', 'first');
    await git(tree, 'rebase', '-q', 'main');
    await push('-f', 'first', 'first:main');
    expect((await ada.call('POST', `${path}/${other}/merge`, { Do: 'merge' })).status).toBe(200);
    await expectShown(number, before, await tip('main'));
  });

  it('with what it stands on, one after the other', async () => {
    const [lower, upper] = [await pull('lower'), await pull('upper', { from: 'lower' })];
    const before = await tip('main');
    await push('lower:main');
    await push('upper:main');
    await expectShown(upper, await tip('lower'));
    await expectShown(lower, before);
  });

  it('with what it stands on, in one push', async () => {
    const [lower, upper] = [await pull('below'), await pull('above', { from: 'below' })];
    const before = await tip('main');
    await push('above:main');
    await expectShown(lower, before);
    await expectShown(upper, before);
  });

  it('from a fork', async () => {
    expect((await bob.call('POST', '/repos/ada/work/forks', {})).status).toBe(202);
    const forked = join(scene.folder, 'forked');
    await git(scene.folder, 'clone', '-q', bob.remote('bob/work'), forked);
    await pushBranch(forked, 'theirs', { theirs: '1\n' });
    const made = await bob.call('POST', path, { head: 'bob:theirs', base: 'main', title: 'theirs' });
    const before = await moveMain('before-theirs');
    await git(forked, 'pull', '-q', '--rebase', ada.remote('ada/work'), 'main:from-ada');
    await git(forked, 'checkout', '-q', 'theirs');
    await git(forked, 'rebase', '-q', before);
    await git(forked, 'push', '-q', ada.remote('ada/work'), 'theirs:main');
    await git(forked, 'push', '-q', '-f', 'origin', 'theirs');
    await expect.poll(() => tip(`refs/pull/${made.body.number}/head`)).toBe(await tip('main'));
    await expectShown(made.body.number, before);
  });

  it('into the branch that it goes to by then, also under another name', async () => {
    await git(tree, 'fetch', '-q', 'origin');
    const before = await pushBranch(tree, 'release', { release: '1\n' }, 'origin/main');
    const number = await pull('to-release', { from: 'release' });
    expect((await ada.call('PATCH', `${path}/${number}`, { base: 'release' })).status).toBe(201);
    await push('to-release:release');
    const renamed = { name: 'stable' };
    expect((await ada.call('PATCH', '/repos/ada/work/branches/release', renamed)).status).toBe(204);
    await expectShown(number, before);
  });

  it('after which the base was moved away and back, and what it lost is gone', async () => {
    const number = await pull('to-and-fro');
    const before = await tip('main');
    for (const lost of ['lost-1', 'lost-2']) {
      await git(tree, 'checkout', '-q', '--detach', before);
      await work(lost);
      await push('-f', 'HEAD:main');
    }
    await push('-f', 'to-and-fro:main');
    await push('-f', `${before}:main`);
    await push('to-and-fro:main');
    await git(bare, 'reflog', 'expire', '--expire=now', '--all');
    await git(bare, 'gc', '-q', '--prune=now');
    await expectShown(number, before);
  });

  it('and was closed and reopened meanwhile', async () => {
    const number = await pull('closed');
    const before = await tip('main');
    await ada.call('PATCH', `${path}/${number}`, { state: 'closed' });
    await push('closed:main');
    await ada.call('PATCH', `${path}/${number}`, { state: 'open' });
    await expectShown(number, before);
  });

  it('by the API', async () => {
    const number = await pull('patched');
    const before = await tip('main');
    const moved = { new_commit_id: await tip('patched') };
    expect((await ada.call('PUT', '/repos/ada/work/branches/main', moved)).status).toBe(204);
    await expectShown(number, before);
  });

  it('by a push that was recorded by the next start', async () => {
    const number = await pull('crashed');
    const [before, after] = [await tip('main'), await tip('crashed')];
    const details = { moves: [{ ref: 'refs/heads/main', before, after }] };
    await scene.restart(async () => {
      await git(bare, 'update-ref', 'refs/heads/main', after);
      await scene.sql.run`
        insert into :schema.pushes (repository_id, actor_id, details, started_at)
        select id, owner_id, ${JSON.stringify(details)}::jsonb, now() from :schema.repositories
        where name = 'work' and fork_of is null`;
    });
    await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
    await expectShown(number, before);
  });

  it('shows nothing where no push is known to have brought it', async () => {
    const number = await pull('unknown');
    const head = await tip('unknown');
    await git(bare, 'update-ref', 'refs/heads/main', head);
    expect((await mark(number, head)).status).toBe(200);
    expect(await seen(number)).toEqual(nothing(head));
  });
});

describe('a pull request that was merged by hand', () => {
  it('shows its changes whichever commit of the base is named', async () => {
    const numbers = [await pull('merged-1'), await pull('merged-2'), await pull('merged-3')];
    const opened = await tip('main');
    const before = await moveMain('before-merged');
    const merges: string[] = [];
    for (const branch of ['merged-1', 'merged-2', 'merged-3']) {
      await git(tree, 'merge', '-q', '--no-edit', branch);
      merges.push(await git(tree, 'rev-parse', 'HEAD'));
    }
    await work('after-merged');
    await push('main');
    await expectShown(Number(numbers[0]), before, merges[0]);
    await expectShown(Number(numbers[1]), before, await tip('main'));
    // From before the pull request.
    await expectShown(Number(numbers[2]), before, opened);
  });
});

describe('what is kept of where branches were', () => {
  const kept = async () =>
    (await scene.sql.rows<{ branch: string }>`select branch from :schema.base_moves order by id`).map(
      ({ branch }) => branch,
    );

  it('is that of branches with pull requests into them, for some time', async () => {
    await scene.sql.run`delete from :schema.base_moves`;
    await scene.sql.run`update :schema.pulls set merged_at = now() where merged_at is null`;
    await moveMain('with-none');
    expect(await kept()).toEqual([]);
    await pull('one');
    await git(tree, 'checkout', '-q', 'one');
    await work('more-of-one');
    await push('one', 'one:side', 'one:main');
    await moveMain('with-one');
    expect(await kept()).toEqual(['main', 'main']);

    expect(await baseMoves.sweep(scene.sql)).toBe(0);
    await scene.sql.run`
      update :schema.base_moves set moved_at = now() - interval '91 days'
      where id = (select min(id) from :schema.base_moves)`;
    expect(await baseMoves.sweep(scene.sql)).toBe(1);
    expect(await kept()).toEqual(['main']);
  });
});
