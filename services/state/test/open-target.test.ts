import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountSmallDisk, skipWithout } from '@croft/testing';
import { expect, it } from 'vitest';
import { close } from '../src/outside/storage/vault/files.ts';
import { openTarget } from '../src/outside/storage/vault/trees/open-target.ts';
import { temporaryFolder } from './daemon.ts';

const NOBODY = 65_534;

const factsOf = (folder: string) => {
  const { uid, gid, mode } = statSync(folder);
  return [uid, gid, mode & 0o7777];
};

it('is given back also when not all that was put into it can be removed, and that is told', async (context) => {
  const folder = temporaryFolder();
  await using _disk = await mountSmallDisk(context, folder, '64k');
  chownSync(folder, NOBODY, NOBODY);
  const before = factsOf(folder);
  const target = await openTarget(folder);
  writeFileSync(join(folder, 'file'), 'x');
  execFileSync('mount', ['-o', 'remount,ro', folder]);
  expect(await target.undo()).toBe('EROFS: read-only file system, fchmod');
  execFileSync('mount', ['-o', 'remount,rw', folder]);
  mkdirSync(join(folder, 'busy'));
  await using _busy = await mountSmallDisk(context, join(folder, 'busy'), '64k');
  expect(await target.undo()).toBe(`EBUSY: resource busy or locked, rmdir '${folder}/busy'`);
  expect([factsOf(folder), readdirSync(folder)]).toEqual([before, ['busy']]);
  await close(target.fd);
});

it('is emptied also of folders that keep out whoever they belong to', async (context) => {
  if (process.getuid?.() !== 0) skipWithout(context, 'another user');
  const above = temporaryFolder();
  chownSync(above, NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    const folder = join(above, 'made/for/it');
    const target = await openTarget(folder);
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    writeFileSync(join(folder, 'a/b/file'), 'x');
    for (const closed of ['a/b', 'a', '.']) chmodSync(join(folder, closed), 0);
    expect(await target.undo()).toBeUndefined();
    expect(readdirSync(above)).toEqual([]);
    await close(target.fd);
  } finally {
    process.seteuid?.(0);
  }
});
