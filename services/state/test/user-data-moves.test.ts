import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { mountSmallDisk } from '@croft/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDaemon, temporaryFolder, treeFacts } from './daemon.ts';
import { fillTree } from './sample-tree.ts';
import { homesOf, withHome } from './user-data-scene.ts';

describe('ChangeHomeOnUserData', () => {
  it('moves the home with all that is in it', async () => {
    const { daemon, path } = await withHome();
    fillTree(path);
    const before = treeFacts(path);
    const newHome = `${path}-new`;
    mkdirSync(newHome, { mode: 0o755 });
    const answer = await daemon.call('ChangeHomeOnUserData', { home: `${path}/`, newHome: `${newHome}/.` });
    expect(answer.code).toBe(0);
    expect(treeFacts(newHome)).toEqual(before);
    expect(existsSync(path)).toBe(false);
    expect((await homesOf(daemon))[0]?.path).toBe(newHome);
  });

  it('moves it to where names are not ASCII', async () => {
    const { daemon, path } = await withHome();
    writeFileSync(join(path, 'file'), 'content');
    const newHome = join(temporaryFolder(), 'größe');
    mkdirSync(newHome);
    expect(
      (await daemon.call('ChangeHomeOnUserData', { home: path, newHome: join(newHome, 'ada') })).code,
    ).toBe(0);
    expect(readFileSync(join(newHome, 'ada/file'), 'utf8')).toBe('content');
    expect(await daemon.save('after')).toBe('after');
  });

  it('changes nothing when it is there already', async () => {
    const { daemon, path } = await withHome();
    expect(await daemon.call('ChangeHomeOnUserData', { home: path, newHome: path })).toMatchObject({
      code: 0,
      lines: [`the home of ada is at ${path} already`],
    });
  });

  it.each([
    ['a home that is not there', '/home/none', 'NEW', 5],
    ['a folder that is not empty', 'HOME', 'FULL', 9],
    ['another file system', 'HOME', '/dev/shm/croft-test-home', 9],
    ['a name that no file system takes', 'HOME', `PLACE/${'x'.repeat(256)}`, 3],
    ['a place to which links lead in a circle', 'HOME', 'PLACE/circle/new', 9],
    ['itself', 'HOME', 'HOME/sub', 9],
    ['the system', 'HOME', 'TREE', 6],
    ['nothing', 'HOME', '', 3],
  ])('refuses %s, and nothing changes', async (_what, home, newHome, code) => {
    const { daemon, path } = await withHome();
    fillTree(path);
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'full/of'), { recursive: true });
    symlinkSync('circle', join(folder, 'circle'));
    const place = (text: string) =>
      text
        .replace('HOME', path)
        .replace('NEW', join(folder, 'new'))
        .replace('FULL', join(folder, 'full'))
        .replace('PLACE', folder)
        .replace('TREE', daemon.tree);
    const before = [await daemon.dump(), treeFacts(folder), treeFacts(path)];
    const answer = await daemon.call('ChangeHomeOnUserData', { home: place(home), newHome: place(newHome) });
    expect(answer).toMatchObject({ code, order: [] });
    expect([await daemon.dump(), treeFacts(folder), treeFacts(path)]).toEqual(before);
    expect(existsSync('/dev/shm/croft-test-home')).toBe(false);
  });

  it('leaves the empty folder that is there when the home cannot take its place, and nothing changes', async () => {
    const { daemon, path } = await withHome();
    fillTree(path);
    const there = mkdtempSync('/dev/shm/croft-test-');
    onTestFinished(() => rmSync(there, { recursive: true, force: true }));
    chmodSync(there, 0o750);
    const facts = () => [treeFacts(path), treeFacts(there), lstatSync(there).ino];
    const before = [await daemon.dump(), facts()];
    const answer = await daemon.call('ChangeHomeOnUserData', { home: path, newHome: there });
    expect(answer).toMatchObject({ code: 9, order: [] });
    expect(answer.details).toContain('it is on another file system: copy the home there with "cp -a"');
    expect([await daemon.dump(), facts()]).toEqual(before);
  });

  it('says what to do where a disk is mounted, and nothing changes', async (context) => {
    const { daemon, path } = await withHome();
    const disk = temporaryFolder();
    await using _disk = await mountSmallDisk(context, disk, '64k');
    const before = [await daemon.dump(), treeFacts(path)];
    const answer = await daemon.call('ChangeHomeOnUserData', { home: path, newHome: disk });
    expect(answer).toMatchObject({ code: 9, order: [] });
    expect(answer.details).toContain('where a file system is mounted: mount that of the home there, or copy');
    expect([await daemon.dump(), treeFacts(path)]).toEqual(before);
  });

  it.each([
    ['before the folder moved', false],
    ['after the folder moved', true],
  ])('a crash %s is settled at the next start', async (_when, moved) => {
    const { daemon, path, machine } = await withHome();
    writeFileSync(join(path, 'file'), 'content');
    await daemon.service.close(0);
    const to = `${path}-new`;
    const { dev, ino } = lstatSync(path, { bigint: true });
    const moving = { path: to, dev: String(dev), ino: String(ino) };
    const file = join(daemon.folder, 'vault/homes.json');
    const homes = [{ user: 'ada', path, machines: [machine], moving }];
    writeFileSync(file, JSON.stringify({ version: 1, homes }));
    if (moved) renameSync(path, to);
    const again = await startDaemon({ folder: daemon.folder, tree: daemon.tree });
    const home = (await homesOf(again))[0]?.path as string;
    expect(home).toBe(moved ? to : path);
    expect(readFileSync(join(home, 'file'), 'utf8')).toBe('content');
  });
});

it('a home is not moved into itself, and that is said in words', async () => {
  const { daemon, path } = await withHome();
  writeFileSync(join(path, 'file'), 'content');
  const inside = join(path, 'inside');
  const before = [await daemon.dump(), treeFacts(path)];
  for (const [operation, request] of [
    ['CreateUserData', { user: 'ada', homepath: inside }],
    ['ChangeHomeOnUserData', { home: path, newHome: inside }],
  ] as const)
    expect(await daemon.call(operation, request)).toMatchObject({
      code: 9,
      details: `"${inside}" cannot be used for a home: it lies in the home itself: put what is to be the home there, then call CreateUserData with that path`,
    });
  expect([await daemon.dump(), treeFacts(path)]).toEqual(before);
  // As it says.
  mkdirSync(inside);
  writeFileSync(join(inside, 'file'), 'of ada');
  expect((await daemon.call('CreateUserData', { user: 'ada', homepath: inside })).code).toBe(0);
  expect(await homesOf(daemon)).toMatchObject([{ user: 'ada', path: inside }]);
});

it('a home is not moved to where no folder is for it, and that is said in words', async () => {
  const { daemon, path } = await withHome();
  const newHome = join(temporaryFolder(), 'nowhere/ada');
  expect(await daemon.call('ChangeHomeOnUserData', { home: path, newHome })).toMatchObject({
    code: 9,
    details: `"${newHome}" cannot be used for a home: the folder it is to lie in is not there`,
  });
  expect(await homesOf(daemon)).toMatchObject([{ user: 'ada', path }]);
});
