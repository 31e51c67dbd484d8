import { expect, it } from 'vitest';
import type { Entry } from '../../../../model/entry.ts';
import { type RevertStep, stepPath } from './plan-revert.ts';
import { orderSteps } from './revert-order.ts';

const entry = (path: string) => ({ path }) as Entry;
const file = (path: string): RevertStep => ({ do: 'file', entry: entry(path) });
const folder = (path: string): RevertStep => ({ do: 'folder', entry: entry(path) });
const facts = (path: string): RevertStep => ({ do: 'facts', entry: entry(path) });

/** What is done at once, as the paths that each does one after another. */
const order = (steps: readonly RevertStep[]) =>
  orderSteps(steps).map((stays) => stays.map(({ steps: each }) => each.map(stepPath).join()));

it('puts files into several folders at once', () => {
  expect(order([file('a/1'), file('a/2'), file('b/1'), file('c/d/1'), file('a/3')])).toEqual([
    ['a/1,a/2', 'b/1', 'c/d/1', 'a/3'],
  ]);
});

it('lets all else wait for what is before it', () => {
  const steps: RevertStep[] = [
    { do: 'remove', path: 'a/x', folder: false },
    file('a/x/1'),
    folder('b'),
    file('b/1'),
    { do: 'name', entry: entry('b/2'), of: 'b/1' },
    file('c/1'),
    { do: 'link', entry: entry('d/1') },
    file('d/2'),
    facts('b'),
    facts('.'),
  ];
  const paths = ['a/x', 'a/x/1', 'b', 'b/1', 'b/2', 'c/1', 'd/1', 'd/2', 'b', '.'];
  expect(order(steps)).toEqual(paths.map((path) => [path]));
});

it('has no more than eight folders open', () => {
  const steps = Array.from({ length: 20 }, (_, at) => file(`${at}/file`));
  expect(order(steps).map(({ length }) => length)).toEqual([8, 8, 4]);
});

it('tells what belongs to the tree itself from what lies in it', () => {
  expect(orderSteps([facts('a'), facts('.')])).toMatchObject([[{ folder: '.' }], [{ folder: undefined }]]);
});
