import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { scriptedGit } from './scripted-git.ts';

// Trees that name one another are small and have as many paths as one likes, which takes git long to say.

/** Says what is in a file `output`, while there is one, of the files that differ. */
const program = await scriptedGit(
  (folder) =>
    `case "$*" in *diff-tree*--numstat*) if [ -e ${folder}/output ]; then exec cat ${folder}/output; fi;; esac`,
);
const output = join(program.folder, 'output');
afterAll(() => program[Symbol.asyncDispose]());

const scene = useForge({ environment: { FORGE_GIT_COMMAND: program.command } });
let ada: Person;
beforeAll(async () => {
  ada = scene.person('ada');
});

const zeros = '0'.repeat(40);
const added = (path: string) => `:000000 100644 ${zeros} ${zeros} A\0${path}\0`;

it.each([
  ['many', 200_001, (n: number) => `${n}`, 200_000],
  ['long', 12_000, (n: number) => `${n}/${'x'.repeat(4000)}`, 3000],
])('files of a pull request are not listed where they are too %s', async (name, count, path, fewer) => {
  const tree = await pushedRepository(ada, name, scene.folder);
  await pushBranch(tree, 'topic', { topic: '1' });
  const at = `/repos/ada/${name}/pulls`;
  await ada.call('POST', at, { head: 'topic', base: 'main', title: 'topic' });
  const paths = Array.from({ length: count }, (_, n) => added(path(n)));
  const list = async () => await ada.call('GET', `${at}/1/files?limit=1`);

  await writeFile(output, paths.join(''));
  const refused = await list();
  expect([refused.status, refused.body.message]).toEqual([422, 'the changes cannot be read']);
  await writeFile(output, paths.slice(0, fewer).join(''));
  const { status, headers } = await list();
  expect([status, headers.get('x-total-count')]).toEqual([200, `${fewer}`]);
  await rm(output);
  expect((await ada.call('GET', `${at}/1`)).body).toMatchObject({ state: 'open', changed_files: 1 });
});
