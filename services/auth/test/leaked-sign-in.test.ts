import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Subject, startSubject } from './harness.ts';
import { madeUser, signIn } from './support/administrators.ts';
import { type LeaksEmulator, leaksEmulator } from './support/leaks-emulator.ts';

const LEAKED = 'P@ssw0rd!';

let leaks: LeaksEmulator;
let open: Subject | undefined;
beforeEach(async () => {
  leaks = await leaksEmulator([LEAKED]);
});
afterEach(async () => {
  await open?.[Symbol.asyncDispose]();
  await leaks[Symbol.asyncDispose]();
});

async function start(enabled: boolean, more: Record<string, string> = {}): Promise<Subject> {
  open = await startSubject({
    AUTHSVC_PASSWORD_HIBP_ENABLED: String(enabled),
    AUTHSVC_PASSWORD_HIBP_URL: leaks.url,
    ...more,
  });
  return open;
}

it('tells who signs in with a leaked password, and lets them in', async () => {
  const subject = await start(true);
  const { email } = (await madeUser(subject, { password: LEAKED })).body;
  const answer = await signIn(subject, email, LEAKED);
  expect(answer.status).toBe(200);
  expect(answer.body['weak_password']).toEqual({
    message: 'Password is known to be weak and easy to guess, please choose a different one.',
    reasons: ['pwned'],
  });
});

it('asks about no password that was wrong, and about none while the setting is off', async () => {
  const subject = await start(true);
  const { email } = (await madeUser(subject, { password: LEAKED })).body;
  expect((await signIn(subject, email, 'wrong')).status).toBe(400);
  expect((await signIn(subject, 'nobody@example.com', LEAKED)).status).toBe(400);
  expect(leaks.requests).toEqual([]);
  await subject[Symbol.asyncDispose]();

  const quiet = await start(false);
  const other = (await madeUser(quiet, { password: LEAKED })).body;
  const answer = await signIn(quiet, other['email'], LEAKED);
  expect([answer.status, answer.body['weak_password']]).toEqual([200, undefined]);
  expect(leaks.requests).toEqual([]);
});

it.each(['down', 'page', 'silent'] as const)(
  'nobody is kept out while leaks cannot be asked about (%s)',
  async (mood) => {
    const subject = await start(true, { AUTHSVC_PASSWORD_HIBP_FAIL_CLOSED: 'true' });
    const { email } = (await madeUser(subject, { password: LEAKED })).body;
    leaks.mood = mood;
    const began = performance.now();
    const answer = await signIn(subject, email, LEAKED);
    expect([answer.status, answer.body['weak_password']]).toEqual([200, undefined]);
    expect(performance.now() - began).toBeLessThan(2_500);
  },
);
