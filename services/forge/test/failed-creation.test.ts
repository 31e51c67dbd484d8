import files, { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { pushedRepository, useForge } from './forge.ts';

// Repositories that cannot be made. A database that was put back to an older state gives one the number of another that is still on
// the disk.

const scene = useForge();

it('a folder that is there already is nobody else’s: nothing of it goes, and the next number is taken', async () => {
  const ada = scene.person('ada');
  await pushedRepository(ada, 'source', scene.folder);
  const bob = scene.person('bob');
  await bob.call('GET', '/user');
  const row = await scene.sql.row<{ id: number }>`select id from :schema.repositories`;
  const [first, second, third] = [1, 2, 3].map((more) =>
    join(scene.dataFolder, 'repositories', `${Number(row?.id) + more}.git`),
  ) as [string, string, string];
  for (const folder of [first, second, third]) {
    await mkdir(folder);
    await writeFile(join(folder, 'kept'), folder);
  }
  const before = await scene.sql.rows`select * from :schema.repositories`;
  const refused = [
    await ada.call('POST', '/user/repos', { name: 'new', auto_init: true }),
    await bob.call('POST', '/repos/ada/source/forks', {}),
    await ada.call('POST', '/user/repos', { name: 'new' }),
  ];
  for (const { status, body } of refused)
    expect([status, body.message]).toEqual([503, expect.stringContaining('croft forge doctor')]);
  expect(await scene.sql.rows`select * from :schema.repositories`).toEqual(before);
  for (const folder of [first, second, third])
    expect(await readFile(join(folder, 'kept'), 'utf8')).toBe(folder);
  expect((await ada.call('POST', '/user/repos', { name: 'new' })).status).toBe(201);
  expect((await bob.call('POST', '/repos/ada/source/forks', {})).status).toBe(202);
});

it('folders that a database has not numbered yet are skipped by the next start', async () => {
  const ada = scene.person('ada');
  await ada.call('GET', '/user');
  const made = (await ada.call('POST', '/user/repos', { name: 'before' })).body;
  const folder = join(scene.dataFolder, 'repositories', `${made.id + 50}.git`);
  const more = join(scene.dataFolder, 'repositories', `${made.id + 7}.git`);
  await scene.restart(async () => {
    for (const one of [folder, more]) {
      await mkdir(one);
      await writeFile(join(one, 'kept'), one);
    }
  });
  expect((await ada.call('POST', '/user/repos', { name: 'after' })).body.id).toBe(made.id + 51);
  await scene.restart();
  expect((await ada.call('POST', '/user/repos', { name: 'later' })).body.id).toBe(made.id + 52);
  for (const one of [folder, more]) expect(await readFile(join(one, 'kept'), 'utf8')).toBe(one);
});

it.each([
  ['a full disk', 'ENOSPC', 503],
  ['a broken one', 'EIO', 500],
])('a creation that %s ends is told as that, and nothing is left of it', async (_what, code, status) => {
  const ada = scene.person('ada');
  await ada.call('GET', '/user');
  const look = async () => [
    await scene.sql.rows`select * from :schema.repositories order by id`,
    (await readdir(join(scene.dataFolder, 'repositories'))).sort(),
  ];
  const before = await look();
  const rename = vi.spyOn(files, 'rename').mockImplementation(async (from, to) => {
    throw Object.assign(new Error(`${code}: no rename '${String(from)}' -> '${String(to)}'`), { code });
  });
  syncBuiltinESMExports();
  try {
    const { status: told } = await ada.call('POST', '/user/repos', { name: 'unmade' });
    expect(told).toBe(status);
  } finally {
    rename.mockRestore();
    syncBuiltinESMExports();
  }
  expect(await look()).toEqual(before);
  expect((await ada.call('POST', '/user/repos', { name: `made-${code}` })).status).toBe(201);
});
