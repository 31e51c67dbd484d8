import { expect, it } from 'vitest';
import {
  type Entry,
  entriesOf,
  NO_TREE,
  parse,
  spell,
  type Tree,
} from '../src/outside/git/merging/tree-entries.ts';
import { inStep } from '../src/outside/git/merging/tree-steps.ts';
import { chance } from './histories.ts';

const entry = (place: number, digit: number): Entry => ({
  key: `${place % 3 === 0 ? 'a' : 'b'}${String(place).padStart(3, '0')}${place % 5 === 0 ? '/' : ''}`,
  mode: place % 5 === 0 ? '40000' : '100644',
  id: String(digit).repeat(20),
});
const treeOf = (entries: readonly Entry[]) =>
  parse(
    entries
      .toSorted((one, other) => (one.key < other.key ? -1 : 1))
      .map(spell)
      .join(''),
  ) as Tree;

/** The entry of each tree under each name. */
function sideBySide(trees: readonly Tree[]): (Entry | undefined)[][] {
  const maps = trees.map((tree) => new Map(entriesOf(tree).map((one) => [one.key, one])));
  const keys = new Set(maps.flatMap((map) => [...map.keys()]));
  return [...keys].sort().map((key) => maps.map((map) => map.get(key)));
}

it('every entry of every tree is in its place, and what is passed over was the same in all', () => {
  const random = chance(7);
  const next = (below: number) => Math.floor(random() * below);
  let passed = 0;
  for (let round = 0; round < 400; round++) {
    const size = next(70);
    const changes = next(6);
    const base = Array.from({ length: size }, (_, place) => entry(place, 0));
    const change = () => {
      const entries = new Map(base.map((one) => [one.key, one]));
      for (let turn = 0; turn < changes; turn++) {
        const one = entry(next(80), 1 + next(2));
        if (next(3) === 0) entries.delete(one.key);
        else entries.set(one.key, one);
      }
      return treeOf([...entries.values()]);
    };
    const trees = [next(10) === 0 ? NO_TREE : treeOf(base), change(), change()].slice(next(2));
    const pieces = inStep(trees);
    passed += pieces.filter((piece) => typeof piece === 'string').length;
    const steps = pieces.flatMap((piece) =>
      typeof piece === 'string'
        ? entriesOf(parse(piece) as Tree).map((one) => trees.map(() => one))
        : [piece],
    );
    expect(steps).toEqual(sideBySide(trees));
  }
  expect(passed).toBeGreaterThan(400);
});
