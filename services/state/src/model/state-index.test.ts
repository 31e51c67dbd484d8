import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aState } from '../../test/models.ts';
import { Journal } from './journal.ts';
import { StateIndex } from './state-index.ts';

const [a, b, c] = ['a', 'b', 'c'].map((id) => aState({ id })) as [
  ReturnType<typeof aState>,
  ReturnType<typeof aState>,
  ReturnType<typeof aState>,
];

async function newIndex() {
  const folder = mkdtempSync(join(tmpdir(), 'croft-index-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { journal } = await Journal.open(folder);
  const index = new StateIndex(journal, { machines: [], homes: [], states: [a, b, c] }, []);
  return { folder, index };
}

async function remembered(folder: string) {
  const { journal, remembered: memory } = await Journal.open(folder);
  await journal.close();
  return { states: memory.states.map(({ id }) => id), intents: memory.intents.map(({ id }) => id) };
}

it('the journal does not grow while a removal has stopped, which is remembered', async () => {
  const { folder, index } = await newIndex();
  await index.beginRemoval({ ids: ['a', 'b'], dependants: [] });
  index.partlyRemoved(['a']);
  for (let line = 0; line < 1100; line++) await index.annotated([c]);
  expect(readFileSync(join(folder, 'journal.jsonl'), 'utf8').split('\n').length).toBeLessThan(1000);
  await index.close();
  expect(readFileSync(join(folder, 'journal.jsonl'), 'utf8')).toBe('');
  expect(await remembered(folder)).toEqual({ states: ['b', 'c'], intents: ['a'] });
});

it('a checkpoint in the middle of a save has its intent', async () => {
  const { folder, index } = await newIndex();
  const { machines, homes, states } = index.model;
  await Promise.all([index.beginSave('s'), index.refreshed({ machines, homes, states })]);
  expect((await remembered(folder)).intents).toEqual(['s']);
  await index.saved('s', [aState({ id: 's' })]);
  await index.close();
  expect(await remembered(folder)).toEqual({ states: ['s', 'a', 'b', 'c'], intents: [] });
});

it('the end of a save that comes late does not end the removal of what it saved', async () => {
  const { folder, index } = await newIndex();
  await index.beginSave('s');
  const lasts = Promise.withResolvers<void>();
  const saved = index.saved('s', [aState({ id: 's' })], () => lasts.promise);
  const begun = index.beginRemoval({ ids: ['s'], dependants: [] });
  lasts.resolve();
  await Promise.all([saved, begun]);
  expect(index.model).toMatchObject({ removing: new Set(['s']), removals: [['s']] });
  expect(await remembered(folder)).toMatchObject({ intents: ['s'] });
  index.removed(['s']);
  await index.collected();
  await index.close();
  expect(await remembered(folder)).toEqual({ states: ['a', 'b', 'c'], intents: [] });
});

it('knows which states one removal takes, until it has ended', async () => {
  const { folder, index } = await newIndex();
  await index.beginRemoval({ ids: ['a', 'b'], dependants: [] });
  index.partlyRemoved(['a']);
  expect(index.model).toMatchObject({ removing: new Set(['b']), removals: [['a', 'b']] });
  await index.beginRemoval({ ids: ['c', 'b'], dependants: [] });
  expect(index.model).toMatchObject({ removing: new Set(['b', 'c']), removals: [['c', 'b']] });
  index.removed(['c', 'b']);
  await index.collected();
  expect(index.model).toMatchObject({ states: [], removing: new Set(), removals: [] });
  await index.close();
  expect(await remembered(folder)).toEqual({ states: [], intents: [] });
});
