import { createHash, createHmac } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Log } from '@croft/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bearer,
  claimsOf,
  confirmedUser,
  JWT_SECRET,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

const signIn = (email: string, password: string) =>
  subject.post('/token?grant_type=password', { email, password });

describe('enumeration', () => {
  test('sign-in answers unknown addresses, wrong passwords and accounts without one alike', async () => {
    const [known, invited] = [someone('known'), someone('invited')];
    await confirmedUser(subject, known);
    await confirmedUser(subject, invited);
    await subject.rows.autocommit()
      .run`update :schema.users set encrypted_password = null where email = ${invited}`;
    const answers = [
      await signIn(someone('nobody'), 'x'),
      await signIn(known, 'x'),
      await signIn(invited, 'x'),
    ];
    for (const { status, text, headers } of answers) {
      expect([status, text]).toEqual([answers[0]?.status, answers[0]?.text]);
      expect(Object.keys(headers).sort()).toEqual(Object.keys(answers[0]?.headers ?? {}).sort());
    }
  });

  test('and takes as long for all of them', async () => {
    const known = someone('timed');
    await confirmedUser(subject, known);
    const fastest = async (email: string): Promise<number> => {
      const all: number[] = [];
      for (let n = 0; n < 7; n++) {
        const startedAt = performance.now();
        await signIn(email, 'wrong');
        all.push(performance.now() - startedAt);
      }
      return Math.min(...all);
    };
    const [unknownMs, knownMs] = [await fastest(someone('nobody')), await fastest(known)];
    // A look-up without a hash takes a tenth of this.
    expect(unknownMs / knownMs).toBeGreaterThan(0.25);
    expect(unknownMs / knownMs).toBeLessThan(4);
  });

  test('sign-up repeated for a taken address keeps answering the same id, as it does for a new one', async () => {
    const taken = someone('taken');
    await confirmedUser(subject, taken);
    subject.clock.advance(60_000);
    for (const email of [taken, someone('new')]) {
      const first = await subject.post('/signup', { email, password: PASSWORD, data: { a: 1 } });
      subject.clock.advance(60_000);
      const second = await subject.post('/signup', { email, password: PASSWORD, data: { a: 2 } });
      const differences = Object.keys(second.body).filter(
        (key) => JSON.stringify(second.body[key]) !== JSON.stringify(first.body[key]),
      );
      expect(differences.sort()).toEqual([
        'confirmation_sent_at',
        'created_at',
        'identities',
        'updated_at',
        'user_metadata',
      ]);
    }
  });

  test('sign-up spells the answers for taken, pending and new addresses alike, to the order of names', async () => {
    const data = {
      full_name: 'x',
      a: { bb: 1, a: 2, é: 3, zz: [{ yy: 1, y: 2 }], 10: 4, 9: 5 },
      Z: null,
      ab: 1e-7,
      aa: -0,
    };
    const [taken, pending, fresh] = [someone('ada'), someone('ada'), someone('ada')];
    await confirmedUser(subject, taken);
    await subject.post('/signup', { email: pending, password: PASSWORD });
    subject.clock.advance(3_600_000);
    const texts = [];
    for (const email of [taken, pending, fresh]) {
      const { text } = await subject.post('/signup', { email, password: PASSWORD, data });
      texts.push(text.replaceAll(email, 'address').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uuid'));
    }
    expect(texts[2]).toContain('"full_name"'); // a canary
    expect(texts).toEqual([texts[2], texts[2], texts[2]]);
  });

  test('verification answers unknown addresses and wrong codes alike', async () => {
    const pending = someone('pending');
    await subject.post('/signup', { email: pending, password: PASSWORD });
    const known = await subject.post('/verify', { type: 'signup', email: pending, token: 'abcdef' });
    const unknown = await subject.post('/verify', {
      type: 'signup',
      email: someone('nobody'),
      token: 'abcdef',
    });
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
  });

  test('and waits for the disk for both: a guess that nobody has to count would be answered sooner', async () => {
    const pending = someone('pending');
    await subject.post('/signup', { email: pending, password: PASSWORD });
    const written = async (email: string): Promise<number> => {
      const at = async () =>
        (
          await subject.rows.autocommit().row<{
            lsn: string;
          }>`select pg_current_wal_insert_lsn()::text as lsn`
        )?.lsn;
      const before = await at();
      const answer = await subject.post('/verify', { type: 'signup', email, token: '000000' });
      expect(answer.status).toBe(403);
      const row = await subject.rows.autocommit().row<{ bytes: number }>`
        select pg_wal_lsn_diff(${await at()}::pg_lsn, ${before}::pg_lsn)::float8 as bytes`;
      return row?.bytes ?? 0;
    };
    const before = await subject.snapshot();
    expect(await written(someone('nobody'))).toBeGreaterThan(0);
    expect(await subject.snapshot()).toBe(before);
    expect(await written(pending)).toBeGreaterThan(0); // a canary
  });
});

describe('forged access tokens', () => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = (header: object, claims: object, key = JWT_SECRET): string => {
    const body = `${encode(header)}.${encode(claims)}`;
    return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`;
  };
  let claims: object;
  beforeAll(async () => {
    const session = await confirmedUser(subject);
    claims = { ...claimsOf(subject, session), iat: Math.floor(subject.clock.now().getTime() / 1000) };
  });
  const HS256 = { alg: 'HS256', typ: 'JWT' };

  test('a canary: the same made with the right key is accepted', async () => {
    expect((await subject.get('/user', { authorization: `Bearer ${signed(HS256, claims)}` })).status).toBe(
      200,
    );
  });

  test.each([
    ['alg none', () => `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`],
    ['alg None', () => `${encode({ alg: 'None', typ: 'JWT' })}.${encode(claims)}.`],
    ['alg none with a signature', () => signed({ alg: 'none', typ: 'JWT' }, claims)],
    ['another algorithm in the header', () => signed({ alg: 'HS512', typ: 'JWT' }, claims)],
    ['an asymmetric algorithm in the header', () => signed({ alg: 'RS256', typ: 'JWT' }, claims)],
    ['another key', () => signed(HS256, claims, 'another key')],
    ['an empty key', () => signed(HS256, claims, '')],
    [
      'a key brought along',
      () => signed({ ...HS256, jwk: { kty: 'oct', k: 'eA' }, kid: '../../dev/null' }, claims, 'x'),
    ],
    [
      'claims changed after signing',
      () => signed(HS256, claims).replace(/\.[^.]+\./, `.${encode({ ...claims, role: 'service_role' })}.`),
    ],
    ['expired', () => signed(HS256, { ...claims, exp: Math.floor(subject.clock.now().getTime() / 1000) })],
    [
      'not valid yet',
      () => signed(HS256, { ...claims, nbf: Math.floor(subject.clock.now().getTime() / 1000) + 60 }),
    ],
    ['without an end', () => signed(HS256, { ...claims, exp: undefined })],
    ['no token at all', () => 'x'],
    ['a refresh token', () => 'AdUfgP2fQ0i9lYxgV2xSRdoAAAAA9h74NneiNSuMT1hpCCQTxN0mIFhng0VBe7VKY8hpN68'],
  ])('%s', async (_name, token) => {
    const before = await subject.snapshot();
    for (const answer of [
      await subject.get('/user', { authorization: `Bearer ${token()}` }),
      await subject.post('/logout', undefined, { authorization: `Bearer ${token()}` }),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({
        error_code: 'bad_jwt',
        msg: expect.stringMatching(/^invalid JWT: unable to parse or verify signature, token /),
      });
    }
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('forged refresh tokens', () => {
  test('knowing the session of a victim, from its access token, ends nothing', async () => {
    const session = await confirmedUser(subject);
    await subject.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token });
    const before = await subject.snapshot();
    const forged = Buffer.from(String(session.body.refresh_token), 'base64url');
    forged[20] = 9; // another counter
    forged[30] = (forged[30] as number) ^ 1; // another secret
    const answer = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: forged.toString('base64url'),
    });
    expect(answer.body).toMatchObject({ error_code: 'refresh_token_not_found' });
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('a stolen database', () => {
  test('holds no password, code, link or token that was sent to somebody', async () => {
    const email = someone('stolen');
    await subject.post('/signup', { email, password: 'a password in clear' });
    const withMail = await subject.snapshot(); // the mail still waits in the outbox
    const sent = readMail((await subject.mails()).find(({ headers }) => headers.get('to') === email));
    const session = await subject.post('/verify', { type: 'signup', token_hash: sent.token });
    const everything = withMail + (await subject.snapshot());
    for (const secret of [
      'a password in clear',
      sent.token,
      `"${sent.code}"`,
      session.body.refresh_token,
      session.body.access_token,
    ]) {
      expect(everything).not.toContain(secret);
    }
    expect(everything).toContain(email); // a canary: it looks at the right rows
  });
});

describe('links', () => {
  test('a scanner that asks for HEAD burns nothing', async () => {
    const email = someone('prefetched');
    await subject.post('/signup', { email, password: PASSWORD });
    const sent = readMail((await subject.mails()).find(({ headers }) => headers.get('to') === email));
    const before = await subject.snapshot();
    const head = await subject.send('HEAD', sent.url.pathname + sent.url.search, undefined);
    expect([head.status, head.headers['allow']]).toEqual([405, 'GET, POST']);
    expect(await subject.snapshot()).toBe(before);
    expect((await subject.get(sent.url.pathname + sent.url.search)).headers['location']).toContain(
      '#access_token=',
    );
  });

  test.each([
    'https://evil.example/',
    '//evil.example',
    'https://site.example@evil.example/',
    'https://site.example\\@evil.example/',
    'https://site.example.evil.example/',
    'javascript://site.example/%250aalert(1)',
    'https://evil.example%0d%0aset-cookie:x=1',
  ])('open redirect to %s', async (target) => {
    for (const headers of [
      {},
      { redirect_to: target.replaceAll(/[^\x20-\x7e]/g, '') },
      { referer: target },
    ]) {
      const path = `/verify?type=signup&token=x&redirect_to=${'redirect_to' in headers ? '' : target}`;
      const answer = await subject.get(path, headers as Record<string, string>);
      expect(answer.headers['location']).toMatch(/^https:\/\/site\.example#/);
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
  });
});

describe('mail', () => {
  test.each([
    'ada@example.com\r\nBcc: eve@evil.example',
    'ada@example.com\nSubject: free',
    'ada@example.com, eve@evil.example',
    'Eve <eve@evil.example>',
    'ada@example.com\u0000',
  ])('header injection by the address %j is refused', async (email) => {
    const before = await subject.snapshot();
    const answer = await subject.post('/signup', { email, password: PASSWORD });
    expect(answer.status).toBe(400);
    expect(await subject.snapshot()).toBe(before);
  });

  test('HTML injection by the address and the target comes out as text', async () => {
    await using other = await startSubject({ AUTHSVC_URI_ALLOW_LIST: 'https://site.example/**' });
    const email = `"><b>${someone()}`.replaceAll(/["<>]/g, '{');
    const target = encodeURIComponent('https://site.example/"><script>alert(1)</script>');
    expect((await other.post(`/signup?redirect_to=${target}`, { email, password: PASSWORD })).status).toBe(
      200,
    );
    const [mail] = await other.mails();
    expect(mail?.text).not.toContain('<script');
    expect(readMail(mail).url.searchParams.get('redirect_to')).toBe(
      'https://site.example/"><script>alert(1)</script>',
    );
  });
});

describe('bodies', () => {
  const posts = ['/signup', '/token?grant_type=password', '/token?grant_type=refresh_token', '/verify'];

  test.each([
    ['no JSON', '{"email":'],
    ['another type', '"text"'],
    ['an array', '[1,2,3]'],
    ['a number', '7'],
    ['wrong types inside', '{"email":{"$ne":null},"type":{},"token":[],"refresh_token":{}}'],
    [
      'U+0000',
      '{"email":"a\\u0000@b.c","password":"abcdef","type":"signup","token":"x\\u0000","refresh_token":"\\u0000"}',
    ],
    ['nesting without end', `${'['.repeat(300_000)}${']'.repeat(300_000)}`],
  ])('%s is refused by every endpoint, without an error of the server', async (_name, payload) => {
    const before = await subject.snapshot();
    for (const path of posts) {
      const answer = await subject.send('POST', path, payload);
      expect([path, answer.status, answer.body['error_code']]).toEqual([path, 400, 'bad_json']);
    }
    expect(await subject.snapshot()).toBe(before);
  });

  test.each([
    ['U+0000', '{"a":"\\u0000"}'],
    ['U+0000 in a name', '{"\\u0000":1}'],
    ['half a character', '{"a":"\\ud800"}'],
    ['too much depth', `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`],
    ['numbers that grow, as the database spells them', `{"a":[${'1e308,'.repeat(80_000)}1]}`],
    ['a number of 22 digits', '{"a":{"b":[-1e21]}}'],
    ['a number of hundreds of places', '{"a":5e-324}'],
  ])('metadata the database cannot keep is refused: %s', async (_name, data) => {
    const before = await subject.snapshot();
    const answer = await subject.send(
      'POST',
      '/signup',
      `{"email":"${someone()}","password":"${PASSWORD}","data":${data}}`,
    );
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'bad_json']);
    expect(await subject.snapshot()).toBe(before);
  });

  test('ordinary numbers in metadata stay what they are', async () => {
    const numbers = [0, -0.5, 1e-9, 6.02214076e-20, -1e20, 9007199254740991, 1.7976931348623157];
    const answer = await subject.post('/signup', { email: someone(), password: PASSWORD, data: { numbers } });
    expect([answer.status, answer.body['user_metadata']]).toEqual([
      200,
      expect.objectContaining({ numbers }),
    ]);
  });

  test('prototype pollution: __proto__ and constructor are data or nothing', async () => {
    const email = someone('polluted');
    const payload = `{"__proto__":{"polluted":1},"email":"${email}","password":"${PASSWORD}","data":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}`;
    const answer = await subject.send('POST', '/signup', payload);
    expect(answer.status).toBe(200);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.hasOwn(answer.body['user_metadata'] as object, '__proto__')).toBe(false);
  });

  test('metadata cannot raise anybody: role, audience and verification stay ours', async () => {
    const payload = {
      email: someone('climber'),
      password: PASSWORD,
      role: 'service_role',
      aud: 'admin',
      app_metadata: { admin: true },
      data: { role: 'service_role', email_verified: true, sub: 'x' },
    };
    const { body } = await subject.post('/signup', payload);
    expect(body).toMatchObject({
      role: 'authenticated',
      aud: 'authenticated',
      user_metadata: { email_verified: false, sub: body.id },
    });
    expect(body['app_metadata']).toEqual({ provider: 'email', providers: ['email'] });
  });
});

test('secrets in the log: neither passwords, codes, links nor tokens', async () => {
  const lines: string[] = [];
  const write = (fields: object, message: string): void =>
    void lines.push(JSON.stringify({ ...fields, message }));
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
  await using logged = await startSubject({}, log);
  const email = someone('logged');
  await logged.post('/signup', { email, password: 'a password in clear' });
  const sent = readMail((await logged.mails())[0]);
  const location = String((await logged.get(sent.url.pathname + sent.url.search)).headers['location']);
  const session = new URLSearchParams(new URL(location).hash.slice(1));
  const refreshed = await logged.post('/token?grant_type=refresh_token', {
    refresh_token: session.get('refresh_token'),
  });
  await logged.get('/user', bearer(refreshed));
  await logged.post('/token?grant_type=password', { email, password: 'a password in clear' });
  await logged.rows.autocommit().script('drop table auth.sessions cascade');
  const bug = await logged.post('/token?grant_type=password', { email, password: 'a password in clear' });
  expect(bug.status).toBe(500);
  const all = lines.join('\n');
  expect(all).toContain('/verify'); // a canary: the log was written
  expect(all).toContain('.eml');
  const secrets = [
    'a password in clear',
    sent.token,
    session.get('access_token'),
    session.get('refresh_token'),
  ];
  for (const secret of [
    ...secrets,
    refreshed.body.refresh_token,
    JWT_SECRET,
    'an at-rest key of the tests',
  ]) {
    expect(secret).toBeTruthy();
    expect(all).not.toContain(secret);
  }
  expect(all).not.toMatch(new RegExp(`\\b${sent.code}\\b`));
});

describe('codes and links', () => {
  test('a link cannot be computed from the address and the digits of its code', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    const mail = (await subject.mails()).findLast(({ headers }) => headers.get('to') === email);
    const { code, token } = readMail(mail);
    const computed = createHash('sha224')
      .update(email + code)
      .digest('hex');
    expect(token).not.toBe(computed);
    const before = await subject.snapshot();
    for (const token_hash of [computed, createHash('sha224').update(code).digest('hex')]) {
      expect((await subject.post('/verify', { type: 'signup', token_hash })).status).toBe(403);
    }
    expect(await subject.snapshot()).toBe(before);
  });

  test('who signs an address up before its owner cannot sign in to the account its owner confirms', async () => {
    const email = someone('owner');
    await subject.post('/signup', { email, password: 'the attacker’s', data: { role: 'attacker' } });
    subject.clock.advance(60_000);
    await subject.post('/signup', { email, password: PASSWORD, data: { role: 'owner' } });
    // A new mail asked for by anybody does not bring the attacker's password back.
    const mail = (await subject.mails()).findLast(({ headers }) => headers.get('to') === email);
    const session = await subject.post('/verify', { type: 'signup', token_hash: readMail(mail).token });
    expect(session.body.user).toMatchObject({ user_metadata: { role: 'owner' } });
    const signIn = (password: string) => subject.post('/token?grant_type=password', { email, password });
    expect((await signIn('the attacker’s')).status).toBe(400);
    expect((await signIn(PASSWORD)).status).toBe(200);
  });
});
