import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Journal } from './journal.ts';
import type { State } from './model.ts';

const state = (id: string): State => ({
  id,
  machine: 'm',
  name: id,
  automatic: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  members: [],
});

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
  await journal.append({ event: 'saved', state: state('a') });
  await journal.append({ event: 'saved', state: state('b') });
  await journal.append({ event: 'undone', id: 'c' });
  await journal.append({ event: 'begun', intent: { do: 'remove', id: 'a' } });
  await journal.append({ event: 'begun', intent: { do: 'remove', id: 'b' } });
  await journal.append({ event: 'removed', id: 'b' });
  await journal.close();
  expect(await reopen(folder)).toEqual({
    states: ['a'],
    intents: [
      { do: 'save', id: 'd' },
      { do: 'remove', id: 'a' },
    ],
  });
});

it('goes on from a checkpoint', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  await journal.append({ event: 'begun', intent: { do: 'save', id: 'a' } });
  await journal.writeCheckpoint([state('x')]);
  await journal.append({ event: 'saved', state: state('y') });
  await journal.close();
  expect(await reopen(folder)).toEqual({ states: ['x', 'y'], intents: [] });
});

it('ignores a line that a crash cut, and goes on after it', async () => {
  const folder = newFolder();
  const { journal } = await Journal.open(folder);
  await journal.append({ event: 'saved', state: state('a') });
  await journal.close();
  appendFileSync(join(folder, 'journal.jsonl'), '{"event":"saved","sta');
  const again = await Journal.open(folder);
  expect(again.remembered.states.map(({ id }) => id)).toEqual(['a']);
  await again.journal.append({ event: 'saved', state: state('b') });
  await again.journal.close();
  expect((await reopen(folder)).states).toEqual(['a', 'b']);
});

it('lives with a checkpoint that is no JSON', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'checkpoint.json'), '{');
  expect(await reopen(folder)).toEqual({ states: [], intents: [] });
});
