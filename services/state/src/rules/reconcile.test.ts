import { expect, it } from 'vitest';
import { aState } from '../../test/models.ts';
import { type Intent, reconcile } from './reconcile.ts';

const state = (id: string) => aState({ id, machine: 'm', name: `n-${id}` });
const [a, b] = [state('a'), state('b')];
const save = (id: string): Intent => ({ do: 'save', id });
const ofA = aState({ id: 'u', user: 'ada', system: 'a' });
const remove = (id: string): Intent => ({ do: 'remove', id });

it.each<[string, Parameters<typeof reconcile>, Partial<ReturnType<typeof reconcile>>]>([
  [
    'nothing happened',
    [[a], [], [a], []],
    { states: [a], discard: [], destroy: [], collect: false, notes: [] },
  ],
  ['killed before the mark', [[a], [save('b')], [a], ['b']], { states: [a], discard: ['b'], collect: true }],
  [
    'killed before anything was written',
    [[], [save('b')], [], []],
    { states: [], discard: ['b'], collect: true },
  ],
  [
    'killed between mark and journal',
    [[a], [save('b')], [b, a], []],
    { states: [b, a], discard: [], notes: [] },
  ],
  [
    'killed while removing',
    [[a, b], [remove('b')], [b, a], []],
    { states: [a], destroy: [b], collect: true },
  ],
  [
    'killed while freeing content',
    [[a, b], [remove('b')], [a], []],
    { states: [a], destroy: [], collect: true, notes: [] },
  ],
  [
    'killed between the mark of a save with users and the journal',
    [[], [save('a')], [a, ofA], []],
    { states: [a, ofA], discard: [], notes: [] },
  ],
  [
    'killed while removing a system state with its users',
    [[a, ofA], [{ ...remove('a'), ids: ['a', 'u'] }], [a, ofA], []],
    { states: [], destroy: [a, ofA] },
  ],
  ['staging without an intent', [[], [], [], ['x']], { discard: ['x'], collect: true }],
  [
    'removed by hand',
    [[a, b], [], [a], []],
    { states: [a], notes: ['m@n-b (b) is no longer in the storage and was forgotten'] },
  ],
  [
    'an index that was lost',
    [[], [], [a], []],
    { states: [a], discard: [], notes: ['m@n-a (a) was found in the storage'] },
  ],
])('%s', (_what, given, expected) => {
  expect(reconcile(...given)).toMatchObject(expected);
});
