import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import * as expiredRows from '../src/store/expired-rows.ts';
import {
  type Answer,
  bearer,
  claimsOf,
  confirmedUser,
  PASSWORD,
  readMail,
  type Subject,
  someone,
} from './harness.ts';
import { type Redirected, signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { mailsTo, newestTo } from './support/mailbox.ts';

// Links and sign-ins that only their asker can use: what comes back through the browser is a code, and a session is for whoever
// has the verifier.

const { emulator, subject, become } = await externalSubject(['google', 'github', 'spotify']);

const SITE = 'https://site.example/after';
const FIVE_MINUTES_MS = 300_000;

/** A verifier and what is told of it. */
function secret(method: 's256' | 'plain' = 's256') {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
  return { verifier, asked: { code_challenge: challenge, code_challenge_method: method } };
}

const exchange = (code: unknown, verifier: string, on: Subject = subject): Promise<Answer> =>
  on.post('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });

/** Opens the link of a mail. */
async function open(url: URL): Promise<Pick<Redirected, 'status' | 'location' | 'query' | 'fragment'>> {
  const answer = await subject.get(url.pathname + url.search);
  const location = String(answer.headers['location']);
  const [address = '', fragment] = location.split('#');
  return {
    status: answer.status,
    location,
    query: new URLSearchParams(address.split('?')[1] ?? ''),
    fragment: new URLSearchParams(fragment ?? ''),
  };
}

/** The code of an opened link, which brought nothing else. */
function codeIn({ status, query, location }: Awaited<ReturnType<typeof open>>): string {
  expect(status).toBe(303);
  expect([...query.keys()]).toEqual(['code']);
  expect(location).not.toContain('token');
  return query.get('code') ?? '';
}

const count = async (table: 'sessions' | 'auth_codes', email: string): Promise<number> => {
  const tx = subject.rows.autocommit();
  const row =
    table === 'sessions'
      ? await tx.row<{ count: number }>`
          select count(*) as count from :schema.sessions s join :schema.users u on u.id = s.user_id where u.email = ${email}`
      : await tx.row<{ count: number }>`
          select count(*) as count from :schema.auth_codes c join :schema.users u on u.id = c.user_id where u.email = ${email}`;
  return row?.count ?? 0;
};

/** Somebody with an account; mails that come after have another time. */
async function knownUser(email: string): Promise<Answer> {
  const session = await confirmedUser(subject, email);
  subject.clock.advance(1000);
  return session;
}

/** Asks for a link in each of the ways there are, and returns the address it goes to. */
const requests: Record<string, (asked: object) => Promise<string>> = {
  'a sign-up': async (asked) => {
    const email = someone();
    await subject.post(`/signup?redirect_to=${SITE}`, { email, password: PASSWORD, ...asked });
    return email;
  },
  'a repeated sign-up': async (asked) => {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    subject.clock.advance(60_000);
    await subject.post(`/signup?redirect_to=${SITE}`, { email, password: PASSWORD, ...asked });
    return email;
  },
  'a sign-up sent again': async (asked) => {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    subject.clock.advance(60_000);
    await subject.post(`/resend?redirect_to=${SITE}`, { type: 'signup', email, ...asked });
    return email;
  },
  'a magic link': async (asked) => {
    const email = someone();
    await knownUser(email);
    await subject.post(`/magiclink?redirect_to=${SITE}`, { email, ...asked });
    return email;
  },
  'a code for somebody new': async (asked) => {
    const email = someone();
    await subject.post(`/otp?redirect_to=${SITE}`, { email, ...asked });
    return email;
  },
  'a recovery': async (asked) => {
    const email = someone();
    await knownUser(email);
    await subject.post(`/recover?redirect_to=${SITE}`, { email, ...asked });
    return email;
  },
};

/** What the session says that the verifier opens, as in GoTrue; a code that was typed is an `otp` whatever it was for. */
const methods: Record<string, string> = { 'a magic link': 'magiclink', 'a recovery': 'recovery' };

describe('links in mails', () => {
  test.each(Object.keys(requests))('%s: a code in the query, a session for the verifier', async (kind) => {
    const { verifier, asked } = secret();
    const email = (await requests[kind]?.(asked)) ?? '';
    const { url, token } = await newestTo(subject, email);
    expect(token).toMatch(/^pkce_[0-9a-f]{56}$/);
    const sessionsBefore = await count('sessions', email);

    const opened = await open(url);
    expect(opened.location.startsWith(`${SITE}?code=`)).toBe(true);
    const code = codeIn(opened);
    expect(await count('sessions', email)).toBe(sessionsBefore);

    const answer = await exchange(code, verifier);
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(answer.body.user).toMatchObject({ email, email_confirmed_at: expect.any(String) });
    const method = methods[kind] ?? 'email/signup';
    expect(claimsOf(subject, answer)).toMatchObject({ aal: 'aal1', amr: [{ method }] });
    expect((await subject.get('/user', bearer(answer))).status).toBe(200);
    const refreshed = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: answer.body.refresh_token,
    });
    expect(refreshed.status).toBe(200);
    expect(await count('auth_codes', email)).toBe(0);
  });

  test('a change of address: both sides, the second with a code', async () => {
    const [email, wanted] = [someone(), someone('new')];
    const session = await knownUser(email);
    const { verifier, asked } = secret();
    const body = JSON.stringify({ email: wanted, ...asked });
    expect((await subject.send('PUT', `/user?redirect_to=${SITE}`, body, bearer(session))).status).toBe(200);
    const first = await open((await newestTo(subject, email)).url);
    const message = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';
    expect([first.query.get('message'), first.fragment.get('message')]).toEqual([message, message]);
    const code = codeIn(await open((await newestTo(subject, wanted)).url));
    const answer = await exchange(code, verifier);
    expect(answer.body.user).toMatchObject({ email: wanted });
    expect(claimsOf(subject, answer)).toMatchObject({ amr: [{ method: 'email_change' }] });
  });

  test('a fragment that is there stays behind the code', async () => {
    const { asked } = secret();
    const email = someone();
    await subject.post(`/otp?redirect_to=${encodeURIComponent('https://site.example/a?b=c#/d')}`, {
      email,
      ...asked,
    });
    const { location } = await open((await newestTo(subject, email)).url);
    expect(location).toMatch(/^https:\/\/site\.example\/a\?b=c&code=[0-9a-f-]{36}#\/d$/);
  });

  test('plain, for clients without SHA-256', async () => {
    const { verifier, asked } = secret('plain');
    const email = await (requests['a magic link'] as (asked: object) => Promise<string>)(asked);
    const code = codeIn(await open((await newestTo(subject, email)).url));
    expect((await exchange(code, verifier)).status).toBe(200);
  });

  test('whoever types the code of the mail, or has its token on a server, needs no verifier', async () => {
    const { asked } = secret();
    const typed = await (requests['a recovery'] as (asked: object) => Promise<string>)(asked);
    const { code } = await newestTo(subject, typed);
    const byCode = await subject.post('/verify', { type: 'recovery', email: typed, token: code });
    expect([byCode.status, typeof byCode.body.access_token]).toEqual([200, 'string']);
    const hashed = await (requests['a recovery'] as (asked: object) => Promise<string>)(asked);
    const { token } = await newestTo(subject, hashed);
    const byToken = await subject.post('/verify', { type: 'recovery', token_hash: token });
    expect([byToken.status, typeof byToken.body.access_token]).toEqual([200, 'string']);
  });

  test('lives as long as the mail says; the five minutes begin when it is opened', async () => {
    const { verifier, asked } = secret();
    const email = await (requests['a sign-up'] as (asked: object) => Promise<string>)(asked);
    const { url } = await newestTo(subject, email);
    subject.clock.advance(20 * 3_600_000);
    const code = codeIn(await open(url));
    subject.clock.advance(FIVE_MINUTES_MS - 1);
    expect((await exchange(code, verifier)).status).toBe(200);
  });

  test('tells what went wrong in the query as well, where servers see it', async () => {
    const { asked } = secret();
    const email = await (requests['a magic link'] as (asked: object) => Promise<string>)(asked);
    const { url } = await newestTo(subject, email);
    codeIn(await open(url));
    const again = await open(url);
    const told = {
      error: 'access_denied',
      error_code: 'otp_expired',
      error_description: 'Email link is invalid or has expired',
    };
    expect(Object.fromEntries(again.query)).toEqual(told);
    expect(Object.fromEntries(again.fragment)).toEqual({ ...told, sb: '' });
  });

  test('a link asked for without a challenge replaces one with, and is a plain one', async () => {
    const { asked } = secret();
    const email = await (requests['a recovery'] as (asked: object) => Promise<string>)(asked);
    const bound = (await newestTo(subject, email)).url;
    subject.clock.advance(60_000);
    await subject.post('/recover', { email });
    expect((await open(bound)).query.get('error_code')).toBe('otp_expired');
    expect((await open((await newestTo(subject, email)).url)).fragment.has('access_token')).toBe(true);
  });

  test('an address nobody has gets the same answer', async () => {
    const { asked } = secret();
    const known = someone();
    await knownUser(known);
    for (const path of ['/recover', '/magiclink', '/otp']) {
      subject.clock.advance(60_000);
      const ask = (email: string) => subject.post(path, { email, create_user: false, ...asked });
      const [one, other] = [await ask(known), await ask(someone())];
      expect([other.status, other.text]).toEqual([one.status, one.text]);
    }
  });
});

describe('external providers', () => {
  test('a code, and the tokens of the provider for whoever has the verifier', async () => {
    const email = someone();
    become(email);
    const { verifier, asked } = secret();
    const back = await signInWith(subject, emulator, 'google', { redirect_to: SITE, ...asked });
    expect([back.status, [...back.query.keys()], back.fragment.size]).toEqual([302, ['code'], 0]);
    const stored = await subject.snapshot();
    const answer = await exchange(back.query.get('code'), verifier);
    expect(answer.body).toMatchObject({ provider_token: expect.any(String), user: { email } });
    expect(stored).not.toContain(String(answer.body['provider_token']));
    expect(stored).not.toContain(back.query.get('code'));
    expect(claimsOf(subject, answer)).toMatchObject({ amr: [{ method: 'oauth' }] });
    // The second time, into an account that is there.
    const known = secret();
    const again = await signInWith(subject, emulator, 'google', { redirect_to: SITE, ...known.asked });
    const second = await exchange(again.query.get('code'), known.verifier);
    expect(second.body.user?.id).toBe(answer.body.user?.id);
  });

  test('an address that has to be proven first: its mail keeps the challenge', async () => {
    const email = someone();
    become(email, false);
    const { verifier, asked } = secret();
    const back = await signInWith(subject, emulator, 'spotify', { redirect_to: SITE, ...asked });
    expect(back.query.get('error_code')).toBe('provider_email_needs_verification');
    const code = codeIn(await open((await newestTo(subject, email)).url));
    expect((await exchange(code, verifier)).body.user).toMatchObject({ email });
  });
});

describe('POST /token?grant_type=pkce', () => {
  const UNKNOWN = {
    code: 404,
    error_code: 'flow_state_not_found',
    msg: 'invalid flow state, no valid flow state found',
  };

  async function pending() {
    const made = secret();
    const email = await (requests['a magic link'] as (asked: object) => Promise<string>)(made.asked);
    return { ...made, email, code: codeIn(await open((await newestTo(subject, email)).url)) };
  }

  test.each([
    [{ auth_code: '', code_verifier: 'x' }, 400, 'validation_failed'],
    [{ auth_code: 'x', code_verifier: '' }, 400, 'validation_failed'],
    [{}, 400, 'validation_failed'],
    [{ auth_code: 'x'.repeat(100_000), code_verifier: 'x' }, 404, 'flow_state_not_found'],
    [{ auth_code: '00000000-0000-4000-8000-000000000000', code_verifier: 'x' }, 404, 'flow_state_not_found'],
    [{ auth_code: 7, code_verifier: 'x' }, 400, 'bad_json'],
  ])('%j → %i %s, and nothing changed', async (body, status, error_code) => {
    const before = await subject.snapshot();
    const answer = await subject.post('/token?grant_type=pkce', body);
    expect([answer.status, answer.body['error_code']]).toEqual([status, error_code]);
    expect(await subject.snapshot()).toBe(before);
  });

  test('attack: a stolen code without the verifier, or with that of another client, is worth nothing', async () => {
    const mine = await pending();
    const theirs = secret();
    const before = await subject.snapshot();
    for (const verifier of [theirs.verifier, mine.asked.code_challenge, `${mine.verifier}x`, ' ']) {
      const answer = await exchange(mine.code, verifier);
      expect([answer.status, answer.body]).toEqual([
        400,
        {
          code: 400,
          error_code: 'bad_code_verifier',
          msg: 'code challenge does not match previously saved code verifier',
        },
      ]);
    }
    expect(await subject.snapshot()).toBe(before);
    // And it is still good for its owner.
    expect((await exchange(mine.code, mine.verifier)).status).toBe(200);
  });

  test('attack: a code works once, also for 32 requests at the same moment', async () => {
    const { code, verifier, email } = await pending();
    const sessionsBefore = await count('sessions', email);
    const answers = await Promise.all(Array.from({ length: 32 }, () => exchange(code, verifier)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of answers.filter((one) => one.status !== 200))
      expect([status, body]).toEqual([404, UNKNOWN]);
    expect(await count('sessions', email)).toBe(sessionsBefore + 1);
    expect((await exchange(code, verifier)).body).toEqual(UNKNOWN);
  });

  test('five minutes after the link was opened it is over, and it is swept out', async () => {
    const { code, verifier, email } = await pending();
    subject.clock.advance(FIVE_MINUTES_MS);
    const before = await subject.snapshot();
    expect((await exchange(code, verifier)).body).toEqual({
      code: 422,
      error_code: 'flow_state_expired',
      msg: 'invalid flow state, flow state has expired',
    });
    expect(await subject.snapshot()).toBe(before);
    expect(await count('auth_codes', email)).toBe(1);
    const tx = subject.rows.autocommit();
    const afterwards = new Date(subject.clock.now().getTime() + 1);
    expect(await expiredRows.deleteAuthCodes(tx, afterwards, 500)).toBeGreaterThan(0);
    expect(await count('auth_codes', email)).toBe(0);
  });

  test('attack: who signs out everywhere ends what was about to begin', async () => {
    const email = someone();
    const session = await knownUser(email);
    const { verifier, asked } = secret();
    await subject.post('/magiclink', { email, ...asked });
    const code = codeIn(await open((await newestTo(subject, email)).url));
    expect((await subject.post('/logout', undefined, bearer(session))).status).toBe(204);
    expect((await exchange(code, verifier)).body).toEqual(UNKNOWN);
  });

  test('a ban in between counts', async () => {
    const { code, verifier, email } = await pending();
    await subject.rows.autocommit().run`
      update :schema.users set banned_until = ${new Date(subject.clock.now().getTime() + 1000)} where email = ${email}`;
    const before = await subject.snapshot();
    expect((await exchange(code, verifier)).body['error_code']).toBe('user_banned');
    expect(await subject.snapshot()).toBe(before);
  });

  test('attack: the token of a bound link is no code, and a code is no token', async () => {
    const { code, verifier } = await pending();
    const { asked } = secret();
    const email = await (requests['a recovery'] as (asked: object) => Promise<string>)(asked);
    const { token } = readMail((await mailsTo(subject, email)).at(-1));
    expect((await exchange(token, verifier)).body).toEqual(UNKNOWN);
    const asToken = await subject.post('/verify', { type: 'magiclink', token_hash: code });
    expect(asToken.body['error_code']).toBe('otp_expired');
    // Cutting the mark off does not make it a link for everybody.
    const plain = await subject.get(`/verify?type=recovery&token=${token.slice('pkce_'.length)}`);
    expect(String(plain.headers['location'])).toContain('otp_expired');
  });
});
