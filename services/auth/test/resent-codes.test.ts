import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';
import { lastCode } from './support/captured-sms.ts';
import { newestTo } from './support/mailbox.ts';

// A code that is sent again goes to whoever has the address, and anybody may have signed it up before.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true' });
});
afterAll(() => subject[Symbol.asyncDispose]());

const STRANGERS = 'of a stranger';

/** Signs up with each password in turn, and has the confirmation sent again. */
async function resent(passwords: readonly string[], on = subject) {
  const email = someone();
  for (const password of passwords) {
    const answer = await on.post('/signup', { email, password, data: { by: password } });
    expect(answer.status).toBe(200);
    on.clock.advance(60_000);
  }
  expect((await on.post('/resend', { type: 'signup', email })).status).toBe(200);
  return { email, token: (await newestTo(on, email)).token };
}
const verify = (token: string, extra: object = {}) =>
  subject.post('/verify', { type: 'signup', token_hash: token, ...extra });
/** Which of the passwords sign in. */
async function working(email: string): Promise<string[]> {
  const statuses = await Promise.all(
    [PASSWORD, STRANGERS].map(async (password) => [
      password,
      (await signIn(subject, email, password)).status,
    ]),
  );
  return statuses.flatMap(([password, status]) => (status === 200 ? [String(password)] : []));
}

describe('a confirmation that is sent again', () => {
  test.each([
    ['one sign-up', [PASSWORD], [PASSWORD]],
    ['the same sign-up again and again', [PASSWORD, PASSWORD, PASSWORD], [PASSWORD]],
    ['attack: overtaken by a stranger', [PASSWORD, STRANGERS], []],
    ['attack: after a stranger', [STRANGERS, PASSWORD], []],
    ['attack: a stranger before and after', [STRANGERS, PASSWORD, STRANGERS], []],
    ['attack: a stranger in between', [PASSWORD, STRANGERS, PASSWORD], []],
  ])('%s', async (_name, passwords, works) => {
    const { email, token } = await resent(passwords);
    const answer = await verify(token);
    expect(answer.status).toBe(200);
    expect(await working(email)).toEqual(works);
    const metadata = answer.body.user?.['user_metadata'];
    if (works.length === 0) expect(metadata).not.toHaveProperty('by');
    else expect(metadata).toMatchObject({ by: PASSWORD });
  });

  test('more than once: nobody comes back', async () => {
    const { email } = await resent([PASSWORD, STRANGERS]);
    subject.clock.advance(60_000);
    await subject.post('/resend', { type: 'signup', email });
    expect((await verify((await newestTo(subject, email)).token)).status).toBe(200);
    expect(await working(email)).toEqual([]);
  });

  test('whoever proves the address sets a password with the proof, or by recovery', async () => {
    const first = await resent([STRANGERS, PASSWORD]);
    expect((await verify(first.token, { password: 'the third one' })).status).toBe(200);
    expect((await signIn(subject, first.email, 'the third one')).status).toBe(200);
    const second = await resent([STRANGERS, PASSWORD]);
    const session = await verify(second.token);
    const headers = { authorization: `Bearer ${session.body.access_token}` };
    const put = await subject.send('PUT', '/user', JSON.stringify({ password: PASSWORD }), headers);
    expect(put.status).toBe(200);
    expect(await working(second.email)).toEqual([PASSWORD]);
  });

  test('each sign-up’s own code still brings its own password', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: STRANGERS });
    subject.clock.advance(60_000);
    await subject.post('/signup', { email, password: PASSWORD });
    expect((await verify((await newestTo(subject, email)).token)).status).toBe(200);
    expect(await working(email)).toEqual([PASSWORD]);
  });

  test('also when somebody signs up after it was sent again', async () => {
    const { email } = await resent([STRANGERS, PASSWORD]);
    subject.clock.advance(60_000);
    await subject.post('/signup', { email, password: PASSWORD });
    expect((await verify((await newestTo(subject, email)).token)).status).toBe(200);
    expect(await working(email)).toEqual([PASSWORD]);
  });

  test.each([
    ['one sign-up', [PASSWORD, PASSWORD], 200],
    ['attack: two of them', [STRANGERS, PASSWORD], 400],
  ])('by SMS as well: %s', async (_name, passwords, status) => {
    const phone = `1415777${String(Math.floor(Math.random() * 10_000)).padStart(4, '0')}`;
    for (const password of passwords) {
      expect((await subject.post('/signup', { phone, password })).status).toBe(200);
      subject.clock.advance(60_000);
    }
    expect((await subject.post('/resend', { type: 'sms', phone })).status).toBe(200);
    const token = await lastCode(subject, phone);
    expect((await subject.post('/verify', { type: 'sms', phone, token })).status).toBe(200);
    const answer = await subject.post('/token?grant_type=password', { phone, password: PASSWORD });
    expect(answer.status).toBe(status);
  });
});

test('16 sign-ups at once with one password: what is sent again brings it', async () => {
  await using free = await startSubject({ AUTHSVC_SMTP_MAX_FREQUENCY: '0' });
  const email = someone();
  const all = Array.from({ length: 16 }, () => free.post('/signup', { email, password: PASSWORD }));
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(16).fill(200));
  free.clock.advance(1000);
  await free.post('/resend', { type: 'signup', email });
  const { token } = await newestTo(free, email);
  expect((await free.post('/verify', { type: 'signup', token_hash: token })).status).toBe(200);
  expect((await signIn(free, email)).status).toBe(200);
});

test('a sign-up hashes as often for an address nobody has as for one that waits or is taken', async () => {
  const { passwords } = subject.context.outside;
  let count = 0;
  const counting = {
    ...passwords,
    hash: (...values: Parameters<typeof passwords.hash>) => (count++, passwords.hash(...values)),
    verify: (...values: Parameters<typeof passwords.verify>) => (count++, passwords.verify(...values)),
  };
  Object.assign(subject.context.outside, { passwords: counting });
  const email = someone();
  const cost = async () => {
    count = 0;
    expect((await subject.post('/signup', { email, password: PASSWORD })).status).toBe(200);
    subject.clock.advance(60_000);
    return count;
  };
  try {
    expect([await cost(), await cost()]).toEqual([2, 2]);
    await verify((await newestTo(subject, email)).token);
    expect(await cost()).toBe(2);
  } finally {
    Object.assign(subject.context.outside, { passwords });
  }
});
