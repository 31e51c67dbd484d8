import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';
import { scriptedGit } from './scripted-git.ts';

/** While a file is there, merging takes more memory than there is, or git falls over. */
const program = await scriptedGit(
  (folder) => `for word in "$@"; do
  if [ "$word" = merge-tree ]; then
    [ -e ${folder}/full ] && echo 'fatal: Out of memory, malloc failed' >&2 && exit 128
    [ -e ${folder}/broken ] && echo 'git: Assertion failed.' >&2 && kill -ABRT $$
  fi
done`,
);
afterAll(() => program[Symbol.asyncDispose]());
const scene = useForge({ environment: { FORGE_GIT_COMMAND: program.command } });
let ada: Person;
beforeAll(() => {
  ada = scene.person('ada');
});

/** A repository where `topic` changes the end of a file whose beginning changes on `main`. */
async function apart(name: string) {
  const tree = await pushedRepository(ada, name, scene.folder);
  const lines = (first: string, last: string) => ({ 'lines.txt': `${first}\n2\n3\n4\n5\n6\n7\n${last}\n` });
  await commit(tree, lines('1', '8'), 'base');
  await pushBranch(tree, 'topic', lines('1', 'x'));
  await commit(tree, lines('y', '8'), 'on main');
  await git(tree, 'push', '-q', 'origin', 'main');
  const at = `/repos/ada/${name}/pulls`;
  const open = (head: string) => ada.call('POST', at, { title: head, head, base: 'main' });
  return { tree, at, open };
}

it('a merge of small files for which there is no memory is put off, and then made', async () => {
  const { at, open } = await apart('work');
  await writeFile(join(program.folder, 'full'), '');
  const made = await open('topic');
  expect(made.status).toBe(201);
  const before = await rowsOf(scene, 'pulls', 'merges', 'comments');
  const { number } = made.body;
  for (const one of [made.body, (await ada.call('GET', `${at}/${number}`)).body])
    expect(one).toMatchObject({ state: 'open', mergeable: false, conflicted_files: [] });
  expect((await ada.call('GET', at)).items).toMatchObject([{ number, mergeable: false }]);
  for (const [method, path, body] of [
    ['POST', `${at}/${number}/merge`, { Do: 'merge' }],
    ['POST', `${at}/${number}/update`],
  ] as const) {
    const { status, headers, body: said } = await ada.call(method, path, body);
    expect([status, headers.get('retry-after')]).toEqual([503, '60']);
    expect(said.message).toBe('git has not the memory or the time to merge this now');
  }
  expect(await rowsOf(scene, 'pulls', 'merges', 'comments')).toEqual(before);
  await rm(join(program.folder, 'full'));
  expect((await ada.call('GET', `${at}/${number}`)).body.mergeable).toBe(true);
  expect((await ada.call('POST', `${at}/${number}/merge`, { Do: 'merge' })).status).toBe(200);
});

it('a merge that git falls over is none, and what has it can be read', async () => {
  const { at, open } = await apart('fallen');
  const bare = await scene.bare('ada', 'fallen');
  await writeFile(join(program.folder, 'broken'), '');
  const { status, body } = await open('topic');
  expect([status, body.mergeable]).toEqual([201, false]);
  const { number } = body;
  const stored = () => Promise.all([git(bare, 'for-each-ref'), rowsOf(scene, 'pulls', 'merges', 'comments')]);
  const before = await stored();
  expect((await ada.call('GET', at)).items).toMatchObject([{ number, mergeable: false }]);
  for (const what of ['', '.diff', '.patch', '/files', '/commits'])
    expect((await ada.call('GET', `${at}/${number}${what}`)).status, what).toBe(200);
  for (const style of ['merge', 'squash', 'rebase'])
    expect(await ada.call('POST', `${at}/${number}/merge`, { Do: style })).toMatchObject({
      status: 405,
      body: { conflicted_files: [] },
    });
  for (const style of ['merge', 'rebase'])
    expect((await ada.call('POST', `${at}/${number}/update?style=${style}`)).status).toBe(409);
  expect(await stored()).toEqual(before);
  await rm(join(program.folder, 'broken'));
});

it('one that lacks an object takes no list down', async () => {
  const { tree, at, open } = await apart('damaged');
  const lost = await git(tree, 'rev-parse', 'main:lines.txt');
  await pushBranch(tree, 'whole', { other: '1' }, 'origin/main');
  const bare = await scene.bare('ada', 'damaged');
  await rm(join(bare, 'objects', lost.slice(0, 2), lost.slice(2)));
  const numbers = [await open('topic'), await open('whole')].map(({ body }) => body.number);
  const { items } = await ada.call('GET', `${at}?sort=oldest`);
  expect(items.map(({ number, mergeable }) => [number, mergeable])).toEqual([
    [numbers[0], false],
    [numbers[1], true],
  ]);
});
