import { describe, expect, it } from 'vitest';
import { aMachine, aModel, aState } from '../../../test/models.ts';
import { findMachine } from '../machines/find-machine.ts';
import { findState } from './find-state.ts';

const state = (id: string, name: string, machine = 'vault:/etc') => aState({ id, name, machine });

const model = aModel({
  machines: [aMachine(), aMachine({ id: 'vault:/srv/etc', current: false })],
  states: [
    state('id-1', 'before-upgrade'),
    state('id-2', 'auto_x7k2m1'),
    state('id-3', 'shared'),
    state('id-4', 'shared', 'vault:/srv/etc'),
    state('id-5', 'upgrade'),
    state('id-6', 'a.b'),
    state('id-7', 'x:b'),
    aState({ id: 'id-8', name: 'before-upgrade', user: 'ann' }),
    aState({ id: 'id-9', name: 'mine', user: 'ann' }),
  ],
});

describe('findState', () => {
  it.each([
    ['id-1', 'id-1'],
    ['vault:/srv/etc@shared', 'id-4'],
    ['x7k2m1', 'id-2'],
    // An exact name is closer than the end of another.
    ['upgrade', 'id-5'],
    ['before-upgrade', 'id-1'],
  ])('finds %s', (wanted, id) => {
    expect(findState(model, { name: wanted, user: undefined }).id).toBe(id);
  });

  it.each([
    ['', 'there is no state'],
    ['7k2m1', 'there is no state'],
    ['grade', 'there is no state'],
    ['-upgrade', 'there is no state'],
    [
      'shared',
      'fits more than one state: vault:/etc@shared (id-3, 2026-11-21T10:00:00.000Z); vault:/srv/etc@shared (id-4',
    ],
    ['b', 'fits more than one state: vault:/etc@a.b'],
    ['vault:/etc', 'is the current state of this machine'],
  ])('refuses %j', (wanted, says) => {
    expect(() => findState(model, { name: wanted, user: undefined })).toThrow(says);
  });
});

it.each([
  [
    'mine',
    undefined,
    'there is no state "mine" of the system, but one of the home of ann: name the user, too',
  ],
  ['a.b', 'ann', 'there is no state "a.b" of the home of ann, but one of the system: name no user'],
  ['befor', undefined, 'there is no state "befor": did you mean before-upgrade?'],
  ['mi', 'ann', 'there is no state "mi": did you mean mine?'],
  ['other', 'ann', 'there is no state "other": MachineShow lists the states with their names'],
  ['', undefined, 'there is no state "": MachineShow lists the states with their names'],
])('says what may be meant by %j of %s', (name, user, says) => {
  expect(() => findState(model, { name, user })).toThrow(expect.objectContaining({ message: says }));
});

describe('findState of a user', () => {
  it.each([
    ['before-upgrade', 'id-8'],
    ['vault:/etc/ann@before-upgrade', 'id-8'],
    ['id-9', 'id-9'],
  ])('finds %s', (name, id) => {
    expect(findState(model, { name, user: 'ann' }).id).toBe(id);
  });

  it.each(['id-1', 'upgrade.x', 'x7k2m1', 'mine '])('does not find %s', (name) => {
    expect(() => findState(model, { name, user: 'ann' })).toThrow('there is no state');
    expect(() => findState(model, { name: 'mine', user: undefined })).toThrow('there is no state');
  });
});

it('says that a state is no machine', () => {
  expect(() => findMachine(model, 'before-upgrade')).toThrow(
    'there is no machine "before-upgrade", but a state: MachineShow with full tells what it holds',
  );
});

describe('findMachine', () => {
  it.each([
    ['', 'vault:/etc'],
    ['vault:/srv/etc', 'vault:/srv/etc'],
    ['srv/etc', 'vault:/srv/etc'],
    ['id-4', 'vault:/srv/etc'],
  ])('finds %j', (wanted, id) => {
    expect(findMachine(model, wanted).id).toBe(id);
  });

  it.each([
    ['tc', 'there is no machine'],
    ['etc', 'fits more than one machine: vault:/etc; vault:/srv/etc'],
  ])('refuses %j', (wanted, says) => {
    expect(() => findMachine(model, wanted)).toThrow(says);
  });
});
