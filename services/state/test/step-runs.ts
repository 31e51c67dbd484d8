import { expect } from 'vitest';
import type { Answer } from './daemon.ts';
import { checkSettled, look, makeTrial, prepareRound, type Trial } from './step-trial.ts';
import { SteppingHosts, type SteppingStorage } from './stepping-hosts.ts';
import type { Ending } from './steps.ts';
import type { Subject } from './subjects.ts';

const MAX_ROUNDS = 120;

/** Opens a storage for one of the operations, which closes with the test. */
type Open = (subject: Subject) => SteppingStorage | Promise<SteppingStorage>;

/**
 * Every operation is stopped before the first thing it does, then before the second, and so on until it comes through, and the
 * process killed there. Each has a daemon of its own, and they die together. The start after that is killed as well, before the
 * first thing it does that no start of this daemon was killed before.
 * @returns the steps of each, for people
 */
export async function killAtEach(subjects: readonly Subject[], open: Open): Promise<string> {
  const [hosts, trials] = await begin(subjects, open);
  let unfinished = trials;
  for (let round = 1; unfinished.length > 0; round++) {
    expect(round).toBeLessThan(MAX_ROUNDS);
    await Promise.all(unfinished.map((trial) => prepareRound(trial, round)));
    const outcomes = await Promise.all(
      unfinished.map(async ({ host, subject, steps }) => {
        const stopped = hosts.ended(host.name);
        await host.watch('stop', steps);
        return await Promise.race([subject.ask(host, round), stopped]);
      }),
    );
    await hosts.kill();
    const starts = await startAgain(unfinished, hosts);
    await Promise.all(
      unfinished.map(async (trial, index) => {
        const outcome = outcomes[index] as Answer | string;
        const step = typeof outcome === 'string' ? outcome : 'answered';
        await checkSettled(
          trial,
          round,
          `killed before ${step}, started until ${starts[index] ?? 'the end'}`,
        );
        if (typeof outcome === 'string') trial.steps.push(outcome);
        else expect([trial.subject.name, outcome]).toMatchObject([trial.subject.name, { code: 0 }]);
      }),
    );
    unfinished = unfinished.filter((_, index) => typeof outcomes[index] === 'string');
  }
  const starts = new Set(trials.flatMap(({ startsKilled }) => [...startsKilled]));
  expect([...starts]).toEqual(expect.arrayContaining([expect.stringMatching(/checkpoint/)]));
  return `${checkSteps(trials)}; starts ${starts.size}: ${[...starts].sort().join(', ')}`;
}

/** @returns before which step of its start each was killed; undefined for those that came through */
async function startAgain(
  trials: readonly Trial[],
  hosts: SteppingHosts,
): Promise<readonly (string | undefined)[]> {
  await hosts.spawn(trials.map(({ host }) => host));
  const steps = await Promise.all(
    trials.map(async ({ host, startsKilled }) => {
      let step: string | undefined;
      const stopped = hosts.ended(host.name).then((before) => {
        step = before;
      });
      await host.watchStart([...startsKilled]);
      await Promise.race([host.start(), stopped]);
      // What it does in the background may have been stopped meanwhile.
      if (step === undefined) await host.unwatch();
      if (step !== undefined) startsKilled.add(step);
      return step;
    }),
  );
  if (steps.some((step) => step !== undefined)) {
    await hosts.kill();
    await hosts.start(trials.map(({ host }) => host));
  }
  return steps;
}

/**
 * Each thing that an operation does fails once, or with `lie` is only told as failed: then as well it has happened as a whole or
 * not at all after the next start.
 * @param endings the ways, each for all steps
 * @returns the steps of each, for people
 */
export async function failAtEach(
  subjects: readonly Subject[],
  open: Open,
  endings: readonly Exclude<Ending, 'stop'>[] = ['fail'],
): Promise<string> {
  const [hosts, trials] = await begin(subjects, open);
  await Promise.all(trials.map((trial) => failEach(trial, hosts, endings)));
  return checkSteps(trials);
}

/** The same, where a step takes thirty processes: one fails, the next is only told as failed. Elsewhere all of them do both. */
export async function failInTurn(subjects: readonly Subject[], open: Open): Promise<string> {
  const [hosts, trials] = await begin(subjects, open);
  await Promise.all(
    trials.map(async (trial) => {
      for (let round = 1; ; round++) {
        expect(round).toBeLessThan(MAX_ROUNDS);
        const ending = round % 2 === 0 ? 'lie' : 'fail';
        if (!(await fails(trial, hosts, ending, trial.steps, round)) && ending === 'fail') break;
      }
    }),
  );
  return checkSteps(trials);
}

async function begin(subjects: readonly Subject[], open: Open): Promise<[SteppingHosts, readonly Trial[]]> {
  const opened: [Subject, SteppingStorage][] = [];
  for (const subject of subjects) opened.push([subject, await open(subject)]);
  // Last, as they end before what they use is closed.
  const hosts = new SteppingHosts();
  const trials = opened.map(([subject, storage]) => makeTrial(subject, hosts.add(storage)));
  await hosts.start(trials.map(({ host }) => host));
  return [hosts, trials];
}

async function failEach(
  trial: Trial,
  hosts: SteppingHosts,
  endings: readonly Exclude<Ending, 'stop'>[],
): Promise<void> {
  let round = 1;
  for (const ending of endings) {
    const passing: string[] = [];
    while (await fails(trial, hosts, ending, passing, round++)) expect(round).toBeLessThan(MAX_ROUNDS);
    if (ending === 'fail') trial.steps.push(...passing);
  }
}

/** @returns whether there was a step to fail at, which is then among those passing */
async function fails(
  trial: Trial,
  hosts: SteppingHosts,
  ending: Ending,
  passing: string[],
  round: number,
): Promise<boolean> {
  const { host, subject } = trial;
  await prepareRound(trial, round);
  let failed: string | undefined;
  void hosts.ended(host.name).then((step) => {
    failed = step;
  });
  await host.watch(ending, passing);
  const answer = await subject.ask(host, round);
  await host.unwatch();
  const at = `${subject.name}, ${failed} ${ending === 'lie' ? 'was told as failed' : 'failed'}`;
  // Nothing that goes wrong in the system is the caller's fault, or a secret.
  expect([at, answer.details, [0, 8, 9, 10, 13, 14]]).toEqual([
    at,
    answer.details,
    expect.arrayContaining([answer.code]),
  ]);
  if (failed === undefined) {
    expect([at, answer]).toMatchObject([at, { code: 0 }]);
    return false;
  }
  passing.push(failed);
  if (answer.lines.some((line) => subject.tells?.test(line))) return true;
  const live = await look(host);
  await host.restart();
  // A start may finish what was interrupted; otherwise the index knows what the storage does.
  const files = subject.goesOn === undefined ? live.files : expect.anything();
  const { settles } = subject;
  const settled = settles
    ? { next: expect.anything(), heads: expect.anything(), menu: expect.anything() }
    : {};
  expect([at, await look(host)]).toEqual([at, { ...live, files, ...settled }]);
  await checkSettled(trial, round, `with ${answer.code} after ${failed} ${ending}`);
  return true;
}

function checkSteps(trials: readonly Trial[]): string {
  for (const { subject, host, steps } of trials) {
    const has = subject.has[host.storage.driver];
    expect([subject.name, steps]).toEqual([
      subject.name,
      expect.arrayContaining([expect.stringMatching(has ?? /never/)]),
    ]);
  }
  return trials.map(({ subject, steps }) => `${subject.name} ${steps.length}`).join(', ');
}
