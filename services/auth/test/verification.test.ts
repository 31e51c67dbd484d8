import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimsOf, PASSWORD, readMail, type Subject, someone, startSubject } from './harness.ts';
import { onwardOf } from './support/linking-flow.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

/** A new account and what its mail says. */
async function pending() {
  const email = someone();
  await subject.post('/signup', { email, password: PASSWORD });
  const mail = (await subject.mails()).find(({ headers }) => headers.get('to') === email);
  return { email, ...readMail(mail) };
}

const linkDead = { code: 403, error_code: 'otp_expired', msg: 'Email link is invalid or has expired' };
const codeDead = { code: 403, error_code: 'otp_expired', msg: 'Token has expired or is invalid' };

describe('POST /verify', () => {
  test.each([
    ['token_hash', (sent: Sent) => ({ type: 'signup', token_hash: sent.token }), 'signup'],
    [
      'a lone token, as the contract shows it (C4)',
      (sent: Sent) => ({ type: 'signup', token: sent.token }),
      'signup',
    ],
    ['address and code', (sent: Sent) => ({ type: 'signup', email: sent.email, token: sent.code }), 'signup'],
    [
      'address in another case',
      (sent: Sent) => ({ type: 'signup', email: sent.email.toUpperCase(), token: sent.code }),
      'signup',
    ],
    ['type email', (sent: Sent) => ({ type: 'email', email: sent.email, token: sent.code }), 'signup'],
    ['type email with a hash', (sent: Sent) => ({ type: 'email', token_hash: sent.token }), 'signup'],
  ])('by %s: a session with its type, the address confirmed', async (_name, body, type) => {
    const sent = await pending();
    const auditBefore = (await subject.audit()).length;
    const answer = await subject.post('/verify', body(sent));
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toMatchObject({
      token_type: 'bearer',
      expires_in: 3600,
      type,
      user: {
        email: sent.email,
        email_confirmed_at: expect.any(String),
        confirmed_at: expect.any(String),
        last_sign_in_at: expect.any(String),
        user_metadata: { email_verified: true },
        identities: [{ identity_data: { email_verified: true } }],
      },
    });
    expect(claimsOf(subject, answer)).toMatchObject({ amr: [{ method: 'otp' }], aal: 'aal1' });
    expect((await subject.audit()).slice(auditBefore)).toEqual(['user_signedup']);
  });

  test('a code works once, by whichever of its two forms', async () => {
    const sent = await pending();
    expect((await subject.post('/verify', { type: 'signup', token_hash: sent.token })).status).toBe(200);
    const before = await subject.snapshot();
    expect((await subject.post('/verify', { type: 'signup', token_hash: sent.token })).body).toEqual(
      linkDead,
    );
    expect(
      (await subject.post('/verify', { type: 'signup', email: sent.email, token: sent.code })).body,
    ).toEqual(codeDead);
    expect(await subject.snapshot()).toBe(before);
  });

  test('a code expires', async () => {
    const sent = await pending();
    subject.clock.advance(86_400_000);
    expect((await subject.post('/verify', { type: 'signup', token_hash: sent.token })).body).toEqual(
      linkDead,
    );
    expect(
      (await subject.post('/verify', { type: 'signup', email: sent.email, token: sent.code })).body,
    ).toEqual(codeDead);
  });

  test('a code of another type is none', async () => {
    const sent = await pending();
    for (const type of ['recovery', 'magiclink', 'email_change']) {
      expect((await subject.post('/verify', { type, token_hash: sent.token })).body).toEqual(linkDead);
    }
    expect((await subject.post('/verify', { type: 'signup', token_hash: sent.token })).status).toBe(200);
  });

  test('after ten wrong guesses the right code is spent; the link, which nobody can guess, is not', async () => {
    const sent = await pending();
    const wrong = sent.code === '000000' ? '000001' : '000000';
    const guess = (token: string) => subject.post('/verify', { type: 'signup', email: sent.email, token });
    for (let n = 0; n < 10; n++) expect((await guess(wrong)).body).toEqual(codeDead);
    expect((await guess(sent.code)).body).toEqual(codeDead);
    expect((await subject.post('/verify', { type: 'signup', token_hash: sent.token })).status).toBe(200);
  });

  test('nine wrong guesses are forgiven', async () => {
    const sent = await pending();
    const wrong = sent.code === '000000' ? '000001' : '000000';
    for (let n = 0; n < 9; n++)
      await subject.post('/verify', { type: 'signup', email: sent.email, token: wrong });
    expect(
      (await subject.post('/verify', { type: 'signup', email: sent.email, token: sent.code })).status,
    ).toBe(200);
  });

  test('a banned user is told so, and the code stays', async () => {
    const sent = await pending();
    await subject.rows.autocommit()
      .run`update :schema.users set banned_until = 'infinity' where email = ${sent.email}`;
    const before = await subject.snapshot();
    const answer = await subject.post('/verify', { type: 'signup', token_hash: sent.token });
    expect(answer.body).toEqual({ code: 403, error_code: 'user_banned', msg: 'User is banned' });
    expect(await subject.snapshot()).toBe(before);
  });

  test('an invited user without a password can bring one (C6), which has to be strong', async () => {
    const sent = await pending();
    await subject.rows.autocommit()
      .run`update :schema.users set encrypted_password = null where email = ${sent.email}`;
    const weak = await subject.post('/verify', { type: 'signup', token: sent.token, password: '123' });
    expect(weak.body).toMatchObject({
      code: 422,
      error_code: 'weak_password',
      weak_password: { reasons: ['length'] },
    });
    expect(
      (await subject.post('/verify', { type: 'signup', token: sent.token, password: 'my first one' })).status,
    ).toBe(200);
    const grant = { email: sent.email, password: 'my first one' };
    expect((await subject.post('/token?grant_type=password', grant)).status).toBe(200);
  });

  test.each([
    [{}, 400, 'Verify requires a verification type'],
    [{ type: 'signup' }, 400, 'Verify requires either a token or a token hash'],
    [{ type: 'signup', token: 'a', token_hash: 'b' }, 400, 'Verify requires either a token or a token hash'],
    [
      { type: 'signup', token: '1', email: 'a@b.c', phone: '+1' },
      400,
      'Only an email address or phone number should be provided on verify',
    ],
    [{ type: 'sms', token: '1', phone: 'x' }, 400, 'Invalid phone number format (E.164 required)'],
    [{ type: 'signup', token: '1', email: 'x' }, 422, 'Invalid email format'],
    [{ type: 'nonsense', token: '1', email: 'a@b.c' }, 400, 'Unsupported verification type'],
    [{ type: 'nonsense', token_hash: 'x' }, 400, 'Invalid email verification type'],
    [{ type: 'constructor', token_hash: 'x' }, 400, 'Invalid email verification type'],
    [
      { type: 'signup', token_hash: 'x', email: 'a@b.c' },
      400,
      'Only the token_hash and type should be provided',
    ],
    [
      { type: 'signup', token_hash: 'x', redirect_to: 'y' },
      400,
      'Only the token_hash and type should be provided',
    ],
  ])('%j → %i %s', async (body, status, msg) => {
    const answer = await subject.post('/verify', body);
    expect(answer.body).toEqual({ code: status, error_code: 'validation_failed', msg });
  });

  test('nobody can be verified by phone while no code is ever sent to one', async () => {
    const answer = await subject.post('/verify', { type: 'sms', token: '123456', phone: '+14155552671' });
    expect(answer.body).toEqual(codeDead);
  });
});

type Sent = Awaited<ReturnType<typeof pending>>;

describe('GET /verify', () => {
  test('signs in and sends the browser home with the session in the fragment, keys sorted', async () => {
    const sent = await pending();
    const answer = await subject.get(sent.url.pathname + sent.url.search);
    expect(answer.status).toBe(303);
    const location = String(answer.headers['location']);
    expect(location).toMatch(/^https:\/\/site\.example#access_token=/);
    const fragment = new URLSearchParams(new URL(location).hash.slice(1));
    expect([...fragment.keys()]).toEqual([
      'access_token',
      'expires_at',
      'expires_in',
      'refresh_token',
      'sb',
      'token_type',
      'type',
    ]);
    expect(fragment.get('type')).toBe('signup');
    expect(fragment.get('token_type')).toBe('bearer');
    const headers = { authorization: `Bearer ${fragment.get('access_token')}` };
    expect((await subject.get('/user', headers)).body).toMatchObject({ email: sent.email });
    const refreshed = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: fragment.get('refresh_token'),
    });
    expect(refreshed.status).toBe(200);
  });

  test('a dead link goes home with the reason in the fragment', async () => {
    const answer = await subject.get('/verify?type=signup&token=dead');
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe(
      'https://site.example#error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid+or+has+expired&sb=',
    );
  });

  test('the fragment is appended to the letter, behind the one of a single-page application', async () => {
    const answer = await subject.get('/verify?type=signup&token=dead&redirect_to=https://site.example/%23/');
    expect(answer.headers['location']).toMatch(/^https:\/\/site\.example\/#\/#error=/);
  });

  test('a target beyond ASCII is written as browsers write it', async () => {
    const answer = await subject.get(
      `/verify?type=signup&token=dead&redirect_to=${encodeURIComponent('https://site.example/é')}`,
    );
    expect(answer.headers['location']).toMatch(/^https:\/\/site\.example\/%C3%A9#error=/);
  });

  test('without its parts it is refused to the face', async () => {
    expect((await subject.get('/verify?token=x')).body).toMatchObject({
      code: 400,
      error_code: 'validation_failed',
    });
    expect((await subject.get('/verify?type=signup')).body).toMatchObject({
      code: 400,
      error_code: 'validation_failed',
    });
  });
});

describe('GET /verify with MAILER_LINK_CONFIRM_PAGE', () => {
  let asking: Subject;
  beforeAll(async () => {
    asking = await startSubject({
      AUTHSVC_MAILER_LINK_CONFIRM_PAGE: 'true',
      AUTHSVC_URI_ALLOW_LIST: 'myapp://**',
    });
  });
  afterAll(() => asking[Symbol.asyncDispose]());
  const pressed = (html: string) =>
    /<form method="post" action="([^"]*)">/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';

  test('opening it uses nothing up; the button signs in', async () => {
    const email = someone();
    await asking.post('/signup', { email, password: PASSWORD });
    const { url } = readMail((await asking.mails()).at(-1));
    const before = await asking.snapshot();
    const page = await asking.get(url.pathname + url.search);
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    });
    expect(page.text).not.toContain('<script');
    expect(await asking.snapshot()).toBe(before);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await asking.send('POST', `/verify${pressed(page.text)}`, '', form);
    expect([answer.status, answer.headers]).toMatchObject([
      200,
      { 'cache-control': 'no-store', 'content-security-policy': page.headers['content-security-policy'] },
    ]);
    expect(onwardOf(answer.text)).toMatch(/^https:\/\/site\.example#access_token=/);
    const again = await asking.send('POST', `/verify${pressed(page.text)}`, '', form);
    expect(onwardOf(again.text)).toMatch(/#error=access_denied&error_code=otp_expired/);
  });

  test('nothing of the address becomes part of the page', async () => {
    const evil = '"><script>alert(1)</script>';
    const query = new URLSearchParams({
      type: evil,
      token: evil,
      redirect_to: `myapp://a;script-src *${evil}`,
    });
    const page = await asking.get(`/verify?${query.toString()}`);
    expect(page.text).not.toContain('<script');
    expect(page.headers['content-security-policy']).toContain("form-action 'self';");
    expect(new URLSearchParams(pressed(page.text).slice(1)).get('token')).toBe(evil);
  });

  test('an application’s own scheme is where it may lead', async () => {
    const page = await asking.get('/verify?type=signup&token=x&redirect_to=myapp://in');
    const answer = await asking.send('POST', `/verify${pressed(page.text)}`, '');
    expect(onwardOf(answer.text)).toMatch(/^myapp:\/\/in#error=access_denied/);
    expect(new URLSearchParams(pressed(page.text).slice(1)).get('redirect_to')).toBe('myapp://in');
  });

  test('without its parts a link is refused to the face; a body still counts', async () => {
    expect((await asking.get('/verify?token=x')).body).toMatchObject({
      code: 400,
      error_code: 'validation_failed',
    });
    expect(
      (await asking.post('/verify?type=signup&token=x', { type: 'signup', token_hash: 'x' })).body,
    ).toEqual(linkDead);
  });
});

test('without the page a request without a body is none', async () => {
  const answer = await subject.send('POST', '/verify?type=signup&token=x', undefined);
  expect(answer.body).toMatchObject({ code: 400, error_code: 'bad_json' });
});

test('an error of the server opens no page of its own: it is in the fragment', async () => {
  await using broken = await startSubject();
  await broken.rows.autocommit().run`alter table :schema.one_time_tokens rename column link_hash to gone`;
  const answer = await broken.get('/verify?type=signup&token=x');
  expect([answer.status, answer.headers['location']]).toEqual([
    303,
    'https://site.example#error=server_error&error_code=unexpected_failure&error_description=Unexpected+failure%2C+please+check+server+logs+for+more+information&sb=',
  ]);
});

test('a verification opens the session only for the user it was sent to, however the address was asked for', async () => {
  const sent = await pending();
  const other = await pending();
  expect(
    (await subject.post('/verify', { type: 'signup', email: other.email, token: sent.code })).status,
  ).toBe(sent.code === other.code ? 200 : 403);
});
