import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aState } from '../../test/models.ts';
import { reconcile } from '../rules/states/reconcile.ts';
import { Journal } from './journal.ts';
import type { Member } from './model.ts';

const state = (id: string) => aState({ id });
const saved = (id: string) => ({ event: 'saved', id, states: [state(id)] }) as const;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'croft-journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function reopen(folder: string) {
  const { journal, remembered } = await Journal.open(folder);
  await journal.close();
  return { states: remembered.states.map(({ id }) => id), intents: remembered.intents };
}

it('remembers what ended and what did not', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  for (const id of ['a', 'b', 'c', 'd']) await journal.append({ event: 'begun', intent: { do: 'save', id } });
  await journal.append(saved('a'));
  await journal.append(saved('b'));
  await journal.append({ event: 'undone', id: 'c' });
  await journal.append({ event: 'begun', intent: { do: 'remove', id: 'a' } });
  await journal.append({ event: 'begun', intent: { do: 'remove', id: 'b' } });
  await journal.append({ event: 'removed', id: 'b', ids: ['b'] });
  await journal.close();
  expect(await reopen(folder)).toEqual({
    states: ['a'],
    intents: [
      { do: 'save', id: 'd' },
      { do: 'remove', id: 'a' },
    ],
  });
});

it.each(['saved', 'removed'])(
  'without the line of what was %s, as after a power cut, the storage is believed',
  async (event) => {
    const folder = newFolder();
    const { journal } = await Journal.open(folder);
    const intent = { do: event === 'saved' ? 'save' : 'remove', id: 'a' } as const;
    await journal.append({ event: 'begun', intent });
    await journal.close();
    const { states, intents } = await reopen(folder);
    expect(intents).toEqual([intent]);
    const stored = event === 'saved' ? [state('a')] : [];
    const { discard, finish, notes, ...plan } = reconcile(states.map(state), intents, stored, []);
    expect([discard, finish, notes]).toEqual([[], [], []]);
    expect(plan.states).toEqual(stored);
  },
);

it('goes on from a checkpoint', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  await journal.append({ event: 'begun', intent: { do: 'save', id: 'a' } });
  await journal.writeCheckpoint([state('x')], []);
  await journal.append(saved('y'));
  await journal.close();
  expect(await reopen(folder)).toEqual({ states: ['x', 'y'], intents: [] });
});

it('a checkpoint remembers what was begun, and is not all there is to know then', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  const intent = { do: 'remove', id: 'x', ids: ['x', 'y'], dependants: [] } as const;
  await journal.writeCheckpoint([state('x')], [intent]);
  await journal.close();
  const { journal: again, remembered } = await Journal.open(folder);
  expect(remembered).toMatchObject({ intents: [intent], isSettled: false, hasRemovals: true });
  await again.append({ event: 'undone', id: 'x' });
  await again.writeCheckpoint([state('x')], []);
  await again.close();
  const { journal: last, remembered: nothing } = await Journal.open(folder);
  await last.close();
  expect(nothing).toMatchObject({ intents: [], isSettled: true, hasRemovals: false });
});

it('a removal that is asked for again takes the place of the one that stopped, and of no other', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  const remove = (...ids: [string, ...string[]]) =>
    ({ do: 'remove', id: ids[0], ids, dependants: [] }) as const;
  for (const intent of [
    remove('a', 'b', 'c'),
    remove('d'),
    { do: 'save', id: 's' } as const,
    remove('c', 'b'),
  ])
    await journal.append({ event: 'begun', intent });
  await journal.close();
  expect((await reopen(folder)).intents).toEqual([remove('d'), { do: 'save', id: 's' }, remove('c', 'b')]);
});

it('a checkpoint remembers of states whose they are and whether they are whole', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  const members = [{ guid: 'g', unreadable: 2, torn: 1 } as Member];
  const user = aState({ id: 'u', kind: 'user', user: 'ada', system: 'a', members });
  await journal.writeCheckpoint([state('a'), user], []);
  await journal.close();
  const { journal: again, remembered } = await Journal.open(folder);
  await again.close();
  const { machine, name } = user;
  expect(remembered.states).toEqual([
    { id: 'a', machine, name: 'n-a', members: [] },
    { id: 'u', system: 'a', machine, user: 'ada', name, members: [{ unreadable: 2, torn: 1 }] },
  ]);
});

it('ignores a line that a crash cut, and goes on after it', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  await journal.append(saved('a'));
  await journal.close();
  appendFileSync(join(folder, 'journal.jsonl'), '{"event":"saved","sta');
  const again = await Journal.open(folder);
  expect(again.remembered.states.map(({ id }) => id)).toEqual(['a']);
  await again.journal.append(saved('b'));
  await again.journal.close();
  expect((await reopen(folder)).states).toEqual(['a', 'b']);
});

it('lives with a checkpoint that is no JSON', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'checkpoint.json'), '{');
  expect(await reopen(folder)).toEqual({ states: [], intents: [] });
});

it('remembers all states of a save, and which of them were removed', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  const [system, user] = [state('a'), aState({ id: 'u', user: 'ada', system: 'a' })];
  await journal.append({ event: 'begun', intent: { do: 'save', id: 'a' } });
  await journal.append({ event: 'saved', id: 'a', states: [system, user] });
  await journal.append({ event: 'removed', id: 'u', ids: ['u'] });
  await journal.close();
  const { journal: again, remembered } = await Journal.open(folder);
  await again.close();
  expect(remembered).toMatchObject({ states: [system], intents: [] });
});

it('remembers what was written down of a state later, and not of one that has gone', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  const described = { ...state('a'), description: 'good' };
  await journal.append({ event: 'saved', id: 'a', states: [state('a')] });
  await journal.append({ event: 'annotated', states: [described] });
  await journal.append({ event: 'saved', id: 'b', states: [state('b')] });
  await journal.append({ event: 'removed', id: 'b', ids: ['b'] });
  await journal.append({ event: 'annotated', states: [state('b')] });
  await journal.close();
  const { journal: again, remembered } = await Journal.open(folder);
  await again.close();
  expect(remembered.states).toEqual([described]);
});

it('keeps the intents of an older journal and forgets its states', async () => {
  const folder = newFolder();
  writeFileSync(
    join(folder, 'journal.jsonl'),
    '{"event":"saved","state":{"id":"a"}}\n{"event":"begun","intent":{"do":"remove","id":"a"}}\n',
  );
  expect(await reopen(folder)).toEqual({ states: [], intents: [{ do: 'remove', id: 'a' }] });
});
