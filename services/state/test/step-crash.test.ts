import { expect, it } from 'vitest';
import type { Answer } from './daemon.ts';
import { checkSettled, look, makeTrial, prepareRound, type Trial } from './step-trial.ts';
import { SteppingHosts } from './stepping-hosts.ts';
import { SUBJECTS } from './written-operations.ts';

// Every writing operation is stopped before the first thing it does, then before the second, and so on until it comes through,
// and the process killed there; then each of these things is made to fail instead. Each operation has a daemon of its own.

const MAX_ROUNDS = 120;

it('killed before any of its steps, a write has happened as a whole or not at all', {
  timeout: 400_000,
}, async () => {
  const hosts = new SteppingHosts();
  const trials = SUBJECTS.map((subject) => makeTrial(subject, hosts));
  await hosts.start(trials.map(({ host }) => host));
  let unfinished = trials;
  for (let round = 1; unfinished.length > 0 && round < MAX_ROUNDS; round++) {
    await Promise.all(unfinished.map((trial) => prepareRound(trial, round)));
    const outcomes = await Promise.all(
      unfinished.map(async ({ host, subject, steps }) => {
        const stopped = hosts.ended(host.name);
        await host.watch('stop', steps);
        return await Promise.race([subject.ask(host, round), stopped]);
      }),
    );
    await hosts.kill();
    await hosts.start(unfinished.map(({ host }) => host));
    await Promise.all(
      unfinished.map(async (trial, index) => {
        const outcome = outcomes[index] as Answer | string;
        const step = typeof outcome === 'string' ? outcome : 'answered';
        await checkSettled(trial, round, `killed before ${step}`);
        if (typeof outcome === 'string') trial.steps.push(outcome);
        else
          expect([trial.subject.name, outcome]).toEqual([
            trial.subject.name,
            expect.objectContaining({ code: 0 }),
          ]);
      }),
    );
    unfinished = unfinished.filter((_, index) => typeof outcomes[index] === 'string');
  }
  checkSteps(trials);
});

it('of which any step fails, a write has happened as a whole or not at all', {
  timeout: 400_000,
}, async () => {
  const hosts = new SteppingHosts();
  const trials = SUBJECTS.map((subject) => makeTrial(subject, hosts));
  await hosts.start(trials.map(({ host }) => host));
  await Promise.all(trials.map((trial) => failEach(trial, hosts)));
  checkSteps(trials);
});

async function failEach(trial: Trial, hosts: SteppingHosts): Promise<void> {
  const { host, subject, steps } = trial;
  for (let round = 1; round < MAX_ROUNDS; round++) {
    await prepareRound(trial, round);
    let failed: string | undefined;
    void hosts.ended(host.name).then((step) => {
      failed = step;
    });
    await host.watch('fail', steps);
    const answer = await subject.ask(host, round);
    await host.unwatch();
    const at = `${subject.name}, ${failed} failed`;
    // Nothing that goes wrong in the system is the caller's fault, or a secret.
    expect([at, [0, 8, 9, 10, 13, 14]]).toEqual([at, expect.arrayContaining([answer.code])]);
    if (failed === undefined) {
      expect([at, answer.code]).toEqual([at, 0]);
      return;
    }
    steps.push(failed);
    if (answer.lines.some((line) => subject.tells?.test(line))) continue;
    const live = await look(host);
    await host.restart();
    // A start may finish what was interrupted; otherwise the index knows what the storage does.
    const files = subject.goesOn === undefined ? live.files : expect.anything();
    expect([at, await look(host)]).toEqual([at, { ...live, files }]);
    await checkSettled(trial, round, `with ${answer.code} after ${failed} failed`);
  }
}

function checkSteps(trials: readonly Trial[]): void {
  for (const { subject, steps } of trials) {
    expect(steps.length).toBeGreaterThan(1);
    expect(steps).toContainEqual(expect.stringMatching(subject.has));
  }
}
