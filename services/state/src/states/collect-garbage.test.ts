import { silentLog } from '@croft/runtime';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/daemon.ts';
import { aMachine, aState } from '../../test/models.ts';
import type { Call, Context } from '../context.ts';
import { FruitlessRemovals } from '../daemon/fruitless-removals.ts';
import { Journal } from '../model/journal.ts';
import { StateIndex } from '../model/state-index.ts';
import { makeRoom } from './collect-garbage.ts';

/** A daemon's memory of automatic states on a disk that has as much room as it is told. */
async function withStates(count: number) {
  const { journal } = await Journal.open(temporaryFolder());
  const states = Array.from({ length: count }, (_, at) =>
    aState({
      id: `${at}`,
      automatic: true,
      createdAt: new Date(Date.UTC(2026, 0, 1 + count - at)).toISOString(),
    }),
  );
  const machine = aMachine();
  const index = new StateIndex(journal, { machines: [machine], homes: [], states }, []);
  const disk = { name: 'disk', size: 100, free: 1 };
  const storage = {
    space: async () => [{ ...disk }],
    destroy: async () => {},
    collect: async () => ({ objects: 0, bytes: 0 }),
  };
  const fruitless = new FruitlessRemovals();
  const given = {
    index,
    storage,
    fruitless,
    log: silentLog,
    minFree: 5,
    boot: { settings: { BOOT_LOADER: 'none' } },
  };
  const tell = () => {};
  const call = { info: tell, warning: tell, debug: tell, signal: new AbortController().signal };
  return {
    disk,
    left: () => index.model.states.length,
    makeRoom: () => makeRoom(machine, call as unknown as Call, given as unknown as Context),
    close: () => index.close(),
  };
}

it('calls that bring no space take eight states altogether, and more only when there is room again', async () => {
  const { disk, left, makeRoom: ask, close } = await withStates(30);
  for (let call = 0; call < 4; call++) await ask();
  expect(left()).toBe(22);
  // Others go on filling it.
  disk.free = 0;
  expect([await ask(), left()]).toEqual([{ removed: 0, failed: 0 }, 22]);
  disk.free = 2;
  await ask();
  expect(left()).toBe(14);
  // It was not short, and what fills it now is something else.
  disk.free = 50;
  await ask();
  disk.free = 1;
  await ask();
  expect(left()).toBe(6);
  await close();
});

it('removals that bring space go on', async () => {
  const { disk, left, makeRoom: ask, close } = await withStates(30);
  const free = () => 1 + (30 - left()) / 100;
  Object.defineProperty(disk, 'free', { get: free, enumerable: true });
  await ask();
  expect(left()).toBe(1);
  await close();
});
