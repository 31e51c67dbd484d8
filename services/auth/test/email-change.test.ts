import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  codeIn,
  confirmedUser,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { mailsTo, newestTo } from './support/mailbox.ts';

let subject: Subject;
let single: Subject;
beforeAll(async () => {
  subject = await startSubject();
  single = await startSubject({ AUTHSVC_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' });
});
afterAll(async () => {
  await subject[Symbol.asyncDispose]();
  await single[Symbol.asyncDispose]();
});

const putUser = (on: Subject, session: Answer, body: object, query = '') =>
  on.send('PUT', `/user${query}`, JSON.stringify(body), bearer(session));
const half = {
  msg: 'Confirmation link accepted. Please proceed to confirm link sent to the other email',
  code: '200',
};
const byLink = (on: Subject, token: string) =>
  on.post('/verify', { type: 'email_change', token_hash: token });

/** Somebody who asked for another address, and the mails that brought. */
async function changing(on = subject) {
  const [from, to] = [someone('from'), someone('to')];
  const session = await confirmedUser(on, from);
  const answer = await putUser(on, session, { email: to.toUpperCase() });
  if (answer.status !== 200) throw new Error(answer.text);
  return { from, to, session, answer, atNew: await newestTo(on, to), atPresent: await newestTo(on, from) };
}
const addressOf = async (on: Subject, session: Answer) =>
  (await on.get('/user', bearer(session))).body['email'];

describe('a change of address that both addresses confirm', () => {
  test('PUT /user answers the user with the new address beside the present one, and mails both', async () => {
    const { from, to, answer } = await changing();
    expect(answer.body).toMatchObject({
      email: from,
      new_email: to,
      email_change_sent_at: expect.any(String),
      identities: [{ email: from }],
    });
    const subjects = [...(await mailsTo(subject, to)), ...(await mailsTo(subject, from))]
      .map(({ headers }) => headers.get('subject'))
      .filter((text) => text !== 'Confirm Your Signup');
    expect(subjects).toEqual(['Confirm Email Change', 'Confirm Email Change']);
    expect((await mailsTo(subject, from)).at(-1)?.text).toContain(to);
    expect((await subject.audit()).at(-1)).toBe('user_modified');
  });

  test.each([
    ['the new one first', ['atNew', 'atPresent']],
    ['the present one first', ['atPresent', 'atNew']],
  ] as const)('%s: the first waits, the second changes and signs in', async (_name, order) => {
    const sent = await changing();
    const first = await byLink(subject, sent[order[0]].token);
    expect([first.status, first.body]).toEqual([200, half]);
    expect(await addressOf(subject, sent.session)).toBe(sent.from);
    expect((await byLink(subject, sent[order[0]].token)).status).toBe(403);
    const second = await byLink(subject, sent[order[1]].token);
    expect(second.body).toMatchObject({
      type: 'email_change',
      user: {
        email: sent.to,
        user_metadata: { email: sent.to, email_verified: true },
        identities: [{ email: sent.to, identity_data: { email: sent.to } }],
      },
    });
    expect(second.body.user).not.toHaveProperty('new_email');
    expect((await subject.audit()).at(-1)).toBe('user_modified');
    expect(
      (await subject.post('/token?grant_type=password', { email: sent.to, password: PASSWORD })).status,
    ).toBe(200);
    expect(
      (await subject.post('/token?grant_type=password', { email: sent.from, password: PASSWORD })).status,
    ).toBe(400);
  });

  test('by codes: with the new and with the present address', async () => {
    const { from, to, atNew, atPresent } = await changing();
    const byCode = (email: string, token: string) =>
      subject.post('/verify', { type: 'email_change', email, token });
    expect((await byCode(from, atNew.code)).status).toBe(atNew.code === atPresent.code ? 200 : 403);
    expect((await byCode(from, atPresent.code)).body).toEqual(half);
    expect((await byCode(to, atNew.code)).body).toMatchObject({ user: { email: to } });
  });

  test('in a browser: a message in the fragment, then the session', async () => {
    const { atNew, atPresent } = await changing();
    const open = ({ pathname, search }: URL) => subject.get(pathname + search);
    const first = await open(atPresent.url);
    expect([first.status, first.headers['location']]).toEqual([
      303,
      'https://site.example#message=Confirmation+link+accepted.+Please+proceed+to+confirm+link+sent+to+the+other+email&sb=',
    ]);
    expect((await open(atNew.url)).headers['location']).toMatch(/#access_token=.*&type=email_change$/);
  });

  test('resending mails only the side that is missing, and counts on', async () => {
    const { from, to, atPresent } = await changing();
    await byLink(subject, atPresent.token);
    expect((await subject.post('/resend', { type: 'email_change', email: from })).status).toBe(429);
    subject.clock.advance(60_000);
    const before = (await mailsTo(subject, from)).length;
    expect((await subject.post('/resend', { type: 'email_change', email: from })).status).toBe(200);
    expect(await mailsTo(subject, from)).toHaveLength(before);
    expect((await byLink(subject, (await newestTo(subject, to)).token)).body).toMatchObject({
      user: { email: to },
    });
  });

  test('another wish takes back what was agreed to before', async () => {
    const { from, session, atNew, atPresent } = await changing();
    await byLink(subject, atPresent.token);
    subject.clock.advance(60_000);
    const other = someone('other');
    await putUser(subject, session, { email: other });
    expect((await byLink(subject, atNew.token)).status).toBe(403);
    // The new address alone is not enough: the present one agreed to another one.
    expect((await byLink(subject, (await newestTo(subject, other)).token)).body).toEqual(half);
    expect(await addressOf(subject, session)).toBe(from);
    expect((await byLink(subject, (await newestTo(subject, from)).token)).body).toMatchObject({
      user: { email: other },
    });
  });

  test('the address was taken meanwhile: 422 email_exists, and nothing changed', async () => {
    const { to, atNew, atPresent } = await changing();
    subject.clock.advance(60_000);
    await confirmedUser(subject, to);
    await byLink(subject, atPresent.token);
    const before = await subject.snapshot();
    expect((await byLink(subject, atNew.token)).body).toEqual({
      code: 422,
      error_code: 'email_exists',
      msg: 'A user with this email address has already been registered',
    });
    const opened = await subject.get(atNew.url.pathname + atNew.url.search);
    expect(opened.headers['location']).toBe(
      'https://site.example#error_code=email_exists&error_description=A+user+with+this+email+address+has+already+been+registered&sb=',
    );
    expect(await subject.snapshot()).toBe(before);
  });

  test('a banned user changes nothing', async () => {
    const { from, atPresent } = await changing();
    await subject.rows.autocommit()
      .run`update :schema.users set banned_until = 'infinity' where email = ${from}`;
    const before = await subject.snapshot();
    expect((await byLink(subject, atPresent.token)).body).toMatchObject({ error_code: 'user_banned' });
    expect(await subject.snapshot()).toBe(before);
  });

  test('a new password takes the change back', async () => {
    const { session, atNew, atPresent } = await changing();
    const answer = await putUser(subject, session, { password: 'a new one' });
    expect(answer.body).not.toHaveProperty('new_email');
    for (const { token } of [atNew, atPresent]) expect((await byLink(subject, token)).status).toBe(403);
  });

  test('both sides at the same moment: one change, one session', async () => {
    for (let round = 0; round < 8; round++) {
      const { to, session, atNew, atPresent } = await changing();
      const answers = await Promise.all([byLink(subject, atNew.token), byLink(subject, atPresent.token)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(answers.filter(({ body }) => body['access_token'] !== undefined)).toHaveLength(1);
      expect(await addressOf(subject, session)).toBe(to);
    }
  });

  test('one side 8 times at the same moment: it counts once', async () => {
    const { from, session, atNew } = await changing();
    const answers = await Promise.all(Array.from({ length: 8 }, () => byLink(subject, atNew.token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(403)]);
    expect(await addressOf(subject, session)).toBe(from);
  });
});

describe('a change of address that the new one confirms alone', () => {
  test('one mail, one confirmation', async () => {
    const { from, to, atNew } = await changing(single);
    expect((await mailsTo(single, from)).map(({ headers }) => headers.get('subject'))).toEqual([
      'Confirm Your Signup',
    ]);
    expect((await byLink(single, atNew.token)).body).toMatchObject({
      type: 'email_change',
      user: { email: to },
    });
  });

  test('the second of two with the same wish: email_exists', async () => {
    const to = someone('wanted');
    const tokens = [];
    for (const session of [await confirmedUser(single), await confirmedUser(single)]) {
      expect((await putUser(single, session, { email: to })).status).toBe(200);
      tokens.push((await newestTo(single, to)).token);
      single.clock.advance(60_000);
    }
    const answers = await Promise.all(tokens.map((token) => byLink(single, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });

  test('with autoconfirm a new address is confirmed all the same', async () => {
    await using auto = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
    const [from, to] = [someone(), someone()];
    const session = await auto.post('/signup', { email: from, password: PASSWORD });
    expect((await putUser(auto, session, { email: to })).body).toMatchObject({ email: from, new_email: to });
    expect(await mailsTo(auto, from)).toEqual([]);
    expect((await byLink(auto, (await newestTo(auto, to)).token)).body).toMatchObject({
      user: { email: to },
    });
  });
});

describe('PUT /user with an address', () => {
  test.each([
    [
      'no address',
      { email: 'x' },
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ],
    [
      'PKCE',
      { email: 'a@b.c', code_challenge: 'x' },
      400,
      'validation_failed',
      'PKCE flow requires code_challenge_method and code_challenge',
    ],
    [
      'all or nothing: a good address, a weak password',
      { email: 'new@example.com', data: { a: 1 }, password: '1' },
      422,
      'weak_password',
      'Password should be at least 6 characters.',
    ],
  ])('%s → refused, and nothing changed', async (_name, body, code, error_code, msg) => {
    const session = await confirmedUser(subject);
    const before = await subject.snapshot();
    expect((await putUser(subject, session, body)).body).toMatchObject({ code, error_code, msg });
    expect(await subject.snapshot()).toBe(before);
  });

  test('the address of somebody else → 422 email_exists; the own one is no change', async () => {
    const [own, taken] = [someone(), someone()];
    const session = await confirmedUser(subject, own);
    await confirmedUser(subject, taken);
    const before = await subject.snapshot();
    const answer = await putUser(subject, session, { email: taken, data: { a: 1 } });
    expect(answer.body).toEqual({
      code: 422,
      error_code: 'email_exists',
      msg: 'A user with this email address has already been registered',
    });
    expect(await subject.snapshot()).toBe(before);
    const mails = (await subject.mails()).length;
    expect((await putUser(subject, session, { email: own.toUpperCase() })).body).not.toHaveProperty(
      'new_email',
    );
    expect(await subject.mails()).toHaveLength(mails);
  });

  test('too soon → 429 for the whole request, by user and by wanted address', async () => {
    const { to, session } = await changing();
    const other = await confirmedUser(subject);
    const before = await subject.snapshot();
    for (const [who, email] of [
      [session, someone()],
      [other, to],
    ] as const) {
      const answer = await putUser(subject, who, { email, data: { a: 1 }, password: 'another one' });
      expect([answer.status, answer.body['error_code'], answer.headers['retry-after']]).toEqual([
        429,
        'over_email_send_rate_limit',
        '60',
      ]);
    }
    expect(await subject.snapshot()).toBe(before);
    // A stranger who asks for mails again and again does not keep the owner from changing.
    subject.clock.advance(60_000);
    const from = String(session.body.user?.email);
    expect((await subject.post('/resend', { type: 'email_change', email: from })).status).toBe(200);
    expect((await putUser(subject, session, { email: someone() })).status).toBe(200);
  });

  test('the link goes where it is permitted to', async () => {
    const to = someone();
    const session = await confirmedUser(single);
    await putUser(single, session, { email: to }, '?redirect_to=https://evil.example');
    expect((await newestTo(single, to)).url.searchParams.get('redirect_to')).toBe('https://site.example');
  });

  test('a sign-up with the address at the same moment: one of them has it in the end', async () => {
    const to = someone();
    const session = await confirmedUser(single);
    const [change] = await Promise.all([
      putUser(single, session, { email: to }),
      single.post('/signup', { email: to, password: PASSWORD }),
    ]);
    expect([200, 422]).toContain(change.status);
    const mails = await mailsTo(single, to);
    const answers = [];
    for (const mail of mails) {
      const type = mail.headers.get('subject') === 'Confirm Email Change' ? 'email_change' : 'signup';
      answers.push(await single.post('/verify', { type, email: to, token: codeIn(mail) }));
    }
    expect(answers.every(({ status }) => [200, 403, 422].includes(status))).toBe(true);
    const owners = await single.rows.autocommit().rows`select id from :schema.users where email = ${to}`;
    expect(owners).toHaveLength(1);
  });
});
