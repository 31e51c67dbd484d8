import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, pushedRepository, useForge } from './forge.ts';
import { scriptedGit } from './scripted-git.ts';

/** Diffs say nothing and archives something ever again, for ever. */
const program = await scriptedGit(
  () => `case "$*" in
*" diff-tree "*" -p "*) exec sleep 600;;
*" archive "*) while echo something; do sleep 0.1; done;;
esac`,
);
afterAll(() => program[Symbol.asyncDispose]());

const scene = useForge({
  environment: {
    FORGE_GIT_COMMAND: program.command,
    FORGE_GIT_DIFF_TIMEOUT: '1s',
    FORGE_GIT_DOWNLOAD_TIMEOUT: '1s',
  },
});
let ada: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  await pushedRepository(ada, 'work', scene.folder);
});

it('a diff of which nothing comes in its time is 503', async () => {
  const { status, body } = await ada.call('GET', '/repos/ada/work/git/commits/main.diff');
  expect(status).toBe(503);
  expect(body.message).toBe('it took too long to read what is asked for');
});

it('an archive that is not at its client in its time is broken off, whatever moves', async () => {
  await expect(ada.call('GET', '/repos/ada/work/archive/main.zip')).rejects.toThrow('terminated');
});
