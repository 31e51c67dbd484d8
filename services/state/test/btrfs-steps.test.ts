import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type BtrfsImage, missingForBtrfs, openBtrfs, run } from './drivers/btrfs-image.ts';
import { importing, killAtEach, type SteppingSubject } from './drivers/kill-at-each.ts';
import type { SteppingMachine, SteppingStorage } from './drivers/stepping-machine.ts';

// Every write on btrfs is stopped before each thing that it does to the disk, and the daemon killed there.

const home = ({ storage }: SteppingMachine, name: string) => join(storage.homesFolder, name);

const SUBJECTS: readonly SteppingSubject[] = [
  {
    name: 'save',
    prepare: async (machine, round) => machine.write('@/round', `${round}`),
    operation: 'SaveSystemState',
    request: (_machine, round) => ({ stateName: `s${round}` }),
    happened: async (machine, round) => {
      const names = (await machine.names()).filter((name) => name.endsWith(` s${round}`));
      expect([0, 2]).toContain(names.length);
      return names.length === 2;
    },
    has: /^spawn btrfs → subvolume → snapshot → -r/,
  },
  {
    name: 'remove',
    prepare: async (machine, round) => {
      await machine.must('SaveSystemState', { stateName: `s${round}` });
    },
    operation: 'RemoveSystemState',
    request: (_machine, round) => ({ stateName: `s${round}` }),
    happened: async (machine, round) => {
      const names = (await machine.names()).filter((name) => name.endsWith(` s${round}`));
      expect([0, 2]).toContain(names.length);
      return names.length === 0;
    },
    has: /^spawn btrfs → subvolume → delete/,
  },
  {
    name: 'create a home',
    prepare: async () => {},
    operation: 'CreateUserData',
    request: (machine, round) => ({ user: `u${round}`, homepath: home(machine, `u${round}`) }),
    happened: async (machine, round) => (await machine.dump()).homes.some(({ user }) => user === `u${round}`),
    has: /^rename top\/@states\/work\/ID → top\/@home/,
  },
  {
    name: 'move a home',
    prepare: async (machine, round) => {
      await machine.must('CreateUserData', { user: `u${round}`, homepath: home(machine, `u${round}`) });
      machine.write(`@home/u${round}/file`, 'precious');
    },
    operation: 'ChangeHomeOnUserData',
    request: (machine, round) => ({ home: home(machine, `u${round}`), newHome: home(machine, `v${round}`) }),
    happened: async (machine, round) => {
      const path = (await machine.dump()).homes.find(({ user }) => user === `u${round}`)?.path as string;
      expect(readFileSync(join(path, 'file'), 'utf8')).toBe('precious');
      return path === home(machine, `v${round}`);
    },
    has: /^rename top\/@home\/uN → top\/@home\/vN/,
  },
  {
    name: 'go back',
    prepare: async (machine, round) => {
      const of = async (wanted: string) =>
        (await machine.dump()).machines[0]?.states.find(({ name, user }) => name === wanted && user === null);
      if (round === 1) {
        for (const path of ['@', '@home/ada']) {
          machine.write(`${path}/file`, 'good');
          machine.write(`${path}/var/place`, '');
        }
        await machine.must('SaveSystemState', { stateName: 'good' });
        for (const path of ['@', '@home/ada']) {
          run('btrfs', 'subvolume', 'create', join(machine.storage.live, path, 'var/nested'));
          machine.write(`${path}/var/nested/file`, 'precious');
        }
      }
      for (const path of ['@', '@home/ada']) machine.write(`${path}/file`, `bad ${round}`);
      machine.bootWith(`statesvc.state=${(await of('good'))?.id} statesvc.revert=userdata`);
      await machine.restart();
    },
    operation: 'PrepareBoot',
    request: () => ({}),
    happened: async (machine, round) => {
      for (const path of ['@', '@home/ada']) {
        // Never neither: a machine that boots now finds a system, and nothing is lost of what lies in it.
        expect(['good', `bad ${round}`]).toContain(machine.read(`${path}/file`));
        expect(machine.read(`${path}/var/nested/file`)).toBe('precious');
      }
      const [system, ofAda] = [machine.read('@/file'), machine.read('@home/ada/file')];
      expect(system === 'good').toBe(ofAda === 'good');
      return system === 'good';
    },
    has: /^rename top\/@states\/work\/ID\/var\/nested → top\/@\/var\/nested/,
  },
  importing('@/file', /^spawn btrfs → property → set/),
];

it.for(SUBJECTS)(
  '$name: killed before any step, it happened as a whole or not at all',
  {
    timeout: 400_000,
  },
  async (subject, context) => {
    const missing = missingForBtrfs();
    if (missing !== undefined) skipWithout(context, missing);
    const storage = await openBtrfs();
    onTestFinished(() => storage.close());
    // Nothing of it runs, so that what was replaced goes at once.
    run('umount', storage.systemPath);
    await killAtEach(subject, steppingStorage(storage), context);
  },
);

function steppingStorage(storage: BtrfsImage): SteppingStorage {
  return {
    ...storage,
    live: storage.root,
    snapshots() {
      const listed = run('btrfs', 'subvolume', 'list', '-o', join(storage.root, '@states'));
      return listed.split('\n').flatMap((line) => / path (.+)$/.exec(line)?.[1] ?? []);
    },
    unfinished: () =>
      readdirSync(join(storage.root, '@states/records')).filter((name) => !name.endsWith('.json')),
  };
}
