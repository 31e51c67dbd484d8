import { expect, it } from 'vitest';
import type { Model, State } from '../model/model.ts';
import { bootedState } from './booted-state.ts';
import { machineListText, machineShowText } from './machine-text.ts';

const state = (name: string, createdAt: string, torn: number): State => ({
  id: `id-${name}`,
  machine: 'vault:/etc',
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
const model: Model = {
  machines: [
    {
      id: 'vault:/etc',
      managed: true,
      current: true,
      bootedState: undefined,
      datasets: [{ name: 'system', role: 'system', path: '/etc' }],
    },
    { id: 'vault:/old', managed: true, current: false, bootedState: undefined, datasets: [] },
  ],
  states,
  removing: new Set(),
};
const [machine] = model.machines as [Model['machines'][0]];

it('lists machines in columns', () => {
  expect(machineListText(model)).toBe(
    `ID          MANAGED  STATES  LAST USED\nvault:/etc  yes      2       current\nvault:/old  yes      0       unknown\n`,
  );
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

it('shows ids and datasets in full, and no state that is being removed', () => {
  const text = machineShowText({ ...model, removing: new Set(['id-first']) }, machine, true);
  expect(text).toContain('Dataset:    system (system) /etc\nStates:     1\n');
  expect(text).toContain('id-auto_abc123');
  expect(text).toContain('  system (system)  /etc  12 entries  0 unreadable  1 torn');
  expect(text).not.toContain('first');
});

it.each([
  ['ro quiet', undefined],
  ['ro statesvc.state=abc quiet', 'abc'],
  ['statesvc.state=a statesvc.state=b\n', 'b'],
  ['statesvc.state= xstatesvc.state=c', undefined],
])('reads the booted state from %j', (line, expected) => {
  expect(bootedState(line)).toBe(expected);
});
