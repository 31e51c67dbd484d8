import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { expect, it, onTestFinished } from 'vitest';
import { missingForBtrfs, openBtrfs, run } from './drivers/btrfs-image.ts';
import { SteppingMachine } from './drivers/stepping-machine.ts';
import { SteppingHosts } from './stepping-hosts.ts';

// Every write on btrfs is stopped before each thing that it does to the disk, and the daemon killed there.

interface Subject {
  readonly name: string;
  readonly prepare: (machine: SteppingMachine, round: number) => Promise<void>;
  readonly operation: string;
  readonly request: (machine: SteppingMachine, round: number) => object;
  /** Right after the next start: whether it happened; fails when that is neither. */
  readonly happened: (machine: SteppingMachine, round: number) => Promise<boolean>;
  /** A step that it must have, or nothing was tested. */
  readonly has: RegExp;
}

const home = ({ storage }: SteppingMachine, name: string) => join(storage.homesFolder, name);

const SUBJECTS: readonly Subject[] = [
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
          run('btrfs', 'subvolume', 'create', join(machine.storage.root, path, 'var/nested'));
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
    const machine = new SteppingMachine(storage, new SteppingHosts());
    await machine.start();
    await machine.must('CreateUserData', { user: 'ada', homepath: home(machine, 'ada') });
    machine.write('@home/ada/file', 'of ada');
    const steps: string[] = [];
    for (let round = 1; round < 100; round++) {
      await subject.prepare(machine, round);
      const outcome = await machine.callUntil(steps, subject.operation, subject.request(machine, round));
      await machine.restart();
      const at = `${subject.name}, ${typeof outcome === 'string' ? `killed before ${outcome}` : 'answered'}`;
      await machine.checkClean(at);
      if (!(await subject.happened(machine, round))) {
        expect([at, typeof outcome]).toEqual([at, 'string']);
        await machine.must(subject.operation, subject.request(machine, round));
        expect([at, await subject.happened(machine, round)]).toEqual([at, true]);
      } else if (subject.operation === 'PrepareBoot') {
        // It is written down that this boot is not at its end with that, and nothing is done twice.
        await machine.must('PrepareBoot');
        expect([at, await subject.happened(machine, round)]).toEqual([at, true]);
      }
      await machine.checkClean(at);
      await machine.must('SaveSystemState', { stateName: 'next' });
      await machine.must('RemoveSystemState', { stateName: 'next' });
      if (typeof outcome !== 'string') {
        expect(steps).toContainEqual(expect.stringMatching(subject.has));
        await context.annotate(`${steps.length} steps`);
        return;
      }
      steps.push(outcome);
    }
    expect.unreachable('there is no end of steps');
  },
);
