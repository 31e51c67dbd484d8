import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { afterAll, expect, it } from 'vitest';
import { commit, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';
import { scriptedGit } from './scripted-git.ts';

/** While a file is there, merging takes more memory than there is. */
const program = await scriptedGit(
  (folder) => `if [ -e ${folder}/full ]; then
  for word in "$@"; do
    [ "$word" = merge-tree ] && echo 'fatal: Out of memory, malloc failed' >&2 && exit 128
  done
fi`,
);
afterAll(() => program[Symbol.asyncDispose]());
const scene = useForge({ environment: { FORGE_GIT_COMMAND: program.command } });

it('a merge of small files for which there is no memory is put off, and then made', async () => {
  const ada = scene.person('ada');
  const tree = await pushedRepository(ada, 'work', scene.folder);
  const lines = (first: string, last: string) => ({ 'lines.txt': `${first}\n2\n3\n4\n5\n6\n7\n${last}\n` });
  await commit(tree, lines('1', '8'), 'base');
  await pushBranch(tree, 'topic', lines('1', 'x'));
  await commit(tree, lines('y', '8'), 'on main');
  await git(tree, 'push', '-q', 'origin', 'main');
  await writeFile(join(program.folder, 'full'), '');
  const at = '/repos/ada/work/pulls';
  const made = await ada.call('POST', at, { title: 'topic', head: 'topic', base: 'main' });
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
