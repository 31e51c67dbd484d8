import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../model/entry.ts';
import { comparePaths } from '../model/path-order.ts';
import { pathText } from '../model/path-text.ts';
import { mergeEntries } from './merge-entries.ts';

const base = { mode: '644', uid: 0, gid: 0, mtimeNs: '1' } as const;

/** Trees as nested records; names are few, so that two trees meet often, and have what sorts badly in them. */
const names = fc
  .constantFrom('a', 'a-', 'a.', 'b', 'é', '\xff', '%', '\n', '0')
  .map((name) => pathText(Buffer.from(name, 'latin1').toString('latin1')));
const { tree } = fc.letrec<{ tree: Node }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('file' as const),
    fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
  ),
}));
type Node = 'file' | { readonly [name: string]: Node };

/** As a walk gives it. */
function entriesOf(node: Node, path = '.'): Entry[] {
  if (node === 'file') return [{ ...base, path, type: 'file' }];
  const children = Object.keys(node).map((name) => (path === '.' ? name : `${path}/${name}`));
  return [
    { ...base, path, type: 'folder' },
    ...children
      .toSorted(comparePaths)
      .flatMap((child) => entriesOf(node[child.slice(child.lastIndexOf('/') + 1)] as Node, child)),
  ];
}

async function* batches(entries: readonly Entry[], size: number): AsyncGenerator<readonly Entry[]> {
  for (let at = 0; at < entries.length; at += size) yield entries.slice(at, at + size);
}

async function merged(one: readonly Entry[], other: readonly Entry[], size = 3) {
  const pairs: { path: string; one: boolean; other: boolean }[] = [];
  for await (const pair of mergeEntries(batches(one, size), batches(other, size + 1)))
    pairs.push({ path: pair.path, one: pair.one !== undefined, other: pair.other !== undefined });
  return pairs;
}

describe('mergeEntries', () => {
  it('pairs what two trees have at each path, in the order of a walk', async () => {
    await fc.assert(
      fc.asyncProperty(tree, tree, fc.integer({ min: 1, max: 5 }), async (left, right, size) => {
        const [one, other] = [entriesOf(left), entriesOf(right)];
        const [ones, others] = [one, other].map((entries) => new Set(entries.map(({ path }) => path)));
        const paths = [...new Set([...one, ...other].map(({ path }) => path))].toSorted(comparePaths);
        expect(await merged(one, other, size)).toEqual(
          paths.map((path) => ({ path, one: ones?.has(path), other: others?.has(path) })),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('the order of paths is that of a walk, whatever is in the names', () => {
    fc.assert(
      fc.property(tree, (node) => {
        const paths = entriesOf(node).map(({ path }) => path);
        expect(paths).toEqual(paths.toSorted(comparePaths));
      }),
    );
  });

  it('says nothing of what is in a folder that one side does not know', async () => {
    const closed: Entry[] = [
      { ...base, path: '.', type: 'folder' },
      { ...base, path: 'a', type: 'folder', unreadable: 'EACCES' },
      { ...base, path: 'a-', type: 'file' },
    ];
    const open = entriesOf({ a: { b: 'file', c: { d: 'file' } }, 'a-': 'file' });
    const paths = ['.', 'a', 'a-'].map((path) => ({ path, one: true, other: true }));
    expect(await merged(closed, open)).toEqual(paths);
    expect(await merged(open, closed)).toEqual(paths);
  });

  it('refuses a tree that is not in order', async () => {
    const [folder, a, b] = entriesOf({ a: 'file', b: 'file' }) as [Entry, Entry, Entry];
    for (const entries of [
      [folder, b, a],
      [folder, a, a],
      [a, folder],
    ])
      await expect(merged(entries, [])).rejects.toMatchObject({ code: 'content_damaged' });
  });
});
