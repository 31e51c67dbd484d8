import { describe, expect, it } from 'vitest';
import { aModel, aState } from '../../../test/models.ts';
import { planRemoval } from './remove-plan.ts';

const base = aState({ id: 'base', name: 'base' });
const system = aState({ id: 'later', name: 'later' });
const home = aState({ id: 'home', name: 'later', user: 'ada', system: 'later' });
const snapshots = (id: string) => [
  {
    dataset: id,
    role: 'system' as const,
    path: '/',
    guid: id,
    snapshot: `pool/${id}@x`,
    entries: 0,
    bytes: 0,
    unreadable: 0,
    torn: 0,
  },
];
const states = [base, system, home].map((state) => ({ ...state, members: snapshots(state.id) }));
const dependant = (name: string, inUse = false) => ({ name, kind: 'clone', inUse });
const plan = (force: boolean, dependants: readonly ReturnType<typeof dependant>[]) =>
  planRemoval(aModel({ states }), { name: 'base', user: undefined }, force, dependants);

describe('what was made from a state', () => {
  const all = [
    dependant('pool/second'),
    dependant('pool/later@x'),
    dependant('pool/home@x'),
    dependant('pool/clone'),
  ];

  it('is in the way without force, one line each', () => {
    const { inTheWay } = plan(false, all);
    expect(inTheWay).toHaveLength(3);
    expect(inTheWay[0]).toContain('pool/second');
  });

  it('goes with it by force as one write, in the order that the storage gave, states as a whole', () => {
    const { steps, inTheWay } = plan(true, all);
    expect(inTheWay).toEqual([]);
    expect(steps.map((step) => (step.do === 'destroy' ? step.states.map(({ id }) => id) : step.do))).toEqual([
      'release',
      ['later', 'home'],
      'release',
      ['base'],
      'collect',
      'forget',
    ]);
  });

  it('keeps it, force or not, when it is in use', () => {
    for (const force of [false, true])
      expect(() => plan(force, [dependant('pool/clone', true)])).toThrow(
        'pool/clone was made from it and is in use',
      );
  });

  it('keeps it when a state that would go is the one that was booted', () => {
    const machines = aModel().machines.map((machine) => ({ ...machine, bootedState: 'later' }));
    expect(() =>
      planRemoval(aModel({ states, machines }), { name: 'base', user: undefined }, true, [
        dependant('pool/later@x'),
      ]),
    ).toThrow('cannot be removed, not even with force');
  });
});

it.each([
  ['base', undefined],
  // A user's goes with the system's.
  ['later', 'ada'],
])('keeps %s of %s when the next boot goes back to it, and says how that is taken back', (name, user) => {
  const nextState = user === undefined ? 'base' : 'later';
  const machines = aModel().machines.map((machine) => ({ ...machine, nextState }));
  for (const force of [false, true])
    expect(() => planRemoval(aModel({ states, machines }), { name, user }, force)).toThrow(
      new RegExp(`the next boot goes back to "${name}".*: CancelRevert`),
    );
  const both = machines.map((machine) => ({ ...machine, bootedState: nextState }));
  expect(() => planRemoval(aModel({ states, machines: both }), { name, user }, true)).toThrow(
    'is the current state',
  );
});

describe('what is being removed', () => {
  const given = aModel({
    states,
    removing: new Set(['base', 'later', 'home']),
    removals: [['later', 'home', 'base']],
  });
  const named = (name: string, force: boolean) =>
    planRemoval(given, { name, user: undefined }, force).parts.map((part) =>
      'name' in part ? part.name : part.map(({ id }) => id),
    );

  it('is not removed a second time without force', () => {
    expect(() => named('base', false)).toThrow(
      'is being removed already. If that has stopped, ask again with force',
    );
  });

  it('goes by force with all that is left of its removal, whichever of it is named', () => {
    const all = [['base'], ['later', 'home']];
    expect(named('base', true)).toEqual(all);
    expect(named('later', true)).toEqual(all);
  });

  it('leaves what another removal takes', () => {
    const other = {
      ...given,
      removals: [
        ['gone', 'base'],
        ['later', 'home'],
      ],
    };
    expect(planRemoval(other, { name: 'base', user: undefined }, true).parts).toEqual([[states[0]]]);
  });
});
