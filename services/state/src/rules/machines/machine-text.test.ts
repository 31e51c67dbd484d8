import { expect, it } from 'vitest';
import { aMachine, aModel, aState } from '../../../test/models.ts';
import type { Model } from '../../model/model.ts';
import { machineListText, machineShowText } from './machine-text.ts';

const state = (name: string, createdAt: string, torn: number) =>
  aState({
    id: `id-${name}`,
    name,
    automatic: name.startsWith('auto_'),
    createdAt,
    members: [
      {
        dataset: 'system',
        role: 'system',
        path: '/etc',
        guid: 'g',
        snapshot: 's',
        entries: 12,
        bytes: 2048,
        unreadable: 0,
        torn,
      },
    ],
  });
const states = [
  state('auto_abc123', '2026-11-21T10:11:12.345Z', 1),
  state('first', '2026-11-20T00:00:00.000Z', 0),
];
const model = aModel({
  machines: [
    aMachine({ datasets: [{ name: 'system', role: 'system', path: '/etc' }] }),
    aMachine({ id: 'vault:/old', current: false }),
  ],
  states,
});
const [machine] = model.machines as [Model['machines'][0]];

it('lists machines in columns', () => {
  expect(machineListText(model)).toBe(
    `ID          MANAGED  STATES  LAST USED\nvault:/etc  yes      2       current\nvault:/old  yes      0       unknown\n`,
  );
});

it.each<[string, string | undefined, Partial<Model['states'][0]>[], string]>([
  ['its last boot', '2026-11-22T10:00:00.000Z', [{}], '2026-11-22 10:00:00 UTC'],
  ['its last boot without states', '2026-11-22T10:00:00.000Z', [], '2026-11-22 10:00:00 UTC'],
  ['its newest state after that', '2026-11-19T10:00:00.000Z', [{}], '2026-11-20 00:00:00 UTC'],
  [
    'no state from elsewhere',
    '2026-11-19T10:00:00.000Z',
    [{ imported: { at: '2026-11-21T00:00:00.000Z', id: 'there', machine: 'vault:/there' } }],
    '2026-11-19 10:00:00 UTC',
  ],
])('tells when a machine that does not run was last used: %s', (_what, lastUsedAt, of, expected) => {
  const old = aMachine({ id: 'vault:/old', current: false, lastUsedAt });
  const on = aModel({
    machines: [old],
    states: of.map((more) => ({
      ...state('there', '2026-11-20T00:00:00.000Z', 0),
      machine: old.id,
      ...more,
    })),
  });
  expect(machineListText(on)).toMatch(new RegExp(` ${expected}\n$`));
  expect(machineShowText(on, old, false)).toContain(`Last used:  ${expected}\n`);
});

it('shows in full the kernels that are known', () => {
  const [newest, first] = states as [Model['states'][0], Model['states'][0]];
  const on = { ...model, states: [{ ...newest, kernel: 'vmlinuz-6.2' }, first] };
  const text = machineShowText(on, { ...machine, kernel: 'vmlinuz-6.1' }, true);
  expect(text).toContain('Kernel:     vmlinuz-6.1\n');
  expect(text.match(/^ {2}kernel .*$/gm)).toEqual(['  kernel vmlinuz-6.2']);
  expect(machineShowText(on, { ...machine, kernel: 'vmlinuz-6.1' }, false)).not.toContain('vmlinuz');
});

it('shows states so that they can be read back', () => {
  const lines = machineShowText(model, machine, false).split('\n');
  const rows = lines.slice(lines.findIndex((line) => line.startsWith('NAME')) + 1, -1);
  const read = rows.map((row) => row.split(/ {2,}/));
  expect(read).toEqual([
    ['auto_abc123', '2026-11-21 10:11:12 UTC', 'automatic', 'partial', '2.0 KiB'],
    ['first', '2026-11-20 00:00:00 UTC', 'manual', 'whole', '2.0 KiB'],
  ]);
});

it('claims no size of a snapshot that nobody looked into', () => {
  const snapshots = states.map((one) => ({
    ...one,
    members: one.members.map((member) => ({ ...member, entries: 0, bytes: 0, torn: 0 })),
  }));
  const text = machineShowText({ ...model, states: snapshots }, machine, true);
  expect(text).toMatch(/^first .* manual +whole +- +id-first$/m);
  expect(text).toContain('  system (system)  /etc  not counted  0 unreadable  0 torn');
});

it('shows ids and datasets in full, and no state that is being removed', () => {
  const text = machineShowText({ ...model, removing: new Set(['id-first']) }, machine, true);
  expect(text).toContain('Dataset:    system (system) /etc\nStates:     1\n');
  expect(text).toContain('id-auto_abc123');
  expect(text).toContain('  system (system)  /etc  12 entries  0 unreadable  1 torn');
  expect(text).not.toContain('first');
});

it('shows users with their homes, and their states when everything is wanted', () => {
  const on = aModel({
    ...model,
    homes: [
      { user: 'ada', path: '/home/ada', machines: ['vault:/etc'] },
      { user: 'eve', path: '/home/eve', machines: ['vault:/old'] },
    ],
    states: [
      ...states,
      aState({ id: 'u', name: 'mine', user: 'ada', pinned: true }),
      aState({ id: 'v', name: 'hers', user: 'old' }),
    ],
  });
  const text = machineShowText(on, machine, false);
  expect(text).toContain('States:     2\n');
  expect(text).toMatch(
    /USER {2}HOME +STATES\nada {3}\/home\/ada +1\nold {3}\(not on this machine any more\) +1\n$/,
  );
  const full = machineShowText(on, machine, true);
  expect(full).toMatch(/\nstates of ada:\nNAME +CREATED .*\nmine .*manual, pinned/);
  expect(full).toContain('\nada@mine:\n');
});

it('shows what people wrote, its first line in the table and all of it in full', () => {
  const [newest, first] = states as [Model['states'][0], Model['states'][0]];
  const described = {
    ...model,
    states: [newest, { ...first, description: `${'long '.repeat(20)}\nand more` }],
  };
  const row = machineShowText(described, machine, false).split('\n').at(-2) as string;
  expect(row.split(/ {2,}/).at(-1)).toBe(`${'long '.repeat(12)}…`);
  expect(machineShowText(described, machine, true)).toContain('\n  | and more\n');
});

it('says where an imported state is from, and what the next boot goes back to', () => {
  const imported = { at: '2026-11-21T10:11:12.345Z', id: 'there', machine: 'vault:/old' };
  const [newest] = states as [Model['states'][0]];
  const next = {
    ...machine,
    nextState: newest.id,
    nextRevert: { users: true, askedIn: 'b' },
  } as typeof machine;
  const text = machineShowText(
    { ...model, states: [{ ...newest, imported }] },
    next as Model['machines'][0],
    true,
  );
  expect(text).toContain('Next boot:  goes back to auto_abc123, with homes\n');
  expect(text).toContain('  imported 2026-11-21 10:11:12 UTC from vault:/old (there)\n');
});
