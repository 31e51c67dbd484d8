import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Entry } from '../../../../model/entry.ts';
import { Additions } from '../content/additions.ts';
import { Objects } from '../content/objects.ts';
import { StatCache } from '../content/stat-cache.ts';
import { captureTree } from './capture-tree.ts';
import { entriesOf, manifestPieces, storeManifest } from './manifest.ts';

/** Of what is younger nothing is remembered. */
const AGE_MS = 100;
const NOWHERE = { dev: -1n, ino: -1n };

let folder: string;
let tree: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'croft-capture-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  tree = join(folder, 'tree');
  for (const part of ['tree/sub', 'objects', 'cache']) mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(tree, 'hosts'), 'one');
  writeFileSync(join(tree, 'sub/first'), 'two');
  linkSync(join(tree, 'sub/first'), join(tree, 'second'));
  symlinkSync('hosts', join(tree, 'link'));
});

let saves = 0;

/** Saves the tree as a save of the machine does. */
async function save() {
  const staging = join(folder, `staging-${saves++}`);
  mkdirSync(staging);
  const objects = new Objects(join(folder, 'objects'));
  const additions = new Additions(objects, staging, { budget: Number.POSITIVE_INFINITY });
  const cache = await StatCache.open(join(folder, 'cache'), 'system');
  const { signal } = new AbortController();
  const captured = await captureTree({ root: tree, leaveOut: NOWHERE, additions, cache, signal });
  const text = [...manifestPieces(captured.tree)].join('');
  const isNew = cache.manifest === undefined;
  const stored = await storeManifest(captured.tree, additions, cache);
  const added = readdirSync(staging).length;
  await additions.finish();
  await cache.save();
  const lines = text.trimEnd().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  return { entries, isNew, stored, added, path: objects.pathOf(stored) };
}

const hashes = (entries: readonly Entry[]) =>
  Object.fromEntries(entries.flatMap(({ path, hash }) => (hash === undefined ? [] : [[path, hash]])));

it('an unchanged tree is told by what is remembered, also of files with several names', async () => {
  await sleep(AGE_MS);
  const first = await save();
  const second = await save();
  expect(first).toMatchObject({ isNew: true, added: 3 });
  expect(second).toEqual({ ...first, isNew: false, added: 0 });
  expect(await entriesOf(second.path)).toEqual(second.entries);
  expect(second.entries.map(({ path, type }) => `${type} ${path}`)).toEqual([
    'folder .',
    'file hosts',
    'link link',
    'file second',
    'folder sub',
    'file sub/first',
  ]);
  const [one, other] = ['second', 'sub/first'].map((name) =>
    second.entries.find(({ path }) => path === name),
  );
  expect([one?.inode, one?.hash]).toEqual([other?.inode, other?.hash]);
  expect(one?.inode).toBeDefined();
});

it.each([
  ['long ago', AGE_MS],
  ['just before the save', 0],
])('a file that was written %s and again with its size and time kept is read again', async (_when, age) => {
  const [file, time] = [join(tree, 'hosts'), new Date(1_700_000_000_000)];
  utimesSync(file, time, time);
  await sleep(age);
  const first = await save();
  writeFileSync(file, 'two');
  utimesSync(file, time, time);
  const second = await save();
  expect(hashes(second.entries)).toEqual({
    ...hashes(first.entries),
    hosts: hashes(first.entries)['second'],
  });
  expect(second.stored).not.toBe(first.stored);
  expect(await entriesOf(second.path)).toEqual(second.entries);
});

it('a list of files is made anew when only a folder or a link differs, or the stored one is gone', async () => {
  await sleep(AGE_MS);
  const first = await save();
  rmSync(join(tree, 'link'));
  const second = await save();
  expect(second.entries).toHaveLength(first.entries.length - 1);
  expect(await entriesOf(second.path)).toEqual(second.entries);
  rmSync(second.path);
  const third = await save();
  expect(third).toEqual({ ...second, added: 1 });
  expect(await entriesOf(third.path)).toEqual(second.entries);
});
