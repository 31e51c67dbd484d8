import { describe, expect, it } from 'vitest';
import { aMachine, aModel, aState } from '../../../test/models.ts';
import type { State } from '../../model/model.ts';
import { checkSaveRequest, type Pool, planSave } from './save-plan.ts';

const machine = aMachine({
  kernel: '6.1',
  datasets: [
    { name: 'system', role: 'system', path: '/etc' },
    { name: 'boot', role: 'boot', path: '/boot' },
  ],
});
const taken = (name: string, more: Partial<State> = {}) => aState({ id: `id-${name}`, name, ...more });
const model = aModel({
  machines: [machine],
  homes: [
    { user: 'ann', path: '/home/ann', machines: ['vault:/other', machine.id] },
    { user: 'bob', path: '/home/bob', machines: ['vault:/other'] },
  ],
  states: [
    taken('mine'),
    taken('auto_aaaaaa'),
    taken('theirs', { machine: 'vault:/other' }),
    taken('anns', { user: 'ann' }),
    taken('bobs', { user: 'bob' }),
  ],
});
const request = { stateName: '', autosave: false, user: undefined };
const choices = () => {
  const ids = ['new', 'new-2', 'new-3'].values();
  return {
    newId: () => ids.next().value as string,
    now: new Date('2026-11-21T10:00:00Z'),
    randomNames: [new Uint8Array(6), Uint8Array.of(1, 1, 1, 1, 1, 1)],
  };
};
const pool = (free: number): Pool => ({ name: 'tank', size: 1000, free });
const plan = (more: object, pools = [pool(900)], percent = 20) =>
  planSave(model, machine, { ...request, ...more }, pools, percent, choices());

describe('planSave', () => {
  it('remembers what was the newest of its series where the clock is behind that', () => {
    const at = (id: string, createdAt: string, more: Partial<State> = {}) =>
      aState({ id, createdAt, ...more });
    const states = [
      at('newest', '2026-11-21T10:00:00.002Z'),
      at('newer', '2026-11-21T10:00:00.001Z'),
      at('other', '2027-01-01T00:00:00.000Z', { machine: 'vault:/other' }),
      at('anns', '2027-01-01T00:00:00.000Z', { user: 'ann' }),
      at('with', '2027-01-01T00:00:00.000Z', { user: 'ann', system: 'newest' }),
    ];
    const afterOf = (user: string | undefined, given: readonly State[]) =>
      planSave(
        aModel({ ...model, states: given }),
        machine,
        { ...request, user },
        [],
        20,
        choices(),
      ).states.map(({ after }) => after);
    expect(afterOf(undefined, states)).toEqual(['newest', undefined]);
    expect(afterOf('ann', states)).toEqual(['anns']);
    expect(afterOf(undefined, [at('before', '2026-11-21T10:00:00.000Z')])).toEqual([undefined, undefined]);
  });

  it('takes the system, and with it the homes that are linked to the machine', () => {
    const common = {
      machine: 'vault:/etc',
      name: 'x',
      automatic: false,
      pinned: false,
      description: '',
      kernel: '6.1',
      createdAt: '2026-11-21T10:00:00.000Z',
    };
    const home = { name: 'home-ann', role: 'user', user: 'ann', path: '/home/ann' };
    expect(plan({ stateName: 'x' })).toEqual({
      id: 'new',
      name: 'x',
      states: [
        { id: 'new', kind: 'system', ...common },
        { id: 'new-2', kind: 'user', user: 'ann', system: 'new', ...common },
      ],
      datasets: [...machine.datasets, home],
      budget: 700,
    });
    expect(plan({ stateName: 'x', user: 'ann' })).toEqual({
      id: 'new',
      name: 'x',
      states: [{ id: 'new', kind: 'user', user: 'ann', ...common }],
      datasets: [home],
      budget: 700,
    });
  });

  it.each(['bob', 'eve', ''])('refuses %j, who has no home on this machine', (user) => {
    expect(() => plan({ stateName: 'x', user })).toThrow('has no home on vault:/etc');
  });

  it('generates a name that is free and marks the state automatic', () => {
    expect(plan({})).toMatchObject({
      name: 'auto_bbbbbb',
      states: [{ automatic: true }, { automatic: true }],
    });
    expect(plan({ stateName: 'x', autosave: true })).toMatchObject({
      name: 'x',
      states: [{ automatic: true }, {}],
    });
  });

  it.each([
    ['mine', undefined, 'a state'],
    ['anns', undefined, 'a state of the home of ann'],
    ['bobs', undefined, 'a state of the home of bob'],
    ['mine', 'ann', 'a state'],
    ['anns', 'ann', 'a state of the home of ann'],
  ])('refuses %s for %s, as %s that it would make another of has it', (stateName, user, whose) => {
    expect(() => plan({ stateName, user })).toThrow(
      new RegExp(`^${whose} named "${stateName}" exists already`),
    );
  });

  it('lets users use the same names', () => {
    expect(plan({ stateName: 'bobs', user: 'ann' }).name).toBe('bobs');
  });

  it('lets machines use the same names', () => {
    expect(plan({ stateName: 'theirs' }).name).toBe('theirs');
    expect(() => plan({ stateName: 'mine' })).toThrow('a state named "mine" exists already on vault:/etc');
  });

  it('may write down to the limit and needs more than it', () => {
    expect(plan({}, [pool(900), pool(201)]).budget).toBe(1);
  });

  it.each([
    [200, 'not enough free space on tank: 200 B (20 %) free, more than 200 B (20 %) needed'],
    [0, 'not enough free space on tank: 0 B (0 %) free'],
  ])('refuses when %d of 1000 are free and 200 are the limit', (free, refusal) => {
    expect(() => plan({}, [pool(900), pool(free)])).toThrow(refusal);
  });
});

describe('checkSaveRequest', () => {
  const unmanaged = { ...machine, managed: false };

  it.each([
    [machine, false, 'save'],
    [machine, true, 'save'],
    [unmanaged, true, 'skip'],
  ])('%#', (on, autosave, decision) => {
    expect(checkSaveRequest({ ...request, autosave }, on)).toBe(decision);
  });

  it('refuses a machine that is not managed, and a bad name before that', () => {
    expect(() => checkSaveRequest(request, unmanaged)).toThrow('this machine is not managed');
    expect(() => checkSaveRequest({ ...request, stateName: '..', autosave: true }, unmanaged)).toThrow(
      'does not start',
    );
  });
});
