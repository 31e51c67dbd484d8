import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import type { ProviderId } from '../src/rules/external/provider-ids.ts';
import { confirmedUser, PASSWORD, readMail, someone, startSubject } from './harness.ts';
import { comeBack, leave, type Redirected, signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { json, type ProviderEmulator, signJwt } from './support/provider-emulator.ts';

const USED: ProviderId[] = [
  'apple',
  'azure',
  'bitbucket',
  'github',
  'google',
  'keycloak',
  'linkedin_oidc',
  'spotify',
];

const { emulator, subject, become, userOf } = await externalSubject(USED);
const signIn = (email: string, password: string) =>
  subject.post('/token?grant_type=password', { email, password });
/** Does it, and says whether anything about anybody changed. */
async function changes(work: () => Promise<unknown>): Promise<boolean> {
  const before = await subject.snapshot();
  await work();
  return (await subject.snapshot()) !== before;
}

describe('state', () => {
  test('replay: of many requests with one state and cookie one signs in', async () => {
    become(someone());
    const left = await leave(subject, 'google');
    const back = emulator.agree(left.location);
    const answers = await Promise.all(Array.from({ length: 16 }, () => comeBack(subject, back, left.cookie)));
    expect(answers.filter(({ fragment }) => fragment.has('access_token'))).toHaveLength(1);
    const others = answers.filter(({ status }) => status === 303);
    expect(others).toHaveLength(15);
    expect(new Set(others.map(({ query }) => query.get('error_code')))).toEqual(new Set(['bad_oauth_state']));
    expect(emulator.received.filter(({ path }) => path === '/google/token')).toHaveLength(1);
  });

  test('replay at the very same moment: whoever gets the row signs in, the others come to nothing', async () => {
    become(someone());
    const left = await leave(subject, 'google');
    const back = emulator.agree(left.location);
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holder = subject.rows.transaction(async (tx) => {
      await tx.run`select from :schema.flow_state for update`;
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const coming = Promise.all(Array.from({ length: 4 }, () => comeBack(subject, back, left.cookie)));
    try {
      await vi.waitFor(async () => {
        const waiting = await subject.rows.autocommit().row`
          select count(*) as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        expect(waiting).toEqual({ count: 4 });
      }, 5000);
    } finally {
      release.resolve();
      await holder;
    }
    const codes = (await coming).map(({ query }) => query.get('error_code'));
    expect(codes.toSorted()).toEqual(['bad_oauth_state', 'bad_oauth_state', 'bad_oauth_state', null]);
    expect(emulator.received.filter(({ path }) => path === '/google/token')).toHaveLength(1);
  });

  test('login CSRF: the way back of another browser signs nobody in, and does not use the flow up', async () => {
    become(someone());
    const left = await leave(subject, 'google');
    const victims = await leave(subject, 'google');
    const back = emulator.agree(left.location);
    const name = left.cookie.split('=')[0] ?? '';
    const cookies = [
      '',
      victims.cookie,
      `${name}=`,
      `${name}=${'A'.repeat(22)}`,
      `${name}x=${left.cookie.split('=')[1]}`,
    ];
    const changed = await changes(async () => {
      for (const cookie of cookies) {
        const answer = await comeBack(subject, back, cookie);
        expect([answer.status, answer.query.get('error_code'), answer.fragment.size]).toEqual([
          303,
          'bad_oauth_state',
          0,
        ]);
      }
    });
    expect([changed, emulator.received]).toEqual([false, []]);
    expect((await comeBack(subject, back, left.cookie)).fragment.has('access_token')).toBe(true);
  });

  test('forged: neither a stored hash nor a guess is a state', async () => {
    const left = await leave(subject, 'google');
    const stored = await subject.rows.autocommit().row<{ hash: string; id: string }>`
      select encode(state_hash, 'base64') as hash, id from :schema.flow_state order by created_at desc limit 1`;
    const code = emulator.agree(left.location).fields['code'] ?? '';
    for (const state of [stored?.hash ?? '', stored?.id ?? '', '%', "' or 1=1", '\0', 'x'.repeat(5000)]) {
      const answer = await comeBack(subject, { method: 'POST', fields: { state, code } }, left.cookie);
      expect([answer.status, answer.query.get('error_code')]).toEqual([303, 'bad_oauth_state']);
    }
  });

  test('mix-up: the state says which provider is asked, so the code of another is worth nothing', async () => {
    become(someone());
    const [google, github] = [await leave(subject, 'google'), await leave(subject, 'github')];
    const { code = '' } = emulator.agree(github.location).fields;
    const { state = '' } = emulator.agree(google.location).fields;
    const changed = await changes(async () => {
      const answer = await comeBack(subject, { method: 'GET', fields: { state, code } }, google.cookie);
      expect(answer.query.get('error')).toBe('server_error');
    });
    expect([changed, emulator.received.map(({ path }) => path)]).toEqual([
      false,
      ['/google/.well-known/openid-configuration', '/google/token'].slice(-emulator.received.length),
    ]);
  });

  test('code injection: a code of another sign-in does not fit the PKCE verifier', async () => {
    become(someone());
    const [own, others] = [await leave(subject, 'google'), await leave(subject, 'google')];
    const { code = '' } = emulator.agree(others.location).fields;
    const { state = '' } = emulator.agree(own.location).fields;
    const changed = await changes(async () => {
      const answer = await comeBack(subject, { method: 'GET', fields: { state, code } }, own.cookie);
      expect(answer.query.get('error')).toBe('server_error');
    });
    expect([changed, emulator.complaints.some((one) => one.includes('code_verifier'))]).toEqual([
      false,
      true,
    ]);
  });
});

describe('redirects', () => {
  test.each([
    'https://evil.example/',
    'https://site.example@evil.example/',
    'https://site.example.evil.example/',
    '//evil.example/',
    'https:\\\\evil.example',
    'javascript:alert(1)',
    'https://site.example/\r\nset-cookie: a=b',
  ])('open redirect: tokens do not travel to %j', async (redirect_to) => {
    become(someone());
    const answer = await signInWith(subject, emulator, 'google', { redirect_to });
    expect(answer.location.split('#')[0]).toBe('https://site.example');
    const header = await leave(
      subject,
      'google',
      {},
      { redirect_to: 'https://evil.example/', referer: 'https://evil.example/' },
    );
    const back = emulator.agree(header.location);
    const refused = { method: 'GET', fields: { state: back.fields['state'] ?? '', error: 'x' } } as const;
    expect((await comeBack(subject, refused, header.cookie)).location).toBe(
      'https://site.example?error=x#error=x&sb=',
    );
  });

  test('redirect_to at the way back counts for nothing', async () => {
    become(someone());
    const left = await leave(subject, 'google');
    const back = emulator.agree(left.location);
    const fields = { ...back.fields, redirect_to: 'https://evil.example/' };
    const answer = await comeBack(subject, { method: 'GET', fields }, left.cookie);
    expect(answer.location).toMatch(/^https:\/\/site\.example#access_token=/);
  });

  test('header injection: words of the provider stay words', async () => {
    const left = await leave(subject, 'google');
    const state = emulator.agree(left.location).fields['state'] ?? '';
    const words = 'x\r\nset-cookie: a=b#access_token=evil&é';
    const fields = { state, error: words, error_description: 'y'.repeat(10_000) };
    const { location, setCookie, fragment } = await comeBack(subject, { method: 'GET', fields }, left.cookie);
    expect(location).toMatch(/^[\x21-\x7e]+$/);
    expect([fragment.get('error'), fragment.has('access_token')]).toEqual([words, false]);
    expect(setCookie).not.toContain('a=b');
    expect(location.length).toBeLessThan(4000);
  });
});

describe('takeover', () => {
  test('by an address the provider does not vouch for', async () => {
    const email = someone();
    const own = await confirmedUser(subject, email);
    await subject.mails();
    for (const provider of [
      'spotify',
      'bitbucket',
      'github',
      'google',
      'keycloak',
      'linkedin_oidc',
    ] as const) {
      become(email, false);
      const changed = await changes(async () => {
        const answer = await signInWith(subject, emulator, provider);
        expect([provider, answer.query.get('error_code')]).toEqual([
          provider,
          'provider_email_needs_verification',
        ]);
      });
      expect([provider, changed]).toEqual([provider, false]);
    }
    expect((await signIn(email, PASSWORD)).body.user?.id).toBe(own.body.user?.id);
  });

  test('by flags that are not true', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    become(email);
    for (const email_verified of ['false', 'yes', 'TRUE', {}, [true], null, 2]) {
      emulator.tamper = { claims: (claims) => Object.assign(claims, { email_verified }) };
      const answer = await signInWith(subject, emulator, 'google');
      expect([email_verified, answer.fragment.has('access_token')]).toEqual([email_verified, false]);
    }
  });

  test('by waiting: an unverified identity with the victim’s address does not attract the victim', async () => {
    const [mallory, victim] = [someone('mallory'), someone('victim')];
    // Mallory proves her own address, and writes the victim's into the profile as well.
    become(mallory, true, '666');
    const values = [
      { email: mallory, is_primary: false, is_confirmed: true },
      { email: victim, is_primary: true, is_confirmed: false },
    ];
    emulator.instead.set('bitbucket/2.0/user/emails', json({ values }));
    const hers = await userOf(await signInWith(subject, emulator, 'bitbucket'));
    expect(hers).toMatchObject({ email: mallory, identities: [{ email: victim }] });
    become(victim);
    const theirs = await userOf(await signInWith(subject, emulator, 'google'));
    expect(theirs['email']).toBe(victim);
    expect(theirs.id).not.toBe(hers.id);
  });

  test('by an account that proved a number and claims the victim’s address: it is the victim’s, without the number', async () => {
    const email = someone('victim');
    await subject.rows.autocommit().run`
      insert into :schema.users (id, aud, role, email, phone, phone_confirmed_at, created_at, updated_at)
      values (gen_random_uuid(), 'authenticated', 'authenticated', ${email}, '15559001', now(), now(), now())`;
    become(email);
    const user = await userOf(await signInWith(subject, emulator, 'google'));
    expect(user).toMatchObject({ email, phone: '', identities: [{ provider: 'google', email }] });
    expect(await subject.rows.autocommit().rows`select from :schema.users where phone = '15559001'`).toEqual(
      [],
    );
  });

  test('by the subject of another provider', async () => {
    become(someone(), true, '424242');
    const first = await userOf(await signInWith(subject, emulator, 'google'));
    become(someone(), true, '424242');
    const second = await userOf(await signInWith(subject, emulator, 'github'));
    expect(second.id).not.toBe(first.id);
  });

  test('pre-hijacking by an identity nobody vouched for: it does not outlive the owner’s own sign-up', async () => {
    const email = someone('victim');
    become(email, false, '668');
    await signInWith(subject, emulator, 'spotify');
    subject.clock.advance(61_000);
    await subject.post('/signup', { email, password: PASSWORD });
    const { token } = readMail((await subject.mails()).at(-1));
    const { body, status } = await subject.post('/verify', { type: 'signup', token_hash: token });
    expect([status, body.user]).toMatchObject([
      200,
      { app_metadata: { provider: 'email', providers: ['email'] }, identities: [{ provider: 'email' }] },
    ]);
    const stranger = await signInWith(subject, emulator, 'spotify');
    expect([stranger.fragment.has('access_token'), stranger.query.get('error_code')]).toEqual([
      false,
      'provider_email_needs_verification',
    ]);
    expect((await signIn(email, PASSWORD)).status).toBe(200);
  });

  test('pre-hijacking: a session and a code from before the owner came are worth nothing', async () => {
    await using lenient = await startSubject({
      ...emulator.settings('google', 'spotify'),
      AUTHSVC_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    });
    const email = someone('victim');
    become(email, false, '667');
    const early = await signInWith(lenient, emulator, 'spotify');
    expect(early.fragment.has('access_token')).toBe(true);
    await lenient.post('/signup', { email, password: PASSWORD, data: { role: 'stranger' } });
    const { token } = readMail((await lenient.mails()).at(-1));
    become(email);
    const owner = await signInWith(lenient, emulator, 'google');
    const bearer = (answer: Redirected) => ({
      authorization: `Bearer ${answer.fragment.get('access_token')}`,
    });
    const { body } = await lenient.get('/user', bearer(owner));
    expect(body).toMatchObject({ email, identities: [{ provider: 'google' }] });
    expect(body['user_metadata']).not.toHaveProperty('role');
    expect((await lenient.get('/user', bearer(early))).body).toMatchObject({
      error_code: 'session_not_found',
    });
    const refresh = { refresh_token: early.fragment.get('refresh_token') };
    expect((await lenient.post('/token?grant_type=refresh_token', refresh)).status).toBe(400);
    expect((await lenient.post('/verify', { type: 'signup', token_hash: token })).status).toBe(403);
    // The stranger comes by way of the provider again: it is another account now.
    become(email, false, '667');
    const late = await lenient.get('/user', bearer(await signInWith(lenient, emulator, 'spotify')));
    expect(late.body.id).not.toBe(body.id);
  });
});

describe('id_tokens', () => {
  const withIdToken = ['apple', 'azure', 'google', 'linkedin_oidc'] as const;
  const pem = () => {
    const { n, e } = emulator.key.export({ format: 'jwk' });
    return JSON.stringify({ n, e });
  };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const cases: [string, ProviderEmulator['tamper']][] = [
    ['another audience', { claims: (claims) => Object.assign(claims, { aud: 'another client' }) }],
    ['another issuer', { claims: (claims) => Object.assign(claims, { iss: 'https://evil.example' }) }],
    ['expired', { claims: (claims) => Object.assign(claims, { exp: 1 }) }],
    ['no subject', { claims: (claims) => Object.assign(claims, { sub: '' }) }],
    ['alg none', { token: (_header, claims) => `${encode({ alg: 'none' })}.${encode(claims)}.` }],
    [
      'alg confusion',
      {
        token(_header, claims) {
          const signed = `${encode({ alg: 'HS256', kid: 'key-1' })}.${encode(claims)}`;
          return `${signed}.${createHmac('sha256', pem()).update(signed).digest('base64url')}`;
        },
      },
    ],
    [
      'a changed payload',
      {
        token(header, claims) {
          const [head, , signature] = signJwt(header as { alg: string }, claims, emulator.key).split('.');
          return `${head}.${encode({ ...claims, sub: 'victim' })}.${signature}`;
        },
      },
    ],
  ];

  test.each(withIdToken.flatMap((id) => cases.map(([name, tamper]) => [id, name, tamper] as const)))(
    '%s: %s',
    async (id, _name, tamper) => {
      become(someone());
      emulator.tamper = tamper;
      const changed = await changes(async () => {
        const answer = await signInWith(subject, emulator, id);
        expect([answer.query.get('error'), answer.query.get('error_description')]).toEqual([
          'server_error',
          'Error getting user profile from external provider',
        ]);
      });
      expect(changed).toBe(false);
    },
  );

  test.each(['apple', 'azure'] as const)('%s: a token of another sign-in has another nonce', async (id) => {
    become(someone());
    emulator.tamper = { claims: (claims) => Object.assign(claims, { nonce: 'of another sign-in' }) };
    expect((await signInWith(subject, emulator, id)).query.get('error')).toBe('server_error');
    await using skipping = await startSubject({
      ...emulator.settings(id),
      [`AUTHSVC_EXTERNAL_${id.toUpperCase()}_SKIP_NONCE_CHECK`]: 'true',
    });
    expect((await signInWith(skipping, emulator, id)).fragment.has('access_token')).toBe(true);
  });

  test('azure: the issuer must be the one of the tenant the token names', async () => {
    become(someone());
    const other = '99999999-2222-3333-4444-555555555555';
    for (const tid of [other, '../evil', undefined, '{tenantid}']) {
      emulator.tamper = { claims: (claims) => Object.assign(claims, { tid }) };
      expect((await signInWith(subject, emulator, 'azure')).query.get('error')).toBe('server_error');
    }
  });

  test('apple: what the form says of the address is not believed', async () => {
    const victim = someone('victim');
    await confirmedUser(subject, victim);
    become(someone());
    const left = await leave(subject, 'apple');
    const back = emulator.agree(left.location);
    const user = JSON.stringify({ name: { firstName: 'M', lastName: '' }, email: victim });
    const answer = await comeBack(subject, { ...back, fields: { ...back.fields, user } }, left.cookie);
    expect((await userOf(answer))['email']).toBe(emulator.somebody.email);
  });
});

describe('answers of a provider', () => {
  test('mass assignment: roles, metadata and confirmation are not for a provider to give', async () => {
    become(someone());
    emulator.instead.set(
      'keycloak/protocol/openid-connect/userinfo',
      json({
        sub: emulator.somebody.id,
        email: emulator.somebody.email,
        email_verified: true,
        role: 'service_role',
        aud: 'admin',
        app_metadata: { role: 'admin' },
        is_anonymous: true,
        phone: '15550100',
        phone_verified: true,
        confirmed_at: '2000-01-01T00:00:00Z',
        __proto__: { polluted: true },
      }),
    );
    const user = await userOf(await signInWith(subject, emulator, 'keycloak'));
    expect(user).toMatchObject({
      role: 'authenticated',
      aud: 'authenticated',
      phone: '',
      is_anonymous: false,
      app_metadata: { provider: 'keycloak', providers: ['keycloak'] },
    });
    const metadata = user['user_metadata'] as Record<string, unknown>;
    expect(Object.keys(metadata).sort()).toEqual(
      ['custom_claims', 'email', 'email_verified', 'iss', 'phone_verified', 'provider_id', 'sub'].sort(),
    );
    expect(metadata['phone_verified']).toBe(false);
    expect('polluted' in {}).toBe(false);
  });

  test('texts no database can keep, and claims no token can carry', async () => {
    become(someone());
    emulator.instead.set(
      'keycloak/protocol/openid-connect/userinfo',
      json({
        sub: emulator.somebody.id,
        email: emulator.somebody.email,
        email_verified: true,
        name: 'A\0da \ud800',
        groups: Array.from({ length: 5000 }, (_, index) => `group ${index}`),
      }),
    );
    const user = await userOf(await signInWith(subject, emulator, 'keycloak'));
    expect(user['user_metadata']).toMatchObject({ name: 'Ada \ufffd' });
    expect(user['user_metadata']).not.toHaveProperty('custom_claims');
  });

  test('addresses that are none are not stored, and thousands of them are not looked at', async () => {
    become(someone());
    const values = [
      { email: 'a@b@c', verified: true },
      { email: "x'; drop table users", verified: true },
      { email: 'line\nend@example.com', verified: true },
      { email: { address: 'x' }, verified: true },
      ...Array.from({ length: 3000 }, (_, i) => ({
        email: `${i}-${emulator.somebody.email}`,
        verified: false,
      })),
    ];
    values[10] = { email: emulator.somebody.email, verified: true };
    emulator.instead.set('github/api/v3/user/emails', json(values));
    const user = await userOf(await signInWith(subject, emulator, 'github'));
    expect(user['email']).toBe(emulator.somebody.email);
  });

  test('an access token with a line end goes into no header', async () => {
    become(someone());
    const left = await leave(subject, 'github');
    emulator.instead.set('github/login/oauth/access_token', json({ access_token: 'a\r\nx-evil: 1' }));
    const answer = await comeBack(subject, emulator.agree(left.location), left.cookie);
    expect(answer.query.get('error')).toBe('server_error');
    expect(emulator.received.filter(({ headers }) => 'x-evil' in headers)).toEqual([]);
  });

  test('SSRF by discovery: a provider sends us to no other server of ours', async () => {
    let connections = 0;
    const internal = createServer((_request, response) => response.end('{}'));
    internal.on('connection', () => connections++);
    await new Promise<void>((resolve) => {
      internal.listen(0, '127.0.0.1', resolve);
    });
    const { port } = internal.address() as AddressInfo;
    try {
      for (const target of [
        `http://127.0.0.1:${port}`,
        `https://127.0.0.1:${port}`,
        `https://localhost:${port}`,
        'file:///etc',
        'http://169.254.169.254',
        `http://user:pass@127.0.0.1:${port}`,
      ]) {
        await using fresh = await startSubject(emulator.settings('google', 'azure'));
        const base = emulator.baseOf('google');
        const told = {
          issuer: base,
          authorization_endpoint: `${base}/o/oauth2/v2/auth`,
          token_endpoint: `${target}/token`,
          jwks_uri: `${base}/oauth2/v3/certs`,
        };
        emulator.instead.set('google/.well-known/openid-configuration', json(told));
        const left = await leave(fresh, 'google');
        if (left.status === 302) {
          const answer = await comeBack(fresh, emulator.agree(left.location), left.cookie);
          expect([target, answer.query.get('error')]).toEqual([target, 'server_error']);
        } else {
          expect([target, left.status]).toEqual([target, 503]);
        }
        emulator.instead.set(
          'azure/v2.0/.well-known/openid-configuration',
          json({ ...told, token_endpoint: `${base}/token`, jwks_uri: `${target}/keys` }),
        );
        expect((await signInWith(fresh, emulator, 'azure')).query.get('error')).toBe('server_error');
      }
      expect(connections).toBe(0);
      // The counter counts.
      await fetch(`http://127.0.0.1:${port}`);
      expect(connections).toBe(1);
    } finally {
      internal.close();
    }
  });

  test('the browser is sent to no address that is none of a provider', async () => {
    for (const authorization_endpoint of [
      'javascript:alert(1)',
      'data:text/html,x',
      'http://evil.example/',
      '/relative',
      '',
    ]) {
      await using fresh = await startSubject(emulator.settings('google'));
      const base = emulator.baseOf('google');
      const told = {
        issuer: base,
        authorization_endpoint,
        token_endpoint: `${base}/token`,
        jwks_uri: `${base}/keys`,
      };
      emulator.instead.set('google/.well-known/openid-configuration', json(told));
      const answer = await leave(fresh, 'google');
      expect([authorization_endpoint, answer.status, answer.location]).toEqual([
        authorization_endpoint,
        503,
        '',
      ]);
    }
  });

  test('nothing a provider or a browser sent is in the answer that was not asked for', async () => {
    const answer = await subject.get(`/authorize?provider=${encodeURIComponent('<script>'.repeat(100))}`);
    expect(answer.status).toBe(400);
    expect(String(answer.headers['content-type'])).toMatch(/^application\/json/);
    expect(answer.text.length).toBeLessThan(300);
  });
});
