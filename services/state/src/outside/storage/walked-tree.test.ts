import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDaemon } from '../../../test/daemon.ts';
import { fillTree } from '../../../test/sample-tree.ts';
import type { Entry } from '../../model/entry.ts';
import { comparePaths } from '../../model/path-order.ts';
import { entriesOf } from './vault/trees/manifest.ts';
import { walkedTree } from './walked-tree.ts';

const signal = new AbortController().signal;

async function walk(root: string): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const entries of walkedTree(root).entries(signal)) all.push(...entries);
  return all;
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'croft-walk-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const descriptors = () => readdirSync('/proc/self/fd').length;

describe('walkedTree', () => {
  it('finds what a save finds, in its order, without reading files', async () => {
    const daemon = await startDaemon();
    fillTree(daemon.tree);
    await daemon.save('one');
    const { machines, storage } = await daemon.dump();
    const hash = machines[0]?.states[0]?.members[0]?.snapshot as string;
    const saved = await entriesOf(join(storage.location, 'objects', hash.slice(0, 2), hash.slice(2)));
    const walked = await walk(daemon.tree);
    expect(walked).toEqual(
      saved.map(
        ({ attributes: _attributes, hash: _hash, inode: _inode, sparse: _sparse, ...entry }) => entry,
      ),
    );
    expect(walked.map(({ path }) => path)).toEqual(saved.map(({ path }) => path).toSorted(comparePaths));
    const tree = walkedTree(daemon.tree);
    for (const entry of saved)
      if (entry.type === 'file') expect(await tree.hash(entry, signal)).toBe(entry.hash);
  });

  it('closes what it has open when its reader stops early', async () => {
    const root = folder();
    mkdirSync(join(root, 'a/b/c/d'), { recursive: true });
    for (let at = 0; at < 2000; at++) writeFileSync(join(root, `a/b/c/d/${at}`), '');
    const before = descriptors();
    for await (const entries of walkedTree(root).entries(signal)) {
      expect(descriptors()).toBeGreaterThan(before);
      expect(entries.length).toBeGreaterThan(100);
      break;
    }
    expect(descriptors()).toBe(before);
  });

  it('says of what is too deep for any path that it is not looked into', async () => {
    const root = folder();
    const chain = (levels: number) => Array(levels).fill('d').join('/');
    mkdirSync(join(root, chain(1900)), { recursive: true });
    mkdirSync(join(root, 'top', chain(1900)), { recursive: true });
    // No path reaches so far, so it is put together.
    renameSync(join(root, 'd'), join(root, 'top', chain(1900), 'd'));
    const entries = await walk(root);
    expect(entries.at(-1)).toMatchObject({ type: 'folder', unreadable: 'ENAMETOOLONG' });
    expect(entries.length).toBeLessThan(1800);
    // So that it can be removed.
    renameSync(join(root, 'top', chain(1900), 'd'), join(root, 'd'));
  });

  it('never leaves its folder for what lies behind a link', async () => {
    const root = folder();
    writeFileSync(join(root, 'file'), 'x');
    const tree = walkedTree(join(root, 'inside'));
    mkdirSync(join(root, 'inside'));
    const entry: Entry = { path: 'file', type: 'file', mode: '644', uid: 0, gid: 0, mtimeNs: '0' };
    symlinkSync('..', join(root, 'inside/up'));
    symlinkSync('../file', join(root, 'inside/file'));
    expect(await tree.hash(entry, signal)).toBeUndefined();
    expect(await tree.hash({ ...entry, path: 'up/file' }, signal)).toBeUndefined();
  });
});
