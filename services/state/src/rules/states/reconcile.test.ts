import { expect, it } from 'vitest';
import { aState } from '../../../test/models.ts';
import type { State } from '../../model/model.ts';
import { type Intent, reconcile } from './reconcile.ts';

const state = (id: string) => aState({ id, machine: 'm', name: `n-${id}` });
const [a, b] = [state('a'), state('b')];
const hurt: State = {
  ...a,
  members: [
    {
      dataset: 'system',
      role: 'system',
      path: '/',
      guid: 'g',
      snapshot: 's',
      entries: 1,
      bytes: 1,
      unreadable: 1,
      torn: 0,
    },
  ],
};
const save = (id: string): Intent => ({ do: 'save', id });
const ofA = aState({ id: 'u', user: 'ada', system: 'a' });
const remove = (id: string): Intent => ({ do: 'remove', id });
const CLONES = [{ name: 'pool/clone', guid: '1' }];

it.each<[string, Parameters<typeof reconcile>, Partial<ReturnType<typeof reconcile>>]>([
  [
    'nothing happened',
    [[a], [], [a], []],
    { states: [a], discard: [], finish: [], collect: false, notes: [] },
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
    { states: [a], finish: [{ ids: ['b'], dependants: [], states: [b] }], collect: true },
  ],
  [
    'killed while freeing content',
    [[a, b], [remove('b')], [a], []],
    { states: [a], finish: [], collect: true, notes: [] },
  ],
  [
    'killed between the mark of a save with users and the journal',
    [[], [save('a')], [a, ofA], []],
    { states: [a, ofA], discard: [], notes: [] },
  ],
  [
    'killed while removing a system state with its users',
    [[a, ofA], [{ ...remove('a'), ids: ['a', 'u'] }], [a, ofA], []],
    { states: [], finish: [{ ids: ['a', 'u'], dependants: [], states: [a, ofA] }] },
  ],
  [
    'killed in a removal of what was cloned, when one state was gone, and in another one',
    [[a, b, ofA], [{ ...remove('b'), ids: ['b', 'a'], dependants: CLONES }, remove('u')], [a, ofA], []],
    {
      states: [],
      finish: [
        { ids: ['b', 'a'], dependants: CLONES, states: [a] },
        { ids: ['u'], dependants: [], states: [ofA] },
      ],
    },
  ],
  ['staging without an intent', [[], [], [], ['x']], { discard: ['x'], collect: true }],
  [
    'removed by hand',
    [[a, b], [], [a], []],
    { states: [a], collect: true, notes: ['m@n-b (b) is no longer in the storage and was forgotten'] },
  ],
  [
    'hurt by hand',
    [[a], [], [hurt], []],
    { states: [hurt], collect: false, notes: ['m@n-a (a) is no longer whole in the storage'] },
  ],
  ['hurt for long', [[hurt], [], [hurt], []], { states: [hurt], notes: [] }],
  [
    'an index that was lost',
    [[], [], [a], []],
    { states: [a], discard: [], notes: ['m@n-a (a) was found in the storage'] },
  ],
])('%s', (_what, given, expected) => {
  expect(reconcile(...given)).toMatchObject(expected);
});
