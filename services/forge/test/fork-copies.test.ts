import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { scriptedGit } from './scripted-git.ts';

// Commits of forks are copied to where their pull requests go: whoever has nothing to do with it does not notice.

/** Copies leave a file each; they wait while there is a file `slow`, and say so with a file `copying`. */
const program = await scriptedGit(
  (folder) =>
    `case "$*" in *pack-objects*--revs*) touch ${folder}/copy-$$; while [ -e ${folder}/slow ]; do touch ${folder}/copying; sleep 0.05; done;; esac`,
);
const { folder } = program;
const [slow, copying] = [join(folder, 'slow'), join(folder, 'copying')];
afterAll(() => program[Symbol.asyncDispose]());

const scene = useForge({ environment: { FORGE_GIT_COMMAND: program.command } });
let ada: Person;
let bob: Person;
let tree: string;
let forked: string;
let bare: string;
const at = '/repos/ada/work';
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  await bob.call('POST', `${at}/forks`, { name: 'bobs' });
  forked = join(scene.folder, 'bobs');
  await git(scene.folder, 'clone', '-q', bob.remote('bob/bobs'), forked);
  bare = await scene.bare('ada', 'work');
});

const headOf = async (number: number) => (await ada.call('GET', `${at}/pulls/${number}`)).body.head.sha;
async function open(branch: string): Promise<number> {
  await pushBranch(forked, branch, { [branch]: '1' });
  const { body } = await bob.call('POST', `${at}/pulls`, {
    head: `bob:${branch}`,
    base: 'main',
    title: branch,
  });
  return body.number;
}
/** Something that stands in the queue of the base, done while copies wait. */
async function mergeMeanwhile(branch: string, work: Promise<unknown>): Promise<void> {
  await expect.poll(() => readdir(folder)).toContain('copying');
  let isOver = false;
  const after = work.then(() => {
    isOver = true;
  });
  await git(tree, 'fetch', '-q', 'origin');
  await pushBranch(tree, branch, { [branch]: '1' }, 'origin/main');
  const { body } = await ada.call('POST', `${at}/pulls`, { head: branch, base: 'main', title: branch });
  expect((await ada.call('POST', `${at}/pulls/${body.number}/merge`, {})).status).toBe(200);
  expect(isOver).toBe(false);
  await rm(slow);
  await after;
  await rm(copying);
}

it('merges do not wait for the commits of a new pull request, nor of a push', async () => {
  await pushBranch(forked, 'late', { late: '1' });
  await writeFile(slow, '');
  const opening = bob.call('POST', `${at}/pulls`, { head: 'bob:late', base: 'main', title: 'late' });
  await mergeMeanwhile('one', opening);
  const { status, body } = await opening;
  expect(status).toBe(201);
  expect(await git(bare, 'rev-parse', `refs/pull/${body.number}/head`)).toBe(body.head.sha);

  await git(forked, 'checkout', '-q', 'late');
  const next = await commit(forked, { late: '2' }, 'more');
  await writeFile(slow, '');
  await mergeMeanwhile('two', git(forked, 'push', '-q', 'origin', 'late'));
  await git(forked, 'checkout', '-q', 'main');
  expect(await headOf(body.number)).toBe(next);
  expect(await git(bare, 'rev-parse', `refs/pull/${body.number}/head`)).toBe(next);
});

it('of pull requests with the same head the commits of a push are copied once', async () => {
  const number = await open('shared');
  const numbers = [number];
  for (const base of ['v1', 'v2']) {
    await git(tree, 'push', '-q', 'origin', `main:refs/heads/${base}`);
    const { body } = await bob.call('POST', `${at}/pulls`, { head: 'bob:shared', base, title: base });
    numbers.push(body.number);
  }
  const copies = async () => (await readdir(folder)).filter((name) => name.startsWith('copy-'));
  for (const name of await copies()) await rm(join(folder, name));
  await git(forked, 'checkout', '-q', 'shared');
  const next = await commit(forked, { shared: '2' }, 'more');
  await git(forked, 'push', '-q', 'origin', 'shared');
  await git(forked, 'checkout', '-q', 'main');
  await expect.poll(() => Promise.all(numbers.map(headOf))).toEqual([next, next, next]);
  for (const one of numbers)
    await expect.poll(() => git(bare, 'rev-parse', `refs/pull/${one}/head`)).toBe(next);
  expect(await copies()).toHaveLength(1);
});

it('of commits that cannot be copied nothing stays', async () => {
  const number = await open('cut');
  const before = await headOf(number);
  const objects = join(bare, 'objects');
  const quarantines = async () =>
    (await readdir(objects)).filter((name) => name.startsWith('tmp_objdir-copies'));
  const files = async () => [...(await readdir(join(objects, 'pack'))).sort(), ...(await quarantines())];
  const there = await files();
  const script = await readFile(program.command, 'utf8');
  // As one that is killed in the middle.
  await writeFile(
    program.command,
    `#!/bin/sh
case "$*" in *pack-objects*--revs*)
  for one in "$@"; do case "$one" in --git-dir=*) objects="\${one#--git-dir=}/objects";; esac; done
  pack="\${GIT_OBJECT_DIRECTORY:-$objects}/pack"; mkdir -p "$pack"; echo half > "$pack/tmp_pack_half"; touch ${folder}/cut; exit 1;;
esac
exec git "$@"
`,
  );
  await git(forked, 'checkout', '-q', 'cut');
  await commit(forked, { cut: '2' }, 'more');
  await git(forked, 'push', '-q', 'origin', 'cut');
  expect(await readdir(folder)).toContain('cut');
  expect(await files()).toEqual(there);
  expect([await headOf(number), await git(bare, 'rev-parse', `refs/pull/${number}/head`)]).toEqual([
    before,
    before,
  ]);
  await writeFile(program.command, script);
  const next = await commit(forked, { cut: '3' }, 'even more');
  await git(forked, 'push', '-q', 'origin', 'cut');
  await git(forked, 'checkout', '-q', 'main');
  expect(await git(bare, 'rev-parse', `refs/pull/${number}/head`)).toBe(next);
  expect(await quarantines()).toEqual([]);
  await scene.sql.run`delete from :schema.pushes`;
});

it('one that cannot be copied keeps no other from following, and is tried again at the next start', async () => {
  const [broken, whole] = [await open('broken'), await open('whole')];
  const before = await headOf(broken);
  const good = await pushBranch(forked, 'elsewhere', { elsewhere: '1' });
  // As with a damaged disk.
  await writeFile(
    program.command,
    `#!/bin/sh
case "$*" in *pack-objects*--revs*) tee ${folder}/wanted | grep -q '^${good}' && exit 1; exec git "$@" < ${folder}/wanted;; esac
exec git "$@"
`,
  );
  await git(forked, 'checkout', '-q', 'whole');
  const next = await commit(forked, { whole: '2' }, 'more');
  await git(forked, 'push', '-q', 'origin', 'whole', `+${good}:refs/heads/broken`);
  await git(forked, 'checkout', '-q', 'main');
  expect([await git(bare, 'rev-parse', `refs/pull/${whole}/head`), await headOf(whole)]).toEqual([
    next,
    next,
  ]);
  expect(await git(bare, 'rev-parse', `refs/pull/${broken}/head`)).toBe(before);
  // However often it fails, also at a start, it is remembered once.
  await pushBranch(forked, 'another', { another: '1' });
  const waiting = () =>
    scene.sql.rows<{ moves: unknown }>`select details->'moves' as moves from :schema.pushes`;
  expect(await waiting()).toEqual([{ moves: [] }]);
  await scene.restart();
  expect(await waiting()).toEqual([{ moves: [] }]);
  expect(await git(bare, 'rev-parse', `refs/pull/${broken}/head`)).toBe(before);
  await writeFile(program.command, '#!/bin/sh\nexec git "$@"\n');
  await scene.restart();
  await expect.poll(() => git(bare, 'rev-parse', `refs/pull/${broken}/head`)).toBe(good);
  await expect.poll(() => scene.sql.rows`select * from :schema.pushes`).toEqual([]);
});
