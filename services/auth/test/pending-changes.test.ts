import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  confirmedUser,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { serviceRole, signIn } from './support/administrators.ts';
import { capturedSms, lastCode } from './support/captured-sms.ts';
import { mailsTo, newestTo } from './support/mailbox.ts';
import { enrolled, verified } from './support/second-factors.ts';

// A change of address or number that was begun ends: by its time, by its owner, and with what else its owner ends.

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true' });
});
afterAll(() => subject[Symbol.asyncDispose]());

const putUser = (session: Answer, body: object) =>
  subject.send('PUT', '/user', JSON.stringify(body), bearer(session));
const resend = (body: object) => subject.post('/resend', body);
let given = 0;
const somePhone = () => `1415888${String(++given).padStart(4, '0')}`;

/** Somebody with a confirmed address who began to change it. */
async function changingEmail() {
  const [from, to] = [someone('from'), someone('to')];
  const session = await confirmedUser(subject, from);
  expect((await putUser(session, { email: to })).body).toMatchObject({ new_email: to });
  const tokens = [(await newestTo(subject, to)).token, (await newestTo(subject, from)).token];
  return { from, to, session, tokens };
}
/** Somebody with a confirmed number who began to change it. */
async function changingPhone() {
  const [from, to] = [somePhone(), somePhone()];
  await subject.post('/signup', { phone: from, password: PASSWORD });
  const token = await lastCode(subject, from);
  const session = await subject.post('/verify', { type: 'sms', phone: from, token });
  subject.clock.advance(MINUTE_MS);
  expect((await putUser(session, { phone: to })).body).toMatchObject({ new_phone: to });
  return { from, to, session, code: await lastCode(subject, to) };
}
const pending = async (answer: Answer) =>
  await subject.rows.autocommit().row`
    select email_change, phone_change, email_change_confirm_status as status,
      (select count(*) from :schema.one_time_tokens t where t.user_id = u.id and t.token_type like '%change%') as codes
    from :schema.users u where id = ${answer.body.user?.id}`;
const NOTHING = { email_change: null, phone_change: null, status: 0, codes: 0 };

describe('its time', () => {
  test('of an address: within it the codes are sent again, after it nothing is, and the answer is the same', async () => {
    const { from, to } = await changingEmail();
    subject.clock.advance(DAY_MS - 1);
    const within = await resend({ type: 'email_change', email: from });
    const mails = [await mailsTo(subject, to), await mailsTo(subject, from)].map(({ length }) => length);
    expect(mails).toEqual([2, 3]);
    // Sending them again does not make it live longer.
    subject.clock.advance(MINUTE_MS);
    const before = await subject.snapshot();
    const after = await resend({ type: 'email_change', email: from });
    expect([after.status, Object.keys(after.body)]).toEqual([within.status, Object.keys(within.body)]);
    expect(await subject.snapshot()).toBe(before);
    expect((await resend({ type: 'email_change', email: from })).status).toBe(429);
  });

  test('of a number: likewise, and a code can be sent again at least once', async () => {
    const { from, to } = await changingPhone();
    subject.clock.advance(MINUTE_MS);
    const within = await resend({ type: 'phone_change', phone: from });
    expect((await capturedSms(subject)).filter((sms) => sms.to === to)).toHaveLength(2);
    subject.clock.advance(MINUTE_MS);
    const before = await subject.snapshot();
    const after = await resend({ type: 'phone_change', phone: from });
    expect([after.status, Object.keys(after.body)]).toEqual([within.status, Object.keys(within.body)]);
    expect(await subject.snapshot()).toBe(before);
  });

  test('begins anew when it is asked for again', async () => {
    const { from, to, session } = await changingEmail();
    subject.clock.advance(DAY_MS);
    const again = await signIn(subject, from);
    expect((await putUser(again, { email: to })).status).toBe(200);
    subject.clock.advance(MINUTE_MS);
    const before = (await mailsTo(subject, to)).length;
    await resend({ type: 'email_change', email: from });
    expect(await mailsTo(subject, to)).toHaveLength(before + 1);
    expect(session.status).toBe(200);
  });
});

describe('its owner takes it back with the present address', () => {
  test('of mail: no code works any more, and nothing is sent', async () => {
    const { from, session, tokens } = await changingEmail();
    const mails = (await subject.mails()).length;
    const answer = await putUser(session, { email: from.toUpperCase(), data: { a: 1 } });
    expect(answer.body).toMatchObject({ email: from, user_metadata: { a: 1 } });
    expect(answer.body).not.toHaveProperty('new_email');
    expect(await pending(session)).toEqual(NOTHING);
    for (const token_hash of tokens) {
      expect((await subject.post('/verify', { type: 'email_change', token_hash })).status).toBe(403);
    }
    subject.clock.advance(MINUTE_MS);
    expect((await resend({ type: 'email_change', email: from })).status).toBe(200);
    expect(await subject.mails()).toHaveLength(mails);
  });

  test('also when one of the two addresses agreed, and another change may follow', async () => {
    const { from, to, session, tokens } = await changingEmail();
    await subject.post('/verify', { type: 'email_change', token_hash: tokens[0] });
    await putUser(session, { email: from });
    expect(await pending(session)).toEqual(NOTHING);
    subject.clock.advance(MINUTE_MS);
    expect((await putUser(session, { email: to })).body).toMatchObject({ new_email: to });
    expect(await pending(session)).toMatchObject({ email_change: to, status: 0, codes: 2 });
  });

  test('of SMS: the code does not work any more; the address that changes stays', async () => {
    const { from, to, session, code } = await changingPhone();
    const email = someone();
    await putUser(session, { email });
    expect((await putUser(session, { phone: from })).body).not.toHaveProperty('new_phone');
    expect(await pending(session)).toMatchObject({ phone_change: null, email_change: email, codes: 1 });
    expect((await subject.post('/verify', { type: 'phone_change', phone: to, token: code })).status).toBe(
      403,
    );
  });

  test('for who changes nothing it is a change of nothing', async () => {
    const session = await confirmedUser(subject);
    expect((await putUser(session, { email: session.body.user?.email })).status).toBe(200);
    expect(await pending(session)).toEqual(NOTHING);
  });
});

describe('what ends it besides', () => {
  const ends: [name: string, (session: Answer) => Promise<Answer>][] = [
    ['a sign-out everywhere', (session) => subject.post('/logout', undefined, bearer(session))],
    ['a new password', (session) => putUser(session, { password: 'another one' })],
    [
      'a new password by an administrator',
      (session) =>
        subject.send(
          'PUT',
          `/admin/users/${session.body.user?.id}`,
          JSON.stringify({ password: 'another one' }),
          serviceRole(subject),
        ),
    ],
    // Who has only the password could finish with it what now takes both.
    [
      'the first second factor',
      async (session) => {
        const factor = await enrolled(subject, session);
        const raised = await verified(subject, session, factor.id, factor.code());
        for (const now of [raised.body.user, (await subject.get('/user', bearer(raised))).body]) {
          expect(now).not.toHaveProperty('new_email');
          expect(now).not.toHaveProperty('new_phone');
        }
        return raised;
      },
    ],
  ];
  test.each(ends)('%s', async (_name, end) => {
    const email = await changingEmail();
    expect((await end(email.session)).status).toBeLessThan(300);
    expect(await pending(email.session)).toEqual(NOTHING);
    for (const token_hash of email.tokens) {
      expect((await subject.post('/verify', { type: 'email_change', token_hash })).status).toBe(403);
    }
    const phone = await changingPhone();
    expect((await end(phone.session)).status).toBeLessThan(300);
    expect(await pending(phone.session)).toEqual(NOTHING);
    const body = { type: 'phone_change', phone: phone.to, token: phone.code };
    expect((await subject.post('/verify', body)).status).toBe(403);
  });

  test('not a further factor: whoever has one had to show it to begin', async () => {
    const [from, to] = [someone('from'), someone('to')];
    const session = await confirmedUser(subject, from);
    const first = await enrolled(subject, session);
    const high = await verified(subject, session, first.id, first.code());
    expect((await putUser(high, { email: to })).body).toMatchObject({ new_email: to });
    const second = await enrolled(subject, high, 'another');
    const raised = await verified(subject, high, second.id, second.code());
    expect(raised.body.user).toMatchObject({ new_email: to });
    expect(await pending(session)).toEqual({ ...NOTHING, email_change: to, codes: 2 });
  });

  test.each(['local', 'others'])('not a sign-out with scope %s', async (scope) => {
    const { session, to } = await changingEmail();
    expect((await subject.post(`/logout?scope=${scope}`, undefined, bearer(session))).status).toBe(204);
    expect(await pending(session)).toEqual({ ...NOTHING, email_change: to, codes: 2 });
  });
});
