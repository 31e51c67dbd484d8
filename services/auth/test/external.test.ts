import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { prepareMailCode } from '../src/codes/prepare-code.ts';
import type { ProviderId } from '../src/rules/external/provider-ids.ts';
import * as oneTimeTokens from '../src/store/one-time-tokens.ts';
import * as users from '../src/store/users.ts';
import { claimsOf, type Subject, someone, startSubject } from './harness.ts';
import {
  comeBack,
  isRefused,
  lastAuditOf,
  leave,
  type Redirected,
  signInWith,
} from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { json } from './support/provider-emulator.ts';

const USED: ProviderId[] = ['bitbucket', 'github', 'google', 'keycloak', 'snapchat', 'spotify', 'twitter'];

const { emulator, subject, become, userOf } = await externalSubject(USED);

const flows = async (on: Subject = subject) =>
  (await on.rows.autocommit().row<{ count: number }>`select count(*) as count from :schema.flow_state`)
    ?.count;
const lastAudit = (count: number, on: Subject = subject) => lastAuditOf(on, count);

describe('GET /authorize', () => {
  test('sends the browser to the provider, with a state that only they know', async () => {
    const before = (await flows()) ?? 0;
    const answer = await leave(subject, 'google', { redirect_to: 'https://site.example/after' });
    expect(answer.status).toBe(302);
    const { searchParams } = new URL(answer.location);
    const state = searchParams.get('state') ?? '';
    expect(Buffer.from(state, 'base64url')).toHaveLength(16);
    expect(answer.setCookie).toMatch(
      /^__Host-croft-auth-flow-[0-9a-f]{16}=[\w-]{22}; Path=\/; Max-Age=300; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(await flows()).toBe(before + 1);
    const row = JSON.stringify(
      await subject.rows.autocommit().row`
        select to_jsonb(f) as row from :schema.flow_state f order by created_at desc, id limit 1`,
    );
    const kept = [
      'code_verifier',
      state,
      answer.cookie.split('=')[1] ?? '',
      searchParams.get('code_challenge'),
    ];
    for (const secret of kept) expect(row).not.toContain(secret);
  });

  test('attack: passes on what an address has room for, and nothing more', async () => {
    const before = await flows();
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, 'x']));
    for (const passed of [many(51), { one: 'x'.repeat(4096) }, many(16_000)]) {
      const answer = await subject.get(
        `/authorize?provider=google&${new URLSearchParams(passed).toString()}`,
      );
      expect([answer.status, answer.body['error_code']]).toEqual([400, 'validation_failed']);
    }
    expect(await flows()).toBe(before);
    const { searchParams } = new URL(
      (await leave(subject, 'google', { ...many(49), login_hint: 'ada' })).location,
    );
    expect([searchParams.get('p48'), searchParams.getAll('login_hint')]).toEqual(['x', ['ada']]);
  });

  test('over plain http the cookie goes without Secure', async () => {
    await using plain = await startSubject({
      ...emulator.settings('google'),
      AUTHSVC_API_EXTERNAL_URL: 'http://localhost:8081',
    });
    const { setCookie } = await leave(plain, 'google');
    expect(setCookie).toMatch(
      /^croft-auth-flow-[0-9a-f]{16}=[\w-]{22}; Path=\/; Max-Age=300; HttpOnly; SameSite=Lax$/,
    );
  });

  test('the name of a provider counts in any case', async () => {
    expect((await leave(subject, 'GooGLE' as ProviderId)).status).toBe(302);
  });

  test('what the application adds is passed on, but nothing that is ours to say', async () => {
    const { location } = await leave(subject, 'google', {
      prompt: 'select_account',
      login_hint: 'ada@example.com',
      redirect_to: 'https://site.example/',
      client_id: 'evil',
      client_secret: 'evil',
      redirect_uri: 'https://evil.example',
      response_type: 'token',
      response_mode: 'form_post',
      state: 'evil',
      scope: 'evil',
      code_verifier: 'evil',
      request_uri: 'https://evil.example',
      code_challenge: 'evil'.repeat(11),
      code_challenge_method: 'plain',
    });
    const query = new URL(location).searchParams;
    expect([...query.keys()].sort()).toEqual([
      'client_id',
      'code_challenge',
      'code_challenge_method',
      'login_hint',
      'prompt',
      'redirect_uri',
      'response_type',
      'scope',
      'state',
    ]);
    expect(query.get('code_challenge_method')).toBe('S256');
    expect(location).not.toContain('evil');
  });

  test('clients have RATE_LIMIT_AUTHORIZE of it, for each writes a row', async () => {
    await using limited = await startSubject({
      ...emulator.settings('google'),
      AUTHSVC_RATE_LIMIT_ENABLED: 'true',
      AUTHSVC_RATE_LIMIT_AUTHORIZE: '3',
    });
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await leave(limited, 'google'));
    expect(answers.map(({ status }) => status)).toEqual([302, 302, 302, 429, 429]);
    expect(await flows(limited)).toBe(3);
  });

  test.each([
    ['foo', 'Unsupported provider: Provider foo could not be found'],
    ['', 'Unsupported provider: Provider  could not be found'],
    ['__proto__', 'Unsupported provider: Provider __proto__ could not be found'],
    ['gitlab', 'Unsupported provider: provider is not enabled'],
  ])('refuses the provider %j', async (provider, msg) => {
    const before = await flows();
    const answer = await subject.get(`/authorize?provider=${provider}`);
    expect([answer.status, answer.body]).toEqual([400, { code: 400, error_code: 'validation_failed', msg }]);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await flows()).toBe(before);
  });

  test.each([
    ['CLIENT_ID', 'missing OAuth client ID'],
    ['SECRET', 'missing OAuth secret'],
    ['REDIRECT_URI', 'missing redirect URI'],
    ['URL', 'missing URL'],
  ])('refuses a provider without %s', async (missing, reason) => {
    const settings = emulator.settings('keycloak');
    delete settings[`AUTHSVC_EXTERNAL_KEYCLOAK_${missing}`];
    await using incomplete = await startSubject(settings);
    const { status, body } = await incomplete.get('/authorize?provider=keycloak');
    expect([status, body['msg']]).toEqual([400, `Unsupported provider: ${reason}`]);
    expect(await flows(incomplete)).toBe(0);
  });

  test('refuses half a code challenge, and unknown invitations', async () => {
    const before = await flows();
    const pkce = await leave(subject, 'google', { code_challenge: 'x'.repeat(43) });
    expect([pkce.status, JSON.parse(pkce.body)]).toMatchObject([
      400,
      { msg: 'PKCE flow requires code_challenge_method and code_challenge' },
    ]);
    const invited = await leave(subject, 'google', { invite_token: 'unknown' });
    expect([invited.status, JSON.parse(invited.body)]).toMatchObject([
      404,
      { error_code: 'user_not_found', msg: 'User identified by token not found' },
    ]);
    expect(await flows()).toBe(before);
  });

  test.each([
    ['a refusal', json({ errors: [] }, 401)],
    ['no token', json({})],
    [
      'an unconfirmed callback',
      (response: ServerResponse) => {
        response.end('oauth_token=a&oauth_token_secret=b&oauth_callback_confirmed=false');
      },
    ],
  ])('a provider that has to be asked first answers with %s: 503 and no flow', async (_name, instead) => {
    const before = await flows();
    emulator.instead.set('twitter/oauth/request_token', instead);
    const answer = await leave(subject, 'twitter');
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      503,
      { error_code: 'provider_unavailable' },
    ]);
    expect(await flows()).toBe(before);
  });
});

describe('GET /callback', () => {
  test('signs in with three round trips, and the session is one like any other', async () => {
    become(someone());
    const left = await leave(subject, 'google', { redirect_to: 'https://site.example/after?page=1' });
    const back = emulator.agree(left.location);
    let answer: Redirected | undefined;
    const trips = await subject.countRoundTrips(async () => {
      answer = await comeBack(subject, back, left.cookie);
    });
    if (answer === undefined) throw new Error('no answer');
    expect(trips).toBe(3);
    expect(answer.status).toBe(302);
    expect(answer.location.split('#')[0]).toBe('https://site.example/after?page=1');
    expect(answer.setCookie).toBe(
      `${left.cookie.split('=')[0]}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`,
    );
    expect(answer.fragment.get('expires_in')).toBe('3600');
    const token = String(answer.fragment.get('access_token'));
    expect(claimsOf(subject, { body: { access_token: token } } as never)).toMatchObject({
      email: emulator.somebody.email,
      role: 'authenticated',
      amr: [{ method: 'oauth' }],
    });
    const refreshed = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: answer.fragment.get('refresh_token'),
    });
    expect(refreshed.status).toBe(200);
  });

  test('the first time is a sign-up, the next a login that brings the profile up to date', async () => {
    become(someone());
    const first = await userOf(await signInWith(subject, emulator, 'google'));
    expect(await lastAudit(1)).toEqual([{ action: 'user_signedup', traits: { provider: 'google' } }]);
    emulator.somebody.name = 'Ada King';
    subject.clock.advance(1000);
    const again = await userOf(await signInWith(subject, emulator, 'google'));
    expect(await lastAudit(1)).toEqual([{ action: 'login', traits: { provider: 'google' } }]);
    expect(again).toMatchObject({
      id: first.id,
      user_metadata: { name: 'Ada King' },
      identities: [{ identity_data: { name: 'Ada King' }, created_at: first['created_at'] }],
    });
    const [identity] = again['identities'] as { last_sign_in_at: string }[];
    expect(identity?.last_sign_in_at).toBe(subject.clock.now().toISOString().replace('Z', '000Z'));
  });

  test('a fragment the application routes by stays', async () => {
    become(someone());
    const left = await leave(subject, 'google', { redirect_to: 'https://site.example/#/' });
    const answer = await comeBack(subject, emulator.agree(left.location), left.cookie);
    expect(answer.location).toMatch(/^https:\/\/site\.example\/#\/#access_token=/);
    const refused = await leave(subject, 'google', { redirect_to: 'https://site.example/?a=1#/' });
    const { fields } = emulator.agree(refused.location);
    const back = { method: 'GET', fields: { state: fields['state'] ?? '', error: 'access_denied' } } as const;
    const { location } = await comeBack(subject, back, refused.cookie);
    expect(location).toBe('https://site.example/?a=1&error=access_denied#/#error=access_denied&sb=');
  });

  test('EXTERNAL_REDIRECTURL is where everybody goes', async () => {
    await using fixed = await startSubject({
      ...emulator.settings('google'),
      AUTHSVC_EXTERNAL_REDIRECTURL: 'https://app.example/in',
    });
    become(someone());
    const { location } = await signInWith(fixed, emulator, 'google', {
      redirect_to: 'https://site.example/',
    });
    expect(location.split('#')[0]).toBe('https://app.example/in');
  });

  test('a refusal by the provider is passed on in its own words', async () => {
    const left = await leave(subject, 'google');
    const state = emulator.agree(left.location).fields['state'] ?? '';
    const before = await subject.snapshot();
    const fields = { state, error: 'access_denied', error_description: 'The user <b>said</b> no & left' };
    const answer = await comeBack(subject, { method: 'GET', fields }, left.cookie);
    expect(answer.status).toBe(302);
    const told = { error: 'access_denied', error_description: 'The user <b>said</b> no & left' };
    expect([Object.fromEntries(answer.query), Object.fromEntries(answer.fragment)]).toEqual([
      told,
      { ...told, sb: '' },
    ]);
    expect(answer.location).not.toContain('<b>');
    expect([await subject.snapshot(), emulator.received]).toEqual([before, []]);
    const again = await comeBack(subject, { method: 'GET', fields }, left.cookie);
    expect(again.query.get('error_code')).toBe('bad_oauth_state');
  });

  test('twitter tells of a refusal by `denied`', async () => {
    const left = await leave(subject, 'twitter');
    const { state = '', oauth_token = '' } = emulator.agree(left.location).fields;
    const fields = { state, denied: oauth_token };
    const answer = await comeBack(subject, { method: 'GET', fields }, left.cookie);
    expect(answer.query.get('error')).toBe('access_denied');
  });

  test('without a code', async () => {
    const left = await leave(subject, 'google');
    const state = emulator.agree(left.location).fields['state'] ?? '';
    const answer = await comeBack(subject, { method: 'GET', fields: { state } }, left.cookie);
    isRefused(
      answer,
      'invalid_request',
      'bad_oauth_callback',
      'OAuth callback with missing authorization code missing',
    );
  });

  test.each([
    ['no state', {}, 'bad_oauth_callback', 'OAuth state parameter missing'],
    [
      'an unknown state',
      { state: 'unknown', code: 'x' },
      'bad_oauth_state',
      'OAuth callback with invalid state',
    ],
  ])('%s: to the site, the error in the query alone', async (_name, fields, code, description) => {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await comeBack(subject, { method, fields }, '');
      expect([answer.status, answer.setCookie]).toEqual([303, '']);
      const told = { error: 'invalid_request', error_code: code, error_description: description };
      expect(answer.location).toBe(`https://site.example?${new URLSearchParams(told).toString()}`);
    }
  });

  test('a flow ends after EXTERNAL_FLOW_STATE_EXPIRY_DURATION', async () => {
    become(someone());
    const left = await leave(subject, 'google');
    const back = emulator.agree(left.location);
    const before = await subject.snapshot();
    subject.clock.advance(300_000);
    const answer = await comeBack(subject, back, left.cookie);
    expect([answer.status, answer.query.get('error_code')]).toEqual([303, 'bad_oauth_state']);
    expect([await subject.snapshot(), emulator.received]).toEqual([before, []]);
  });

  test('two tabs do not undo each other', async () => {
    become(someone());
    const [one, two] = [await leave(subject, 'google'), await leave(subject, 'github')];
    const cookies = `${one.cookie}; ${two.cookie}`;
    for (const left of [two, one]) {
      const answer = await comeBack(subject, emulator.agree(left.location), cookies);
      expect(answer.fragment.has('access_token')).toBe(true);
    }
  });
});

describe('a provider that fails', () => {
  const profile = 'Error getting user profile from external provider';
  test.each([
    ['answers 500', json({ message: 'oops' }, 500)],
    ['answers a page', (response: ServerResponse) => void response.end('<html>')],
    ['answers a text', json('hello')],
    ['answers null', json(null)],
    ['answers a list', json([])],
    ['tells no id', json({ email: 'ada@example.com' })],
    ['tells an id that is none', json({ id: { toString: 'x' } })],
    ['tells an id with a line end', json({ id: 'a\nb' })],
    [
      'redirects elsewhere',
      (response: ServerResponse) => void response.writeHead(302, { location: 'http://localhost:1/' }).end(),
    ],
    ['answers more than anybody reads', json({ id: '1', name: 'x'.repeat(400_000) })],
    ['hangs up', (response: ServerResponse) => void response.destroy()],
  ])('%s: the application is told, and nothing was written', async (_name, instead) => {
    become(someone());
    const left = await leave(subject, 'github');
    const before = await subject.snapshot();
    emulator.instead.set('github/api/v3/user', instead);
    const answer = await comeBack(subject, emulator.agree(left.location), left.cookie);
    isRefused(answer, 'server_error', 'unexpected_failure', profile);
    expect(await subject.snapshot()).toBe(before);
  });

  test('does not answer in time', async () => {
    await using impatient = await startSubject({
      ...emulator.settings('github'),
      AUTHSVC_INTERNAL_HTTP_TIMEOUT: '100ms',
    });
    const left = await leave(impatient, 'github');
    emulator.instead.set('github/login/oauth/access_token', () => {});
    const answer = await comeBack(impatient, emulator.agree(left.location), left.cookie);
    expect(answer.query.get('error_description')).toMatch(/^Unable to exchange external code: code$/);
  });

  test('knows no address', async () => {
    become(someone());
    emulator.instead.set(
      'github/api/v3/user/emails',
      json([{ email: 'no address', verified: true, primary: true }]),
    );
    const before = await subject.snapshot();
    isRefused(
      await signInWith(subject, emulator, 'github'),
      'server_error',
      'unexpected_failure',
      'Error getting user email from external provider',
    );
    isRefused(
      await signInWith(subject, emulator, 'snapchat'),
      'server_error',
      'unexpected_failure',
      'Error getting user email from external provider',
    );
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('invitations', () => {
  /** Invites as the endpoint does, and returns the token of the link. */
  async function invite(email: string): Promise<string> {
    const { context } = subject;
    const code = prepareMailCode(context, {
      purpose: 'invite',
      to: email,
      redirectTo: 'https://site.example',
      data: {},
    });
    const tx = context.database.autocommit();
    const trace = { audit: [], ip: null, userAgent: '' };
    const id = crypto.randomUUID();
    await users.insert(tx, {
      id,
      aud: 'authenticated',
      role: 'authenticated',
      email,
      phone: null,
      emailConfirmed: false,
      phoneConfirmed: false,
      passwordHash: null,
      appMetadata: { provider: 'email', providers: ['email'] },
      userMetadata: { team: 'red' },
      identity: { provider: 'email', providerId: id, data: { sub: id, email, email_verified: false } },
      isAnonymous: false,
      trace,
    });
    const found = await users.findByEmail(tx, email);
    await oneTimeTokens.send(tx, {
      userId: found?.user.id,
      limit: undefined,
      codes: [code.stored],
      sentAt: ['invited_at'],
      trace,
    });
    return code.linkToken;
  }

  test('are accepted with an identity that has the address, verified or not', async () => {
    const email = someone();
    const invite_token = await invite(email);
    become(email);
    const user = await userOf(await signInWith(subject, emulator, 'spotify', { invite_token }));
    expect(user).toMatchObject({
      email,
      app_metadata: { provider: 'email', providers: ['email', 'spotify'] },
      user_metadata: { team: 'red', email_verified: true },
      identities: [{ provider: 'email', identity_data: { email_verified: true } }, { provider: 'spotify' }],
    });
    expect(user['email_confirmed_at']).toBeDefined();
    expect(await lastAudit(1)).toEqual([{ action: 'invite_accepted', traits: { provider: 'spotify' } }]);
    expect((await leave(subject, 'spotify', { invite_token })).status).toBe(404);
  });

  test('are not accepted with another address', async () => {
    const invite_token = await invite(someone());
    become(someone());
    const left = await leave(subject, 'google', { invite_token });
    await subject.mails();
    const before = await subject.snapshot();
    isRefused(
      await comeBack(subject, emulator.agree(left.location), left.cookie),
      'invalid_request',
      'validation_failed',
      'Invited email does not match emails from external provider',
    );
    expect(await subject.snapshot()).toBe(before);
  });

  test('are not accepted twice', async () => {
    const email = someone();
    const invite_token = await invite(email);
    become(email);
    const left = await Promise.all([1, 2].map(() => leave(subject, 'google', { invite_token })));
    const codes = await Promise.all(
      left.map((one) => comeBack(subject, emulator.agree(one.location), one.cookie)),
    );
    expect(codes.map(({ query }) => query.get('error_code')).toSorted()).toEqual(
      ['user_not_found', null].toSorted(),
    );
    expect(codes.filter(({ fragment }) => fragment.has('access_token'))).toHaveLength(1);
  });
});
