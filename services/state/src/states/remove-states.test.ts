import { silentLog } from '@croft/runtime';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/daemon.ts';
import { aState } from '../../test/models.ts';
import type { Call, Context } from '../context.ts';
import { storageRefused } from '../failures.ts';
import { Journal } from '../model/journal.ts';
import { StateIndex } from '../model/state-index.ts';
import { removeStates } from './remove-states.ts';

/** Removes a state from a storage that refuses it. @param before happens before the removal, and `meanwhile` before the refusal */
async function refused(happens: {
  before?: (journal: Journal) => Promise<void>;
  meanwhile?: (journal: Journal) => Promise<void>;
}) {
  const folder = temporaryFolder();
  const { journal } = await Journal.open(folder);
  const [a, b] = [aState({ id: 'a' }), aState({ id: 'b' })];
  const index = new StateIndex(journal, { machines: [], homes: [], states: [a, b] }, []);
  const storage = {
    destroy: async () => {
      await happens.meanwhile?.(journal);
      throw storageRefused('nothing was removed', 'it is busy');
    },
    scan: async () => ({ states: [a, b], leftovers: [] }),
  };
  const context = { index, storage, log: silentLog } as unknown as Context;
  const lines: string[] = [];
  const tell = (line: string) => void lines.push(line);
  const call = { info: tell, warning: tell } as unknown as Call;
  await happens.before?.(journal);
  const removing = removeStates([[a]], call, context);
  const error = await removing.catch((thrown: unknown) => thrown);
  const { states, removing: going } = index.model;
  await journal.close().catch(() => {});
  const { journal: again, remembered } = await Journal.open(folder);
  await again.close();
  return {
    error,
    states: states.map(({ id }) => id),
    going: [...going],
    // What the next start finishes.
    begun: remembered.intents.map(({ id }) => id),
  };
}

it('a removal of which nothing went is taken back', async () => {
  expect(await refused({})).toMatchObject({
    error: { code: 'storage_refused' },
    states: ['a', 'b'],
    going: [],
    begun: [],
  });
});

it('a removal that cannot be taken back for good is told as one that goes on', async () => {
  const { error, ...rest } = await refused({ meanwhile: (journal) => journal.close() });
  expect(error).toMatchObject({
    code: 'removal_unfinished',
    message: expect.stringContaining('it is busy. The removal has begun: ask again with force'),
  });
  expect(rest).toEqual({ states: ['a', 'b'], going: ['a'], begun: ['a'] });
});

it('a removal that was never written down is taken back, and what stopped it is told', async () => {
  expect(await refused({ before: (journal) => journal.close() })).toMatchObject({
    error: { code: 'storage_refused' },
    states: ['a', 'b'],
    going: [],
    begun: [],
  });
});
