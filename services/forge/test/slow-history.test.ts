import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, pushedRepository, useForge } from './forge.ts';
import { scriptedGit } from './scripted-git.ts';

/** Histories of certain paths take for ever while there is a file `slow`. */
const program = await scriptedGit(
  (folder) => `case "$*" in *rev-list*none-*) while [ -e ${folder}/slow ]; do sleep 0.05; done;; esac`,
);
const slow = join(program.folder, 'slow');
afterAll(() => program[Symbol.asyncDispose]());

const scene = useForge({ environment: { FORGE_GIT_COMMAND: program.command } });
let ada: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  await pushedRepository(ada, 'work', scene.folder);
});

it('a history that takes too long is 503, and its git does not go on: others get their turn', async () => {
  const list = (path: string) => ada.call('GET', `/repos/ada/work/commits?path=${path}`);
  await writeFile(slow, '');
  // More than have a turn at once.
  const asked = Promise.all(Array.from({ length: 20 }, (_, n) => list(`none-${n}`)));
  // Half of the turns are for others, who wait for none of it.
  const others = Promise.all([
    scene.person('bob').call('GET', '/repos/ada/work/commits'),
    scene.person('eve').call('GET', '/repos/ada/work/commits'),
  ]);
  expect(await Promise.race([others, asked])).toMatchObject([{ status: 200 }, { status: 200 }]);
  const answers = await asked;
  const gaveUp = answers.filter(({ status }) => status === 503);
  // Who waited for a turn besides may be out of time in it.
  expect(gaveUp.length).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => ![503, 504].includes(status))).toEqual([]);
  expect(gaveUp.map(({ body }) => body.message)).toContain('it took too long to read the history');
  expect(gaveUp[0]?.headers.get('retry-after')).toBe('5');
  await rm(slow);
  expect((await list('none')).status).toBe(404);
  expect((await ada.call('GET', '/repos/ada/work/commits')).items).toHaveLength(1);
});
