import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { openDatabase } from '@croft/sql';
import { git } from '@croft/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';
import { scriptedGit } from './scripted-git.ts';

// git makes folders that it misses: one that is at work while its repository is removed brings a part of it back.

/** A push with a file `held` begins when the folder of the repository is gone, and there is no file `slow`. */
const program = await scriptedGit(
  (folder) => `for repository in "$@"; do :; done
case "$*" in *receive-pack*info-refs*) ;; *receive-pack*)
  if [ -e ${folder}/held ]; then
    touch ${folder}/held.now
    while [ -e "$repository" ]; do sleep 0.02; done
    while [ -e ${folder}/slow ]; do sleep 0.02; done
    mkdir -p "$repository/objects/pack"
  fi;;
esac`,
);
const [held, slow] = [join(program.folder, 'held'), join(program.folder, 'slow')];
afterAll(() => program[Symbol.asyncDispose]());

const scene = useForge({ environment: { FORGE_GIT_COMMAND: program.command } });

let ada: Person;
beforeAll(() => {
  ada = scene.person('ada');
});

/** Begins a push and waits until git has it. */
async function heldPush(name: string) {
  const source = await pushedRepository(ada, name, scene.folder);
  const bare = await scene.bare('ada', name);
  await commit(source, { file: 'more' }, 'more');
  await writeFile(held, '');
  const pushing = git(source, 'push', 'origin', 'main').then(
    () => 'pushed',
    () => 'failed',
  );
  await expect.poll(() => existsSync(`${held}.now`)).toBe(true);
  return { bare, pushing };
}

async function isGone({ bare }: Awaited<ReturnType<typeof heldPush>>, name: string) {
  await expect.poll(() => readdir(bare).catch(() => 'gone')).toBe('gone');
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  expect((await ada.call('GET', `/repos/ada/${name}`)).status).toBe(404);
}
afterEach(async () => {
  for (const flag of [held, `${held}.now`, slow]) await rm(flag, { force: true });
});

it('what a push brings back that ends after the removal goes, too', async () => {
  const push = await heldPush('late');
  await writeFile(slow, '');
  expect((await ada.call('DELETE', '/repos/ada/late')).status).toBe(204);
  await rm(slow);
  expect(await push.pushing).toBe('failed');
  await isGone(push, 'late');
});

it('what a push brings back that ends between the removal of the folder and of the row goes, too', async () => {
  const push = await heldPush('between');
  const database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  const [isHeld, mayGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.transaction(async (tx) => {
    // The row may change, and not go.
    await tx.rows`select from :schema.repositories where name = 'between' for key share`;
    isHeld.resolve();
    await mayGo.promise;
  });
  await isHeld.promise;
  const deleting = ada.call('DELETE', '/repos/ada/between');
  expect(await push.pushing).toBe('failed');
  expect(await readdir(push.bare)).toEqual(['objects']);
  mayGo.resolve();
  await holding;
  expect((await deleting).status).toBe(204);
  await isGone(push, 'between');
  await database.close();
});
