import { describe, expect, it } from 'vitest';
import { aMachine, aModel, aState } from '../../../test/models.ts';
import type { State } from '../../model/model.ts';
import { type Kernel, type MenuFacts, menuStates, planMenu, stateEntry, wordsFor } from './boot-menu.ts';
import { entryText } from './entry-text.ts';
import { grubText } from './grub-text.ts';

const kernel = (name: string): Kernel => ({ name, linux: `/boot/${name}`, initrd: `/boot/initrd-${name}` });
const kernels = ['vmlinuz-6.9', 'vmlinuz-6.10', 'vmlinuz-5.10'].map(kernel);
const facts = {
  system: 'Debian',
  kernels,
  commandLine: 'BOOT_IMAGE=/vmlinuz root=UUID=1 ro statesvc.state=old quiet',
};
const limits = { states: 20, entries: 60 };
const many = (count: number, more: (at: number) => Partial<State> = () => ({})) =>
  Array.from({ length: count }, (_, at) => aState({ id: `s${at}`, name: `n${at}`, ...more(at) }));
const plan = (states: State[], within = limits, on: MenuFacts = facts) =>
  planMenu(aModel({ states }), aMachine(), within, on);
const idsOf = (states: State[], within: typeof limits) =>
  plan(states, within).entries.map(({ id }) => id.slice(6));

it('does not offer what was imported to be looked into', () => {
  const imported = { at: '', id: '', machine: '' };
  const bootable = [false, true, undefined];
  const states = many(3, (at) => ({
    imported: { ...imported, ...(bootable[at] === undefined ? {} : { bootable: bootable[at] }) },
  }));
  expect(idsOf(states, limits)).toEqual(['s1', 's2']);
});

it('finds the way back to a state, with homes only where there are any', () => {
  const states = [...many(2), aState({ id: 'a', user: 'ada', system: 's0' })];
  const { entries } = plan(states);
  const found = (state: string, users: boolean) => stateEntry(entries, state, users)?.id;
  expect([found('s0', false), found('s0', true)]).toEqual(['croft-s0', 'croft-s0-users']);
  expect([found('s1', true), found('none', true)]).toEqual(['croft-s1', undefined]);
});

describe('wordsFor', () => {
  it.each([
    ['root=UUID=1 ro', ['statesvc.state=s'], 'root=UUID=1 ro statesvc.state=s'],
    ['root=UUID=1 ro', ['rootflags=subvol=@s'], 'root=UUID=1 ro rootflags=subvol=@s'],
    ['rootflags=subvol=@,compress=zstd ro', ['rootflags=subvol=@s'], 'ro rootflags=subvol=@s,compress=zstd'],
    ['rootflags=noatime,subvolid=256 ro', ['rootflags=subvol=@s'], 'ro rootflags=subvol=@s,noatime'],
    ['rootflags=noatime root=ZFS=a ro', ['root=ZFS=b@c'], 'ro root=ZFS=b@c'],
  ])('%s with %j is %s', (words, own, expected) => {
    expect(wordsFor(`BOOT_IMAGE=/vmlinuz initrd=x ${words} statesvc.state=old`, own).join(' ')).toBe(
      expected,
    );
  });

  it('gives each entry the words of its state', () => {
    const bootWords = new Map([['s1', ['rootflags=subvol=@one']]]);
    const { entries } = plan(many(2), limits, { ...facts, bootWords });
    expect(entries.map(({ options }) => options.at(-1))).toEqual([
      'statesvc.state=s0',
      'rootflags=subvol=@one',
    ]);
  });
});

describe('planMenu', () => {
  it('offers a state with and without homes, and keeps the words of this boot', () => {
    const states = [aState({ id: 's', name: 'good' }), aState({ id: 'u', user: 'ada', system: 's' })];
    expect(plan(states)).toEqual({
      entries: [
        {
          id: 'croft-s',
          state: 's',
          title: 'Debian as of 2026-11-21 10:00 UTC, good',
          kernel: kernels[1],
          options: ['root=UUID=1', 'ro', 'quiet', 'statesvc.state=s'],
        },
        {
          id: 'croft-s-users',
          state: 's',
          title: 'Debian as of 2026-11-21 10:00 UTC, good, with homes',
          kernel: kernels[1],
          options: ['root=UUID=1', 'ro', 'quiet', 'statesvc.state=s', 'statesvc.revert=userdata'],
        },
      ],
      states: 1,
      leftOut: 0,
      strange: [],
    });
  });

  it.each([
    ['the one it was saved with', 'vmlinuz-5.10', 'vmlinuz-5.10'],
    ['the newest when that is gone', 'vmlinuz-4.19', 'vmlinuz-6.10'],
    ['the newest when none is known', '', 'vmlinuz-6.10'],
  ])('boots a state with %s', (_what, saved, booted) => {
    expect(plan([aState({ kernel: saved })]).entries[0]?.kernel.name).toBe(booted);
  });

  it('tells of states with a root of their own whose kernel is gone', () => {
    const states = ['vmlinuz-5.10', 'vmlinuz-4.19', '', 'vmlinuz-4.19'].map((name, at) =>
      aState({ id: `s${at}`, kernel: name }),
    );
    const bootWords = new Map(['s0', 's1', 's2'].map((id) => [id, ['root=ZFS=a@b']]));
    const { entries, strange } = plan(states, limits, { ...facts, bootWords });
    expect(strange.map(({ id }) => id)).toEqual(['s1']);
    expect(entries).toHaveLength(4);
    expect(plan(states, { states: 1, entries: 60 }, { ...facts, bootWords }).strange).toEqual([]);
  });

  it('is empty without a kernel', () => {
    expect(plan(many(3), limits, { ...facts, kernels: [] })).toEqual({
      entries: [],
      states: 0,
      leftOut: 3,
      strange: [],
    });
  });

  it('has the state that the next boot is to take, before all that are pinned', () => {
    const states = many(100, () => ({ pinned: true }));
    const machine = aMachine({ nextState: 's70' });
    const shown = planMenu(aModel({ states }), machine, { states: 3, entries: 60 }, facts);
    expect(shown.entries.map(({ id }) => id)).toEqual(['croft-s0', 'croft-s1', 'croft-s70']);
    expect(menuStates(aModel({ states }), machine, { states: 3, entries: 60 })).toHaveLength(3);
    const few = planMenu(aModel({ states }), machine, { states: 80, entries: 2 }, facts);
    expect(few.entries.map(({ id }) => id)).toEqual(['croft-s0', 'croft-s70']);
    expect(few).toMatchObject({ states: 2, leftOut: 98 });
  });

  it('has pinned states, the newest, and some of the older ones, in order', () => {
    const states = many(100, (at) => ({ pinned: at === 90 || at === 95 }));
    const ids = idsOf(states, { states: 10, entries: 60 }).map((id) => Number(id.slice(1)));
    expect(ids).toHaveLength(10);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids.slice(0, 4)).toEqual([0, 1, 2, 3]);
    expect(ids.slice(-2)).toEqual([90, 95]);
    const spread = ids.slice(4, -2);
    expect(Math.max(...spread) - Math.min(...spread)).toBeGreaterThan(60);
  });

  it('has what was saved last by a clock that said 1970, with that time', () => {
    const states = [
      ...many(30, (at) => ({ createdAt: new Date(Date.UTC(2026, 10, 30 - at)).toISOString() })),
      aState({ id: 'now', createdAt: '1970-01-01T00:03:00.000Z', after: 's0' }),
      aState({ id: 'long-ago', createdAt: '1970-01-01T00:02:00.000Z' }),
    ];
    const { entries } = plan(states);
    expect(entries).toHaveLength(20);
    expect(entries.at(-1)).toMatchObject({ state: 'now', title: 'Debian as of 1970-01-01 00:03 UTC, n-now' });
    expect(idsOf(states, { states: 20, entries: 3 })).toEqual(['s0', 's1', 'now']);
    expect(menuStates(aModel({ states }), aMachine(), limits).at(-1)?.id).toBe('now');
  });

  it('is never longer than allowed', () => {
    expect(
      plan(
        many(100, () => ({ pinned: true })),
        { states: 7, entries: 60 },
      ),
    ).toMatchObject({
      states: 7,
      leftOut: 93,
    });
    const withUsers = many(10).flatMap((state) => [
      state,
      aState({ id: `${state.id}u`, user: 'a', system: state.id }),
    ]);
    expect(plan(withUsers, { states: 20, entries: 7 })).toMatchObject({ states: 3, leftOut: 7 });
    expect(plan(many(3), { states: 0, entries: 0 }).entries).toEqual([]);
  });

  it('leaves out what is being removed and what belongs to another machine or to a user alone', () => {
    const states = [
      aState({ id: 'a' }),
      aState({ id: 'b', machine: 'vault:/other' }),
      aState({ id: 'c', user: 'ada' }),
    ];
    const model = aModel({ states, removing: new Set(['a']) });
    expect(planMenu(model, aMachine(), limits, facts).entries).toEqual([]);
  });
});

describe('texts', () => {
  const hostile = {
    id: 'croft-s',
    state: 's',
    title: `it's "$(reboot)" \\ {;}\nmenuentry 'evil' {`,
    kernel: kernel('vmlinuz-6.1'),
    options: ['root=UUID=1', "quote='x'", '$dollar', '{brace}'],
  };

  it('quote everything for GRUB', () => {
    const text = grubText([hostile], { foundBy: undefined, pathOf: (path) => path.slice(5) });
    expect(text).toContain(`menuentry 'it'\\''s "$(reboot)" \\ {;}menuentry '\\''evil'\\'' {' --class`);
    expect(text).toContain(
      `    linux '/vmlinuz-6.1' 'root=UUID=1' 'quote='\\''x'\\''' '$dollar' '{brace}'\n`,
    );
    expect(text).toContain(`search --no-floppy --file --set=root '/vmlinuz-6.1'`);
    expect(text.split('\n')).toHaveLength(9);
  });

  it('are one line each for other boot loaders', () => {
    const text = entryText(hostile, { linux: '/vmlinuz-6.1', initrd: undefined, machineId: 'abc' });
    expect(text.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'title',
      'sort-key',
      'version',
      'machine-id',
      'linux',
      'options',
      '',
    ]);
  });
});
