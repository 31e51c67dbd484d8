import { describe, expect, it } from 'vitest';
import type { Machine, Model, State } from '../model/model.ts';
import { checkSaveRequest, type Pool, planSave } from './save-plan.ts';

const machine: Machine = {
  id: 'vault:/etc',
  managed: true,
  current: true,
  bootedState: undefined,
  datasets: [
    { name: 'system', role: 'system', path: '/etc' },
    { name: 'boot', role: 'boot', path: '/boot' },
    { name: 'home', role: 'user', path: '/home/ann' },
  ],
};
const taken = (name: string, on = machine.id): State => ({
  id: `id-${name}`,
  machine: on,
  name,
  automatic: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  members: [],
});
const model: Model = {
  machines: [machine],
  states: [taken('mine'), taken('auto_aaaaaa'), taken('theirs', 'vault:/other')],
  removing: new Set(),
};
const request = { stateName: '', updateBootMenu: false, autosave: false };
const choices = {
  id: 'new',
  now: new Date('2026-11-21T10:00:00Z'),
  randomNames: [new Uint8Array(6), Uint8Array.of(1, 1, 1, 1, 1, 1)],
};
const pool = (free: number): Pool => ({ name: 'tank', size: 1000, free });
const plan = (more: object, pools = [pool(900)], percent = 20) =>
  planSave(model, machine, { ...request, ...more }, pools, percent, choices);

describe('planSave', () => {
  it('takes what belongs to the system and leaves homes to their owners', () => {
    expect(plan({ stateName: 'x' })).toEqual({
      id: 'new',
      name: 'x',
      automatic: false,
      machine: 'vault:/etc',
      createdAt: '2026-11-21T10:00:00.000Z',
      datasets: machine.datasets.slice(0, 2),
      budget: 700,
    });
  });

  it('generates a name that is free and marks the state automatic', () => {
    expect(plan({})).toMatchObject({ name: 'auto_bbbbbb', automatic: true });
    expect(plan({ stateName: 'x', autosave: true })).toMatchObject({ name: 'x', automatic: true });
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
