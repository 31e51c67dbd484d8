import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { killAtEach, type SteppingSubject } from './drivers/kill-at-each.ts';
import type { SteppingMachine, SteppingStorage } from './drivers/stepping-machine.ts';
import { poolFor } from './drivers/zfs-daemon.ts';
import type { ZfsPool } from './drivers/zfs-image.ts';

// Writes on ZFS are stopped before each thing that they do to the pool, and the daemon killed there.

const home = ({ storage }: SteppingMachine, name: string) => join(storage.homesFolder, name);

/** How many states there are of a name: of the system and of ada, or none. */
async function statesOf(machine: SteppingMachine, name: string): Promise<number> {
  const names = (await machine.names()).filter((one) => one.endsWith(` ${name}`));
  expect([0, 2]).toContain(names.length);
  return names.length;
}

const SUBJECTS: readonly SteppingSubject[] = [
  {
    name: 'save',
    prepare: async (machine, round) => machine.write('system/round', `${round}`),
    operation: 'SaveSystemState',
    request: (_machine, round) => ({ stateName: `s${round}` }),
    happened: async (machine, round) => (await statesOf(machine, `s${round}`)) === 2,
    has: /^spawn zfs → snapshot/,
  },
  {
    name: 'remove',
    prepare: async (machine, round) => {
      await machine.must('SaveSystemState', { stateName: `s${round}` });
    },
    operation: 'RemoveSystemState',
    request: (_machine, round) => ({ stateName: `s${round}` }),
    happened: async (machine, round) => (await statesOf(machine, `s${round}`)) === 0,
    has: /^spawn zfs → destroy/,
  },
  {
    name: 'create a home',
    prepare: async () => {},
    operation: 'CreateUserData',
    request: (machine, round) => ({ user: `u${round}`, homepath: home(machine, `u${round}`) }),
    happened: async (machine, round) => (await machine.dump()).homes.some(({ user }) => user === `u${round}`),
    has: /^spawn zfs → create/,
  },
  {
    name: 'move a home',
    prepare: async (machine, round) => {
      await machine.must('CreateUserData', { user: `u${round}`, homepath: home(machine, `u${round}`) });
      machine.write(`home/u${round}/file`, 'precious');
    },
    operation: 'ChangeHomeOnUserData',
    request: (machine, round) => ({ home: home(machine, `u${round}`), newHome: home(machine, `v${round}`) }),
    happened: async (machine, round) => {
      const path = (await machine.dump()).homes.find(({ user }) => user === `u${round}`)?.path as string;
      expect(readFileSync(join(path, 'file'), 'utf8')).toBe('precious');
      return path === home(machine, `v${round}`);
    },
    has: /^spawn zfs → (set|rename|mount)/,
  },
];

it.for(SUBJECTS)(
  '$name: killed before any step, it happened as a whole or not at all',
  {
    timeout: 400_000,
  },
  async (subject, context) => {
    await killAtEach(subject, steppingStorage(await poolFor(context)), context);
  },
);

function steppingStorage(storage: ZfsPool): SteppingStorage {
  const names = (type: string) =>
    storage
      .zfs('list', '-H', '-r', '-t', type, '-o', 'name', storage.pool)
      .split('\n')
      .filter((name) => name !== '');
  return {
    ...storage,
    live: storage.base,
    snapshots: () => names('snapshot'),
    /** Datasets of imports that hold no snapshot, and where they were mounted. */
    unfinished() {
      const used = names('snapshot').map((name) => name.split('@', 1)[0] ?? '');
      const idle = names('filesystem').filter(
        (name) => name.includes('/croft_imports') && !used.some((one) => one.startsWith(name)),
      );
      const mounts = join(storage.base, storage.folder, 'imports');
      return [...idle, ...(existsSync(mounts) ? readdirSync(mounts) : [])];
    },
  };
}
