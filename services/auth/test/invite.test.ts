import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer, confirmedUser, PASSWORD, readMail, type Subject, someone, startSubject } from './harness.ts';
import { madeUser, serviceRole, signIn } from './support/administrators.ts';

let subject: Subject;
let admin: Record<string, string>;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_URI_ALLOW_LIST: 'https://app.example/**' });
});
afterAll(() => subject[Symbol.asyncDispose]());
beforeEach(() => {
  admin = serviceRole(subject);
});

const invite = (body: object, query = '') => subject.post(`/invite${query}`, body, admin);
const lastMail = async (email: string) =>
  (await subject.mails()).findLast(({ headers }) => headers.get('to')?.includes(email));

describe('POST /invite', () => {
  it('makes a user without a password and mails a link, which signs in and sets one', async () => {
    const email = someone('Grace');
    const answer = await invite({ email, data: { team: 'core' } }, '?redirect_to=https://app.example/join');
    const at = '2026-01-02T03:04:05.678000Z';
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      email: email.toLowerCase(),
      invited_at: at,
      confirmation_sent_at: at,
      created_at: at,
      updated_at: at,
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: { team: 'core' },
      identities: [{ provider: 'email', email: email.toLowerCase() }],
    });
    expect(answer.body).not.toHaveProperty('email_confirmed_at');
    expect((await subject.audit()).at(-1)).toBe('user_invited');

    const mail = await lastMail(email.toLowerCase());
    const { url, token } = readMail(mail);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      token,
      type: 'invite',
      redirect_to: 'https://app.example/join',
    });
    const verified = await subject.post('/verify', { type: 'invite', token_hash: token, password: PASSWORD });
    expect(verified.body).toMatchObject({
      type: 'invite',
      user: { id: answer.body.id, email: email.toLowerCase() },
    });
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('invites again who did not come yet, as often as wanted; the link before is void, the data stays', async () => {
    const email = someone();
    const first = await invite({ email, data: { team: 'core' } });
    const old = readMail(await lastMail(email));
    const again = await invite({ email, data: { team: 'other' } });
    expect(again.body).toMatchObject({ id: first.body.id, user_metadata: { team: 'core' } });
    const fresh = readMail(await lastMail(email));
    expect((await subject.post('/verify', { type: 'invite', token_hash: old.token })).status).toBe(403);
    expect((await subject.post('/verify', { type: 'invite', token_hash: fresh.token })).status).toBe(200);
  });

  it('is refused for a confirmed user and for what is no address, and sends nothing', async () => {
    const session = await confirmedUser(subject);
    const before = await subject.snapshot();
    for (const [body, status, error_code, msg] of [
      [
        { email: session.body.user?.email },
        422,
        'email_exists',
        'A user with this email address has already been registered',
      ],
      [{ email: '' }, 400, 'validation_failed', 'An email address is required'],
      [
        { email: 'a@b.c\r\nBcc: x@y.z' },
        400,
        'validation_failed',
        'Unable to validate email address: invalid format',
      ],
    ] as const) {
      expect((await invite(body)).body).toMatchObject({ code: status, error_code, msg });
    }
    expect((await subject.post('/invite', { email: someone() }, bearer(session))).status).toBe(403);
    expect(await subject.snapshot()).toBe(before);
  });

  it('sends nobody to a page that is not permitted', async () => {
    const email = someone();
    await invite({ email }, '?redirect_to=https://evil.example/');
    expect(readMail(await lastMail(email)).url.searchParams.get('redirect_to')).toBe('https://site.example');
  });

  it('attack: a stranger who signed the address up before is not let in by the invitation', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: 'of the stranger', data: { team: 'admins' } });
    const answer = await invite({ email });
    expect(answer.body['user_metadata']).toEqual({ sub: answer.body.id, email });
    // Nor by one who signs it up after that.
    subject.clock.advance(61_000);
    admin = serviceRole(subject);
    await subject.post('/signup', { email, password: 'of the second' });
    await invite({ email });
    const { token } = readMail(await lastMail(email));
    expect((await subject.post('/verify', { type: 'invite', token_hash: token })).status).toBe(200);
    expect((await signIn(subject, email, 'of the stranger')).status).toBe(400);
    expect((await signIn(subject, email, 'of the second')).status).toBe(400);
  });

  it('keeps the password an administrator gave', async () => {
    const user = await madeUser(subject, { email_confirm: false });
    const email = String(user.body['email']);
    await invite({ email });
    const { token } = readMail(await lastMail(email));
    await subject.post('/verify', { type: 'invite', token_hash: token });
    expect((await signIn(subject, email)).status).toBe(200);
  });

  it('race: of several invitations of one address all succeed for one account, and one link counts', async () => {
    const email = someone();
    const answers = await Promise.all(Array.from({ length: 6 }, () => invite({ email })));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const links = (await subject.mails())
      .filter(({ headers }) => headers.get('to')?.includes(email))
      .map(readMail);
    // A mail whose link was replaced before its turn is not sent.
    expect(links.length).toBeLessThanOrEqual(6);
    const verified = [];
    for (const { token } of links) {
      verified.push((await subject.post('/verify', { type: 'invite', token_hash: token })).status);
    }
    expect(verified.filter((status) => status === 200)).toHaveLength(1);
  });
});

it('the hourly limit of mails counts invitations, and a refused one makes nobody', async () => {
  await using limited = await startSubject({
    AUTHSVC_RATE_LIMIT_ENABLED: 'true',
    AUTHSVC_RATE_LIMIT_EMAIL_SENT: '2',
  });
  const headers = serviceRole(limited);
  const email = someone();
  expect((await limited.post('/invite', { email }, headers)).status).toBe(200);
  expect((await limited.post('/invite', { email }, headers)).status).toBe(200);
  const before = await limited.snapshot();
  const late = await limited.post('/invite', { email: someone() }, headers);
  expect(late.body).toMatchObject({ code: 429, error_code: 'over_email_send_rate_limit' });
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  expect(await limited.snapshot()).toBe(before);
});
