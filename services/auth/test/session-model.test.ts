import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Subject, startSubject } from './harness.ts';
import { madeUser } from './support/administrators.ts';
import { type Expected, type Policy, SessionModel } from './support/session-model.ts';
import {
  ban,
  changePassword,
  compare,
  enter,
  logOut,
  type Person,
  refresh,
  revoke,
  type Step,
  tryEverything,
  wait,
} from './support/session-steps.ts';

// Whatever people do with their sessions in whatever order, the service does what the model says: a family has one living
// child, a token that was used before ends it, and what has ended never comes back.

class Command implements fc.AsyncCommand<SessionModel, Person> {
  readonly #text: string;
  readonly #step: Step;

  constructor(text: string, step: Step) {
    this.#text = text;
    this.#step = step;
  }

  check(): boolean {
    return true;
  }

  async run(model: SessionModel, person: Person): Promise<void> {
    await this.#step(model, person);
    await compare(model, person);
  }

  toString(): string {
    return this.#text;
  }
}

const number = fc.nat({ max: 50 });
const anyRefresh = fc
  .tuple(number, fc.constantFrom(0, 0, 0, 1, 2, 3), fc.constantFrom(1, 1, 1, 2, 5))
  .map(([n, ago, times]) => new Command(`refresh #${n}, ${ago} ago, ${times} times`, refresh(n, ago, times)));
const anyEnd = fc.oneof(
  fc
    .tuple(number, fc.constantFrom('local', 'local', 'others', 'global'))
    .map(([n, scope]) => new Command(`log out ${scope} by #${n}`, logOut(n, scope))),
  fc.tuple(number, number).map(([n, place]) => new Command(`#${n} revokes no. ${place}`, revoke(n, place))),
  number.map((n) => new Command(`new password by #${n}`, changePassword(n))),
);
const anyBan = fc
  .constantFrom(0, 0, 5, 45)
  .map((minutes) => new Command(`ban for ${minutes} min`, ban(minutes)));
const anyWait = fc
  .constantFrom(0, 1, 10, 29, 30)
  .map((minutes) => new Command(`${minutes} min pass`, wait(minutes)));
// Mostly refreshes, else no session gets old enough to be robbed of a token.
const anything = fc.oneof(
  { arbitrary: anyRefresh, weight: 12 },
  { arbitrary: fc.constant(new Command('sign in', enter)), weight: 2 },
  { arbitrary: anyEnd, weight: 2 },
  { arbitrary: anyBan, weight: 1 },
  { arbitrary: anyWait, weight: 2 },
);

const HOUR = 3_600_000;
describe.each<[string, Policy]>([
  ['without limits', { timeboxMs: 0, inactivityMs: 0, singlePerUser: false }],
  ['with a time-box and inactivity', { timeboxMs: 2 * HOUR, inactivityMs: HOUR / 2, singlePerUser: false }],
  ['one session at a time', { timeboxMs: 2 * HOUR, inactivityMs: HOUR, singlePerUser: true }],
])('%s', (_name, policy) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject({
      AUTHSVC_SESSIONS_TIMEBOX: `${policy.timeboxMs}ms`,
      AUTHSVC_SESSIONS_INACTIVITY_TIMEOUT: `${policy.inactivityMs}ms`,
      AUTHSVC_SESSIONS_SINGLE_PER_USER: String(policy.singlePerUser),
      // Access tokens outlive the run: what ends here are sessions.
      AUTHSVC_JWT_EXP: '1000000000',
    });
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  test('the service is the model', async () => {
    const met = new Set<Expected>();
    await fc.assert(
      fc.asyncProperty(fc.commands([anything], { maxCommands: 40, size: 'max' }), async (all) => {
        const model = new SessionModel(policy);
        const made = await madeUser(subject, { password: model.password });
        const person = { subject, id: made.body.id ?? '', email: String(made.body['email']), met };
        await fc.asyncModelRun(() => ({ model, real: person }), [new Command('sign in', enter), ...all]);
        await tryEverything(model, person);
      }),
      // The same each time, because what must have been met is asked for below.
      { numRuns: 40, seed: 20_261_122 },
    );
    const outcomes = ['rotates', 'repeats', 'reuse'];
    const refusals = ['user_banned', 'refresh_token_already_used', 'refresh_token_not_found'];
    if (policy.inactivityMs > 0) refusals.push('session_expired');
    expect(new Set(met)).toEqual(new Set([...outcomes, ...refusals.map((code) => `refused as ${code}`)]));
  }, 240_000);
});
