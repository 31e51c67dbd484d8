import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import xattr from '@napi-rs/xattr';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, treeFacts } from '../../../../../test/daemon.ts';
import { makeImmutable } from '../../../../../test/make-immutable.ts';
import { aMachine } from '../../../../../test/models.ts';
import { requireAttributes } from '../../../../../test/require-attributes.ts';
import { fillTree } from '../../../../../test/sample-tree.ts';
import type { Entry } from '../../../../model/entry.ts';
import { Objects } from '../content/objects.ts';
import { openVault } from '../vault.ts';
import { entriesOf } from './manifest.ts';
import { planRevert } from './plan-revert.ts';
import { revertTree } from './revert-tree.ts';

/** A tree and a vault, and a way to read the tree's entries and to store its content. */
async function scene() {
  const tree = temporaryFolder();
  const folder = temporaryFolder();
  const vault = await openVault({ folder, machine: aMachine(), leaveOut: folder });
  let saves = 0;
  const save = async (): Promise<Entry[]> => {
    const id = `save-${saves++}`;
    const { members } = await vault.snapshotGroup({
      id,
      datasets: [{ name: 'system', role: 'system', path: tree }],
      budget: Number.POSITIVE_INFINITY,
      signal: new AbortController().signal,
      report: () => {},
    });
    return entriesOf(new Objects(`${folder}/objects`).pathOf(members[0]?.snapshot as string));
  };
  const revert = async (wanted: Entry[]) =>
    revertTree(new Objects(`${folder}/objects`), tree, await save(), wanted);
  return { tree, save, revert, objects: new Objects(`${folder}/objects`) };
}

/** Everything that may become of a tree. */
const CHANGES: [string, (tree: string) => void][] = [
  ['nothing', () => {}],
  ['content', (tree) => writeFileSync(join(tree, 'hosts'), 'other\n')],
  ['a new file', (tree) => writeFileSync(join(tree, 'sub/new'), 'x')],
  [
    'a new folder with something in it',
    (tree) => fillTree(mkdirSync(join(tree, 'new/er'), { recursive: true }) as string),
  ],
  ['a file less', (tree) => rmSync(join(tree, 'large'))],
  ['a folder less', (tree) => rmSync(join(tree, 'sub'), { recursive: true })],
  [
    'everything less',
    (tree) => {
      rmSync(tree, { recursive: true });
      mkdirSync(tree);
    },
  ],
  ['a mode', (tree) => chmodSync(join(tree, 'sub/secret'), 0o644)],
  ['the mode of a folder', (tree) => chmodSync(join(tree, 'sub'), 0o700)],
  ['the mode of the tree itself', (tree) => chmodSync(tree, 0o750)],
  ['a time', (tree) => utimesSync(join(tree, 'empty'), 1, 1)],
  [
    'a link to elsewhere',
    (tree) => {
      rmSync(join(tree, 'broken'));
      symlinkSync('/other', join(tree, 'broken'));
    },
  ],
  [
    'a file for a folder',
    (tree) => {
      rmSync(join(tree, 'sub/deep'), { recursive: true });
      writeFileSync(join(tree, 'sub/deep'), 'a file');
    },
  ],
  [
    'a folder for a file',
    (tree) => {
      rmSync(join(tree, 'empty'));
      mkdirSync(join(tree, 'empty/er'), { recursive: true });
    },
  ],
  [
    'a link for a folder',
    (tree) => {
      renameSync(join(tree, 'sub'), join(tree, 'moved'));
      symlinkSync('moved', join(tree, 'sub'));
    },
  ],
  [
    'two names made one file',
    (tree) => {
      rmSync(join(tree, 'large'));
      linkSync(join(tree, 'empty'), join(tree, 'large'));
    },
  ],
  [
    'one file made two',
    (tree) => {
      rmSync(join(tree, 'sub/hosts-too'));
      writeFileSync(join(tree, 'sub/hosts-too'), readFileSync(join(tree, 'hosts')));
    },
  ],
  [
    'the other name of a file written to',
    (tree) => writeFileSync(join(tree, 'sub/hosts-too'), 'through the other'),
  ],
  ['the first name of a file gone', (tree) => rmSync(join(tree, 'hosts'))],
];

describe('revertTree', () => {
  it.each(CHANGES)('brings back the tree after: %s', async (_what, change) => {
    const { tree, save, revert } = await scene();
    fillTree(tree);
    const before = treeFacts(tree);
    const wanted = await save();
    change(tree);
    expect(await revert(wanted)).toEqual([]);
    expect(treeFacts(tree)).toEqual(before);
    // And once more there is nothing to do.
    expect(planRevert(await save(), wanted)).toEqual({ steps: [], problems: [] });
  });

  it.each([
    ['one file now', { a: 'a', b: 'a', c: 'a', d: 'a' }],
    ['joined crosswise', { a: 'a', c: 'a', b: 'b', d: 'b' }],
  ])('tells files of two names each apart that are %s', async (_what, now) => {
    const { tree, save, revert } = await scene();
    const at = (name: string) => join(tree, name);
    for (const name of ['a', 'c']) {
      writeFileSync(at(name), 'equal');
      utimesSync(at(name), 1, 1);
    }
    linkSync(at('a'), at('b'));
    linkSync(at('c'), at('d'));
    const [wanted, before] = [await save(), treeFacts(tree)];
    // As programs do that save space.
    rmSync(at('b'));
    writeFileSync(at('b'), 'equal');
    utimesSync(at('b'), 1, 1);
    for (const [name, of] of Object.entries(now)) {
      if (name === of) continue;
      rmSync(at(name));
      linkSync(at(of), at(name));
    }
    expect(await revert(wanted)).toEqual([]);
    expect(treeFacts(tree)).toEqual(before);
    expect(planRevert(await save(), wanted)).toEqual({ steps: [], problems: [] });
  });

  it('leaves extended attributes alone where nobody read those of the state', async (context) => {
    requireAttributes(context);
    const { tree, save, revert } = await scene();
    fillTree(tree);
    xattr.setAttributeSync(join(tree, 'hosts'), 'user.note', 'now');
    const wanted = (await save()).map(({ attributes: _attributes, ...entry }) => entry);
    expect(planRevert(await save(), wanted).steps).toEqual([]);
    writeFileSync(join(tree, 'hosts'), 'other');
    expect(await revert(wanted)).toEqual([]);
    expect(xattr.getAttributeSync(join(tree, 'hosts'), 'user.note')?.toString()).toBe('now');
  });

  it('lets the group do nothing where nobody knows who else may do what', async () => {
    const { tree, save, revert } = await scene();
    fillTree(tree);
    chmodSync(join(tree, 'hosts'), 0o664);
    const wanted = (await save()).map(
      (entry): Entry => (entry.path === 'hosts' ? { ...entry, bare: true } : entry),
    );
    writeFileSync(join(tree, 'hosts'), 'other');
    expect(await revert(wanted)).toEqual([]);
    expect(statSync(join(tree, 'hosts')).mode & 0o777).toBe(0o604);
  });

  it('leaves files that the save before could not take where they are', async () => {
    const { tree, save, revert } = await scene();
    fillTree(tree);
    const [wanted, before] = [await save(), treeFacts(tree)];
    mkdirSync(join(tree, 'machines'));
    for (const name of ['machines/vm.img', 'large']) {
      writeFileSync(join(tree, name), 'disk');
      truncateSync(join(tree, name), 5 * 1024 ** 3);
    }
    writeFileSync(join(tree, 'machines/notes'), '');
    expect(await revert(wanted)).toEqual([
      'machines stays: another file system, the states, or what cannot be read, are in it',
      'machines/vm.img stays as it is: it could not be saved (EFBIG)',
      'large stays as it is: it could not be saved (EFBIG)',
    ]);
    for (const name of ['machines/vm.img', 'large']) {
      expect(statSync(join(tree, name)).size).toBe(5 * 1024 ** 3);
      const fd = openSync(join(tree, name), 'r');
      const first = Buffer.alloc(4);
      readSync(fd, first);
      closeSync(fd);
      expect(first.toString()).toBe('disk');
    }
    expect(existsSync(join(tree, 'machines/notes'))).toBe(false);
    // Once they are gone, doing it again finishes it.
    for (const name of ['machines/vm.img', 'large']) rmSync(join(tree, name));
    expect(await revert(wanted)).toEqual([]);
    expect(treeFacts(tree)).toEqual(before);
  });

  it('touches nothing that is the same', async () => {
    const { tree, save } = await scene();
    fillTree(tree);
    const wanted = await save();
    writeFileSync(join(tree, 'hosts'), 'other');
    const { steps } = planRevert(await save(), wanted);
    expect(steps.map((step) => [step.do, step.do === 'remove' ? step.path : step.entry.path])).toEqual([
      ['file', 'hosts'],
      ['name', 'sub/hosts-too'],
      ['facts', 'sub'],
      ['facts', '.'],
    ]);
  });

  it('breaks off at what is damaged with every file as a whole, and goes on when that is mended', async () => {
    const { tree, save, revert, objects } = await scene();
    const names = Array.from({ length: 20 }, (_, at) => `${at}/file`);
    for (const name of names) mkdirSync(join(tree, name, '..'));
    const write = (text: string) => {
      for (const name of names) writeFileSync(join(tree, name), `${text} ${name}`);
    };
    write('good');
    const wanted = await save();
    const saved = treeFacts(tree);
    write('bad');
    const object = objects.pathOf(wanted.find(({ path }) => path === '11/file')?.hash ?? '');
    writeFileSync(object, 'damaged');
    await expect(revert(wanted)).rejects.toThrow(/11\/file.*damaged/);
    const held = names.map((name) => readFileSync(join(tree, name), 'utf8').replace(` ${name}`, ''));
    expect(new Set(held)).toEqual(new Set(['good', 'bad']));
    expect([held[0], held[11], held[19]]).toEqual(['good', 'bad', 'bad']);
    expect(readdirSync(tree, { recursive: true }).filter((name) => String(name).includes('.croft-'))).toEqual(
      [],
    );
    writeFileSync(object, 'good 11/file');
    expect(await revert(wanted)).toEqual([]);
    expect(treeFacts(tree)).toEqual(saved);
  });

  it('does not write through a link that was put in the place of a folder meanwhile', async () => {
    const { tree, save, objects } = await scene();
    const outside = temporaryFolder();
    fillTree(tree);
    const wanted = await save();
    writeFileSync(join(tree, 'sub/secret'), 'changed');
    const present = await save();
    renameSync(join(tree, 'sub'), join(tree, 'moved'));
    symlinkSync(outside, join(tree, 'sub'));
    await expect(revertTree(objects, tree, present, wanted)).rejects.toThrow(/ENOTDIR|ELOOP/);
    expect(treeFacts(outside)).toEqual({ '': expect.any(String) });
  });

  it('is not stopped by what was to go and went by itself', async () => {
    const { tree, save, objects } = await scene();
    fillTree(tree);
    const [wanted, before] = [await save(), treeFacts(tree)];
    writeFileSync(join(tree, 'sub/new'), 'x');
    mkdirSync(join(tree, 'folder'));
    const present = await save();
    rmSync(join(tree, 'sub/new'));
    rmSync(join(tree, 'folder'), { recursive: true });
    expect(await revertTree(objects, tree, present, wanted)).toEqual([]);
    expect(treeFacts(tree)).toEqual(before);
  });

  it('makes a folder again that vanished while what is there was saved', async () => {
    const { tree, save, objects } = await scene();
    fillTree(tree);
    const [wanted, before] = [await save(), treeFacts(tree)];
    // As a save finds it: listed with its folder, and gone when it is opened.
    const present = (await save())
      .filter(({ path }) => !path.startsWith('sub/'))
      .map((entry) => (entry.path === 'sub' ? { ...entry, unreadable: 'ENOENT' } : entry));
    rmSync(join(tree, 'sub'), { recursive: true });
    expect(await revertTree(objects, tree, present, wanted)).toEqual([]);
    expect(treeFacts(tree)).toEqual(before);
  });

  it.each([
    ['a link for a folder', 'ENOTDIR', (sub: string) => symlinkSync('/', sub)],
    ['no folder', 'ENOENT', () => {}],
  ])(
    'breaks off where somebody puts %s meanwhile, says so, and goes on when asked again',
    async (_what, code, put) => {
      const { tree, save, revert, objects } = await scene();
      fillTree(tree);
      const [wanted, before] = [await save(), treeFacts(tree)];
      writeFileSync(join(tree, 'sub/new'), 'x');
      const present = await save();
      renameSync(join(tree, 'sub'), join(tree, 'moved'));
      put(join(tree, 'sub'));
      await expect(revertTree(objects, tree, present, wanted)).rejects.toMatchObject({
        code: 'tree_changed',
        message: expect.stringContaining(`${tree}/sub while the machine goes back to a state (${code})`),
      });
      expect(readFileSync(join(tree, 'moved/new'), 'utf8')).toBe('x');
      expect(await revert(wanted)).toEqual([]);
      expect(treeFacts(tree)).toEqual(before);
    },
  );

  it('gives no mode to what a link that was put in the place of a file leads to', async () => {
    const { tree, save, objects } = await scene();
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'victim'), '', { mode: 0o600 });
    writeFileSync(join(tree, 'file'), '');
    chmodSync(join(tree, 'file'), 0o4755);
    const wanted = await save();
    chmodSync(join(tree, 'file'), 0o600);
    const present = await save();
    rmSync(join(tree, 'file'));
    symlinkSync(join(outside, 'victim'), join(tree, 'file'));
    const before = treeFacts(outside);
    await revertTree(objects, tree, present, wanted);
    expect(treeFacts(outside)).toEqual(before);
    expect(lstatSync(join(tree, 'file')).mode & 0o7777).toBe(0o4755);
  });
});

describe.skipIf(process.getuid?.() !== 0)('what is immutable', () => {
  it.for<[string, (tree: string) => string, readonly string[]]>([
    [
      'a file in the place of one with another name',
      (tree) => {
        rmSync(join(tree, 'hosts'));
        writeFileSync(join(tree, 'hosts'), 'other');
        rmSync(join(tree, 'sub/hosts-too'));
        return join(tree, 'hosts');
      },
      ['hosts'],
    ],
    [
      'a file in folders that were not there',
      (tree) => {
        mkdirSync(join(tree, 'new/er'), { recursive: true });
        writeFileSync(join(tree, 'new/er/file'), '');
        writeFileSync(join(tree, 'new/other'), '');
        return join(tree, 'new/er/file');
      },
      ['new/er/file'],
    ],
    [
      'a folder that folders were in',
      (tree) => {
        rmSync(join(tree, 'sub/deep'), { recursive: true });
        return join(tree, 'sub');
      },
      ['sub/deep', 'sub'],
    ],
  ])('stays, is told, and keeps nothing else from going back: %s', async ([_what, change, told], context) => {
    const { tree, save, revert } = await scene();
    fillTree(tree);
    const [wanted, before] = [await save(), treeFacts(tree)];
    rmSync(join(tree, 'large'));
    writeFileSync(join(tree, 'too-much'), '');
    const undo = makeImmutable(context, change(tree));
    expect(await revert(wanted)).toEqual(
      told.map(
        (path) => `${path} stays as it is: the system does not let it be changed (EPERM), see lsattr(1)`,
      ),
    );
    const after = treeFacts(tree);
    expect(after['/large']).toBe(before['/large']);
    expect(readFileSync(join(tree, 'sub/hosts-too'), 'utf8')).toBe('127.0.0.1 localhost\n');
    expect([existsSync(join(tree, 'too-much')), existsSync(join(tree, 'new/other'))]).toEqual([false, false]);
    // Once it may be changed, doing it again finishes it.
    undo();
    expect(await revert(wanted)).toEqual([]);
    expect(treeFacts(tree)).toEqual(before);
  });
});
