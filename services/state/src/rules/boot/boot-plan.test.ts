import { describe, expect, it } from 'vitest';
import { aMachine, aModel, aState } from '../../../test/models.ts';
import type { Member, Preparation } from '../../model/model.ts';
import { planCommitBoot, planPrepareBoot, planRevertRequest } from './boot-plan.ts';
import { parseCommandLine } from './command-line.ts';

const nothing = { state: undefined, users: false, kernel: '' };

describe('parseCommandLine', () => {
  it.each([
    ['', nothing],
    ['ro quiet', nothing],
    ['ro statesvc.state=abc quiet', { ...nothing, state: 'abc' }],
    ['statesvc.state=a statesvc.state=b\n', { ...nothing, state: 'b' }],
    ['statesvc.state= xstatesvc.state=c', nothing],
    ['statesvc.state=a statesvc.revert=userdata', { ...nothing, state: 'a', users: true }],
    ['statesvc.revert=everything', nothing],
    ['BOOT_IMAGE=/boot/vmlinuz-6.1 root=UUID=x=y', { ...nothing, kernel: 'vmlinuz-6.1' }],
    ['BOOT_IMAGE=(hd0,gpt2)/vmlinuz-6.1', { ...nothing, kernel: 'vmlinuz-6.1' }],
  ])('reads %j', (text, expected) => {
    expect(parseCommandLine(text)).toEqual(expected);
  });
});

const system = aState({ id: 's' });
const states = [
  system,
  aState({ id: 'a', user: 'ada', system: 's' }),
  aState({ id: 'b', user: 'bob', system: 's' }),
  aState({ id: 'own', user: 'ada' }),
  aState({ id: 'other', machine: 'vault:/other' }),
];
const homes = [{ user: 'ada', path: '/home/ada', machines: ['vault:/etc'] }];
const model = aModel({ states, homes });
const line = { ...nothing, state: 's' };
const begun: Preparation = {
  boot: 'boot-1',
  state: 's',
  saved: 'before',
  users: false,
  done: false,
  committed: false,
};

describe('planPrepareBoot', () => {
  it('goes back to the state of the command line, with homes only when it says so', () => {
    expect(planPrepareBoot(model, aMachine(), line, 'boot-1')).toEqual({
      do: 'revert',
      state: system,
      states: [system],
      users: false,
      begun: undefined,
    });
    // Of bob there is a state and no home any more.
    expect(planPrepareBoot(model, aMachine(), { ...line, users: true }, 'boot-1')).toMatchObject({
      states: [system, { id: 'a' }],
    });
  });

  it('goes back to the state somebody asked for, unless the command line names another', () => {
    const machine = aMachine({ nextState: 's' });
    expect(planPrepareBoot(model, machine, nothing, 'boot-1')).toMatchObject({ do: 'revert', state: system });
    expect(() => planPrepareBoot(model, machine, { ...line, state: 'none' }, 'boot-1')).toThrow('"none"');
  });

  it('goes back at the boot after the one in which somebody asked for it, with homes only when he said so', () => {
    const machine = aMachine({ nextState: 's', nextRevert: { users: true, askedIn: 'boot-1' } });
    expect(planPrepareBoot(model, machine, nothing, 'boot-1')).toMatchObject({ do: 'nothing' });
    expect(planPrepareBoot(model, machine, nothing, 'boot-2')).toMatchObject({ do: 'revert', users: true });
    // What the loader's menu says of homes counts for what it names.
    expect(planPrepareBoot(model, machine, line, 'boot-2')).toMatchObject({ do: 'revert', users: false });
  });

  it('does nothing where another root would have to run, and says which state was missed', () => {
    const machine = (given: object) =>
      aMachine({ revertTo: null, nextState: 's', nextRevert: { users: true, askedIn: 'boot-1' }, ...given });
    const planned = (given: object, boot: string) =>
      planPrepareBoot(model, machine(given), nothing, boot) as { do: string; missed?: string };
    expect(planned({}, 'boot-1')).toMatchObject({ do: 'nothing', why: expect.stringContaining('next boot') });
    expect(planned({}, 'boot-1').missed).toBeUndefined();
    expect(planned({}, 'boot-2')).toMatchObject({ do: 'nothing', missed: expect.stringContaining('@') });
    expect(planned({ nextState: 'gone' }, 'boot-2')).toMatchObject({ do: 'nothing', missed: 'gone' });
    // What runs now counts, whatever was asked for.
    expect(planned({ revertTo: 's', nextState: 'other' }, 'boot-2')).toMatchObject({ do: 'revert' });
  });

  it.each([
    ['no state is named', aMachine(), nothing],
    ['the machine is not managed', aMachine({ managed: false }), line],
    ['it did so in this boot', aMachine({ prepared: { ...begun, done: true } }), line],
  ])('does nothing when %s', (_what, machine, commandLine) => {
    expect(planPrepareBoot(model, machine, commandLine, 'boot-1').do).toBe('nothing');
  });

  it('goes on with what this boot began, and begins again in the next', () => {
    const machine = aMachine({ prepared: begun });
    expect(planPrepareBoot(model, machine, line, 'boot-1')).toMatchObject({ begun });
    expect(planPrepareBoot(model, machine, line, 'boot-2')).toMatchObject({ begun: undefined });
    const done = aMachine({ prepared: { ...begun, done: true } });
    expect(planPrepareBoot(model, done, line, 'boot-2')).toMatchObject({ do: 'revert', begun: undefined });
  });

  it.each(['none', 'other', 'a', 'own'])('refuses %s, which is no system state of the machine', (state) => {
    expect(() => planPrepareBoot(model, aMachine(), { ...line, state }, 'boot-1')).toThrow(
      `"${state}", which this machine does not have`,
    );
  });

  it('refuses a state that was imported to be looked into', () => {
    const imported = { at: '', id: '', machine: '', bootable: false };
    const foreign = aModel({ states: [{ ...system, imported }] });
    expect(() => planPrepareBoot(foreign, aMachine(), line, 'boot-1')).toThrow('no machine can go back');
    expect(() => planRevertRequest(foreign, aMachine(), system.name)).toThrow('no machine can go back');
    const own = aModel({ states: [{ ...system, imported: { ...imported, bootable: true } }] });
    expect(planPrepareBoot(own, aMachine(), line, 'boot-1')).toMatchObject({ do: 'revert' });
    expect(planRevertRequest(own, aMachine(), system.name)).toMatchObject({ id: system.id });
  });

  it('takes no state whose root is gone where that has to be booted', () => {
    const member = { unreadable: 1 } as Member;
    const damaged = aModel({ states: [{ ...system, members: [member] }] });
    expect(() => planRevertRequest(damaged, aMachine({ revertTo: null }), system.name)).toThrow(
      'the root of',
    );
    expect(planRevertRequest(damaged, aMachine(), system.name)).toMatchObject({ id: system.id });
  });

  it('refuses a state that is being removed', () => {
    const removing = aModel({ states, removing: new Set(['s']) });
    expect(() => planPrepareBoot(removing, aMachine(), line, 'boot-1')).toThrow('does not have');
  });
});

describe('planCommitBoot', () => {
  const booted = { ...nothing, kernel: 'vmlinuz-6.1' };

  it.each([
    ['a new kernel', aMachine({ kernel: 'vmlinuz-6.0' }), booted, true],
    ['the same kernel', aMachine({ kernel: 'vmlinuz-6.1' }), booted, false],
    ['a loader that does not tell', aMachine({ kernel: 'vmlinuz-6.1' }), nothing, false],
    ['the way back', aMachine({ kernel: 'vmlinuz-6.1', prepared: { ...begun, done: true } }), booted, true],
    [
      'a way back that was good already',
      aMachine({ kernel: 'vmlinuz-6.1', prepared: { ...begun, done: true, committed: true } }),
      booted,
      false,
    ],
    ['a machine that is not managed', aMachine({ managed: false }), booted, false],
  ])('%s', (_what, machine, commandLine, changed) => {
    const plan = planCommitBoot(model, machine, commandLine);
    expect(plan).toMatchObject({ kernel: 'vmlinuz-6.1', changed });
  });

  it('refuses while a way back is not at its end', () => {
    expect(() => planCommitBoot(model, aMachine({ prepared: begun }), booted)).toThrow('was interrupted');
  });
});
