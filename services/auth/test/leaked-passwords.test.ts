import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acceptNewPassword } from '../src/passwords/accept-new-password.ts';
import { type Subject, someone, startSubject } from './harness.ts';
import { type LeaksEmulator, leaksEmulator } from './support/leaks-emulator.ts';

const LEAKED = 'P@ssw0rd!';
const PADDED = 'a good one that padding names';
const GOOD = 'a good one that nobody else has';

let leaks: LeaksEmulator;
let open: Subject | undefined;
beforeEach(async () => {
  leaks = await leaksEmulator([LEAKED], [PADDED]);
});
afterEach(async () => {
  await open?.[Symbol.asyncDispose]();
  open = undefined;
  await leaks[Symbol.asyncDispose]();
});

async function start(more: Record<string, string> = {}): Promise<Subject> {
  open = await startSubject({
    AUTHSVC_PASSWORD_HIBP_ENABLED: 'true',
    AUTHSVC_PASSWORD_HIBP_URL: leaks.url,
    AUTHSVC_PASSWORD_HIBP_USER_AGENT: 'our name',
    ...more,
  });
  return open;
}

const BLOOM = { AUTHSVC_PASSWORD_HIBP_BLOOM_ENABLED: 'true' };
const CLOSED = { AUTHSVC_PASSWORD_HIBP_FAIL_CLOSED: 'true' };
const accept = (subject: Subject, password: string) => acceptNewPassword(subject.context, password);

describe('POST /signup', () => {
  test('refuses a leaked password, and nothing changed', async () => {
    const subject = await start();
    const before = await subject.snapshot();
    const answer = await subject.post('/signup', { email: someone(), password: LEAKED });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      code: 422,
      error_code: 'weak_password',
      msg: 'Password is known to be weak and easy to guess, please choose a different one.',
      weak_password: { reasons: ['pwned'] },
    });
    expect(await subject.snapshot()).toBe(before);
    expect((await subject.post('/signup', { email: someone(), password: GOOD })).status).toBe(200);
  });

  test('without an answer refuses when the operator wants no password then, and nothing changed', async () => {
    const subject = await start(CLOSED);
    leaks.mood = 'down';
    const before = await subject.snapshot();
    const answer = await subject.post('/signup', { email: someone(), password: GOOD });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('30');
    expect(answer.body).toMatchObject({ code: 503, error_code: 'hibp_unavailable' });
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('what leaves the house', () => {
  test('five digits of the hash, a name, and the wish for padding; nothing of the password or the person', async () => {
    const subject = await start();
    await accept(subject, GOOD);
    const [request, ...others] = leaks.requests;
    expect(others).toEqual([]);
    const hash = createHash('sha1').update(GOOD).digest('hex').toUpperCase();
    expect(request).toMatchObject({ method: 'GET', path: `/range/${hash.slice(0, 5)}`, body: '' });
    expect(request?.headers).toMatchObject({ 'add-padding': 'true', 'user-agent': 'our name' });
    const everything = JSON.stringify(request).toUpperCase();
    for (const secret of [GOOD.toUpperCase(), hash, hash.slice(5), hash.slice(0, 6)]) {
      expect(everything).not.toContain(secret);
    }
    expect(Object.keys(request?.headers ?? {}).sort()).toEqual(
      expect.not.arrayContaining(['authorization', 'cookie', 'referer', 'x-forwarded-for']),
    );
  });

  test('nothing for a password that is refused for its length, and nothing when the check is off', async () => {
    const subject = await start();
    await expect(accept(subject, 'x'.repeat(73))).rejects.toMatchObject({ code: 'validation_failed' });
    await using off = await startSubject({ AUTHSVC_PASSWORD_HIBP_URL: leaks.url });
    await accept(off, LEAKED);
    expect(leaks.requests).toEqual([]);
  });
});

test('padding is no leak', async () => {
  const subject = await start();
  await accept(subject, PADDED);
  await expect(accept(subject, LEAKED)).rejects.toMatchObject({ code: 'weak_password' });
});

test('a weak and leaked one has all reasons', async () => {
  const subject = await start({ AUTHSVC_PASSWORD_MIN_LENGTH: '20' });
  await expect(accept(subject, LEAKED)).rejects.toMatchObject({
    body: { weak_password: { reasons: ['length', 'pwned'] } },
  });
});

describe('without an answer', () => {
  const moods = ['down', 'page', 'empty', 'redirect'] as const;
  test.each(moods)('%s: the password passes, unless it must not', async (mood) => {
    leaks.mood = mood;
    const subject = await start();
    await accept(subject, LEAKED);
    await using closed = await startSubject({
      AUTHSVC_PASSWORD_HIBP_ENABLED: 'true',
      AUTHSVC_PASSWORD_HIBP_URL: leaks.url,
      ...CLOSED,
    });
    await expect(accept(closed, GOOD)).rejects.toMatchObject({
      code: 'hibp_unavailable',
      kind: 'unavailable',
    });
  });

  test('who waits for it waits three seconds', async () => {
    leaks.mood = 'silent';
    const subject = await start();
    const startedAt = performance.now();
    await accept(subject, LEAKED);
    expect(performance.now() - startedAt).toBeGreaterThan(2_500);
    expect(performance.now() - startedAt).toBeLessThan(6_000);
  });

  test('a client that went away is not waited for', async () => {
    leaks.mood = 'silent';
    const subject = await start();
    const gone = AbortSignal.abort(new Error('gone'));
    await expect(acceptNewPassword(subject.context, GOOD, gone)).rejects.toThrow('gone');
  });
});

describe('the Bloom filter', () => {
  test('answers what was asked before, leaked or not', async () => {
    const subject = await start(BLOOM);
    for (let round = 0; round < 3; round++) {
      await accept(subject, GOOD);
      await expect(accept(subject, LEAKED)).rejects.toMatchObject({ code: 'weak_password' });
    }
    expect(leaks.requests).toHaveLength(2);
    leaks.mood = 'down';
    await expect(accept(subject, LEAKED)).rejects.toMatchObject({ code: 'weak_password' });
  });

  test('asks again after a day: leaks go on', async () => {
    const subject = await start(BLOOM);
    await accept(subject, GOOD);
    subject.clock.advance(25 * 3_600_000);
    await accept(subject, GOOD);
    expect(leaks.requests).toHaveLength(2);
  });

  test('starts anew when it is full, and lets nothing pass because of it', async () => {
    const subject = await start({ ...BLOOM, AUTHSVC_PASSWORD_HIBP_BLOOM_ITEMS: '25' });
    for (let round = 0; round < 3; round++) {
      await accept(subject, GOOD);
      await expect(accept(subject, LEAKED)).rejects.toMatchObject({ code: 'weak_password' });
    }
    // Each answer has 20 hashes and more: there is room for one.
    expect(leaks.requests).toHaveLength(6);
  });

  test('does not remember a failure', async () => {
    const subject = await start(BLOOM);
    leaks.mood = 'page';
    await accept(subject, LEAKED);
    leaks.mood = 'well';
    await expect(accept(subject, LEAKED)).rejects.toMatchObject({ code: 'weak_password' });
  });

  test('without it everything is asked', async () => {
    const subject = await start();
    await accept(subject, GOOD);
    await accept(subject, GOOD);
    expect(leaks.requests).toHaveLength(2);
  });
});
