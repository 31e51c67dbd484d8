import {
  existsSync,
  mkdirSync,
  promises,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext, vi } from 'vitest';
import { programsIn } from '../src/outside/programs.ts';
import { NestedSubvolumes } from '../src/outside/storage/btrfs/nested-subvolumes.ts';
import { Subvolumes } from '../src/outside/storage/btrfs/subvolumes.ts';
import { SubvolumeSwitch } from '../src/outside/storage/btrfs/switch-subvolumes.ts';
import { type BtrfsImage, btrfs, run } from './drivers/btrfs-image.ts';
import { openHost } from './drivers/fixture.ts';

const create = (path: string) => run('btrfs', 'subvolume', 'create', path);

/** A subvolume in a folder of what was replaced, the folder of that name in the new one, and one of the system. */
async function withNested(context: TestContext) {
  const host = await openHost(context, btrfs);
  const { root } = host.storage as BtrfsImage;
  const at = (name: string) => join(root, name);
  for (const name of ['old', 'new']) create(at(name));
  for (const name of ['old/folder', 'new/folder', '@/etc']) mkdirSync(at(name));
  for (const name of ['old/folder/nested', '@/etc/other']) create(at(name));
  writeFileSync(at('old/folder/nested/file'), 'precious');
  const programs = programsIn(process.env['PATH'] ?? '');
  const subvolumes = new Subvolumes(root, programs);
  const nested = new NestedSubvolumes(subvolumes);
  const swap = (subvolume: string) => {
    renameSync(at(`${subvolume}/folder`), at(`${subvolume}/aside`));
    symlinkSync('../@/etc', at(`${subvolume}/folder`));
  };
  const going = new SubvolumeSwitch(subvolumes, programs);
  return { at, swap, going, move: (below = 'folder/nested') => nested.move([below], 'old', 'new') };
}

/** Something happens right before the place of a subvolume is emptied, when everything was looked at. */
function beforeRmdir(happens: () => void, ofWhat = /./): void {
  const { rmdir } = promises;
  let isDone = false;
  const spy = vi.spyOn(promises, 'rmdir').mockImplementation(async (path) => {
    if (!isDone && ofWhat.test(String(path))) {
      isDone = true;
      happens();
    }
    await rmdir(path);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

describe('attack: a user swaps a folder for a link while a subvolume in it is moved', () => {
  it('of what is new: the subvolume goes where the folder went', async (context) => {
    const { at, swap, move } = await withNested(context);
    const happens = vi.fn<() => void>(() => swap('new'));
    beforeRmdir(happens);
    await move();
    expect(happens).toHaveBeenCalledTimes(1);
    expect(readdirSync(at('@/etc'))).toEqual(['other']);
    expect(readFileSync(at('new/aside/nested/file'), 'utf8')).toBe('precious');
  });

  it('of what was replaced: nothing of the system is moved', async (context) => {
    const { at, swap, move } = await withNested(context);
    renameSync(at('old/folder/nested'), at('old/folder/other'));
    const happens = vi.fn<() => void>(() => swap('old'));
    beforeRmdir(happens);
    await move('folder/other');
    expect(happens).toHaveBeenCalledTimes(1);
    expect(readdirSync(at('@/etc'))).toEqual(['other']);
    expect(readFileSync(at('new/folder/other/file'), 'utf8')).toBe('precious');
  });

  it.for(['old', 'new'])('of %s before, and is told', async (subvolume, context) => {
    const { at, swap, move } = await withNested(context);
    swap(subvolume);
    await expect(move()).rejects.toThrow('the subvolume folder/nested in it would be lost');
    expect(readdirSync(at('@/etc'))).toEqual(['other']);
    const folder = subvolume === 'old' ? 'aside' : 'folder';
    expect(readFileSync(at(`old/${folder}/nested/file`), 'utf8')).toBe('precious');
  });
});

it('a subvolume that was moved, or whose folder is gone, is left alone', async (context) => {
  const { at, move } = await withNested(context);
  await move();
  await move();
  await move('gone/nested');
  expect(readFileSync(at('new/folder/nested/file'), 'utf8')).toBe('precious');
  expect(existsSync(at('new/gone'))).toBe(false);
});

it('what keeps a subvolume from moving keeps nothing from being exchanged, and it moves later', async (context) => {
  const { at, going } = await withNested(context);
  mkdirSync(at('@states/work'), { recursive: true });
  create(at('home'));
  for (const name of ['new', 'home']) {
    writeFileSync(at(`${name}/which`), 'good');
    run('btrfs', 'subvolume', 'snapshot', '-r', at(name), at(`saved-${name}`));
    writeFileSync(at(`${name}/which`), 'bad');
  }
  run('btrfs', 'subvolume', 'delete', at('new'));
  const wishes = [
    { live: 'old', saved: 'saved-new' },
    { live: 'home', saved: 'saved-home' },
  ];
  const inTheWay = at('old/folder/nested/in the way');
  beforeRmdir(() => mkdirSync(inTheWay, { recursive: true }), /nested$/);
  await expect(going.replace(wishes, 'key')).rejects.toThrow('ENOTEMPTY');
  const which = () => ['old', 'home'].map((name) => readFileSync(at(`${name}/which`), 'utf8'));
  expect(which()).toEqual(['good', 'good']);
  // Until it is done, somebody works in what is there now.
  writeFileSync(at('home/which'), 'worked on');
  rmSync(inTheWay, { recursive: true });
  await going.settle();
  expect(which()).toEqual(['good', 'worked on']);
  expect(readFileSync(at('old/folder/nested/file'), 'utf8')).toBe('precious');
  expect(readdirSync(at('@states/work'))).toEqual([]);
});
