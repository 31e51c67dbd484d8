import { expect, it } from 'vitest';
import { type Entry, entriesOf, entryAt, parse, spell, type Tree, textOf } from './tree-entries.ts';

const id = (digit: number) => String.fromCharCode(digit + 1).repeat(20);
const entry = (key: string, digit = 0): Entry => ({
  key,
  mode: key.endsWith('/') ? '40000' : '100644',
  id: id(digit),
});
const treeOf = (entries: readonly Entry[]) => parse(entries.map(spell).join('')) as Tree;

it('a tree is its entries', () => {
  const entries = [entry('a'), entry('a.b'), entry('a/', 1), entry('a0', 2), entry('caf\u00c3\u00a9')];
  const tree = treeOf(entries);
  expect(entriesOf(tree)).toEqual(entries);
  expect(entryAt(tree, 5)).toBeUndefined();
  expect(textOf(tree, 0, 5)).toBe(tree.text);
  expect(entriesOf(treeOf([]))).toEqual([]);
});

const EMPTY_TREE = Buffer.from('4b825dc642cb6eb9a060e54bf8d69288fbee4904', 'hex').toString('latin1');

it.each([
  ['entries in another order', [entry('b'), entry('a')].map(spell).join('')],
  ['a folder sorted as if it were a file', [entry('a/'), entry('a.b')].map(spell).join('')],
  ['the same name twice', [entry('a'), entry('a', 1)].map(spell).join('')],
  ['an empty folder', spell({ ...entry('a/'), id: EMPTY_TREE })],
  ['a mode with a zero before it', `040000 a\0${id(0)}`],
  ['a mode of old times', `100664 a\0${id(0)}`],
  ['a name with a slash', `100644 a/b\0${id(0)}`],
  ['a folder whose name has one', `40000 a/b\0${id(0)}`],
  ['a name that is empty', `100644 \0${id(0)}`],
  ['a folder whose name is empty', `40000 \0${id(0)}`],
  ['no space', `100644\0${id(0)}`],
  ['no end of the name', '100644 a'],
  ['an id that ends too soon', `100644 a\0${id(0).slice(1)}`],
  ['something behind the last entry', `${spell(entry('a'))}1`],
])('%s is not what git writes', (_, text) => {
  expect(parse(text)).toBeUndefined();
});
