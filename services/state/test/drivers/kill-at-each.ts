import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { SteppingHosts } from '../stepping-hosts.ts';
import { SteppingMachine, type SteppingStorage } from './stepping-machine.ts';

/** A write, and how to tell whether it happened. */
export interface SteppingSubject {
  readonly name: string;
  readonly prepare: (machine: SteppingMachine, round: number) => Promise<void>;
  readonly operation: string;
  readonly request: (machine: SteppingMachine, round: number) => object;
  /** Right after the next start: whether it happened; fails when that is neither. */
  readonly happened: (machine: SteppingMachine, round: number) => Promise<boolean>;
  /** A step that it must have, or nothing was tested. */
  readonly has: RegExp;
}

/**
 * Lets an operation run as often as it has steps, each time to the next of them, and kills the daemon there: at the next start it
 * has happened as a whole or not at all, nothing of it is left over, and it can be done again.
 */
export async function killAtEach(
  subject: SteppingSubject,
  storage: SteppingStorage,
  context: TestContext,
): Promise<void> {
  const machine = new SteppingMachine(storage, new SteppingHosts());
  await machine.start();
  await machine.must('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
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
}

/** A state with a home comes in, of which nothing is there yet. @param system a file of the live system */
export function importing(system: string, has: RegExp): SteppingSubject {
  const fileOf = ({ storage }: SteppingMachine) => join(storage.base, 'exported.tar');
  return {
    name: 'import',
    prepare: async (machine, round) => {
      if (round > 1) return;
      machine.write(system, 'precious');
      await machine.must('SaveSystemState', { stateName: 'one' });
      writeFileSync(fileOf(machine), await machine.exported('one'));
      await machine.must('RemoveSystemState', { stateName: 'one' });
    },
    operation: 'Import',
    request: (machine, round) => ({ stateName: `i${round}`, content: readFileSync(fileOf(machine)) }),
    happened: async (machine, round) => {
      const names = (await machine.names()).filter((name) => name.endsWith(` i${round}`));
      expect([0, 2]).toContain(names.length);
      return names.length === 2;
    },
    has,
  };
}
