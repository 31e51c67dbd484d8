import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { oauthSteps, onwardOf, type Program, pkce } from './oauth-scene.ts';
import { rowsOf } from './rows-of.ts';

let now = new Date();
const scene = useForge({ clock: { now: () => now } });
const steps = oauthSteps(scene);
let ada: Person;
let mallory: Person;
/** One with a secret, and one without. */
let program: Program;
let open: Program;

beforeAll(async () => {
  [ada, mallory] = [scene.person('ada'), scene.person('mallory')];
  for (const person of [ada, mallory]) await person.call('GET', '/user');
  program = await steps.program(ada);
  open = await steps.program(ada, { confidential_client: false });
});

const later = (milliseconds: number) => {
  now = new Date(now.getTime() + milliseconds);
};
const kept = () => rowsOf(scene, 'oauth_grants', 'oauth_codes', 'oauth_tokens');

describe('a question', () => {
  it.each([
    ['no application', { client_id: '00000000-0000-4000-8000-000000000000' }],
    ['what is no id', { client_id: "x'; --" }],
    ['NUL in the id', { client_id: 'a\0b' }],
    ['another address', { redirect_uri: 'https://evil.example/authorize' }],
    ['an address below', { redirect_uri: 'https://ci.example/authorize/../evil' }],
    ['an address with more', { redirect_uri: 'https://ci.example/authorize?next=//evil.example' }],
    ['an address to carry out', { redirect_uri: 'javascript:alert(1)' }],
  ])('of %s is told to the person and leads nowhere', async (_what, change) => {
    const asked = steps.question(program, change);
    const before = await kept();
    for (const answer of [
      await steps.open(asked),
      await steps.press(asked, { user_name: 'ada', password: ada.token }),
      await steps.press(asked, { user_name: '', password: '' }, 'deny'),
    ]) {
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      expect(answer.headers.get('content-security-policy')).toContain("form-action 'self';");
      expect(await answer.text()).not.toMatch(/alert\(1\)|evil/);
    }
    expect(await kept()).toEqual(before);
  });

  it.each([
    ['another response_type', () => program, { response_type: 'token' }, 'unsupported_response_type'],
    [
      'an unknown way of challenging',
      () => program,
      { ...pkce().asked, code_challenge_method: 'S1' },
      'invalid_request',
    ],
    ['half a challenge', () => program, { code_challenge_method: 'S256' }, 'invalid_request'],
    ['no challenge where there is no secret', () => open, {}, 'invalid_request'],
  ])('with %s is refused on a page, whose link tells the program', async (_what, of, change, error) => {
    const asked = steps.question(of(), change);
    const before = await kept();
    for (const answer of [
      await steps.open(asked),
      await steps.press(asked, { user_name: 'ada', password: ada.token }),
      await steps.press(asked, { user_name: '', password: '' }, 'deny'),
    ]) {
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      const html = await answer.text();
      // Anybody can register a program: nobody is sent there by a link to here alone.
      expect(html).not.toContain('http-equiv');
      const [, target = '', site] = /<a href="([^"]*)">Go on to ([^<]*)</.exec(html) ?? [];
      const { origin, searchParams } = new URL(target.replaceAll('&amp;', '&'));
      expect([origin, site]).toEqual(['https://ci.example', 'ci.example']);
      expect(searchParams.get('error')).toBe(error);
      expect(searchParams.get('state')).toBe('of mine');
      expect(searchParams.has('code')).toBe(false);
    }
    expect(await kept()).toEqual(before);
  });

  it('of a program on the person’s own machine is refused to it at once', async () => {
    const wish = { confidential_client: false, redirect_uris: ['http://127.0.0.1/'] };
    const own = await steps.program(ada, wish);
    const redirectUri = 'http://127.0.0.1:40321/';
    const answer = await steps.open(steps.question({ ...own, redirectUri }));
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:40321\/\?error=invalid_request&/);
  });

  it('is denied from our own page at once, and from others with a link', async () => {
    const asked = steps.question(program);
    const before = await kept();
    for (const [site, isAtOnce] of [
      [undefined, true],
      ['same-origin', true],
      ['cross-site', false],
      ['none', false],
    ] as const) {
      const headers: Record<string, string> = site === undefined ? {} : { 'sec-fetch-site': site };
      const denied = await steps.press(asked, { user_name: '', password: '' }, 'deny', headers);
      expect(denied.status).toBe(200);
      const target = await onwardOf(denied);
      expect(target?.searchParams.get('error')).toBe(isAtOnce ? 'access_denied' : undefined);
    }
    expect(await kept()).toEqual(before);
  });

  it('is answered by whoever gives his password, and by nothing else', async () => {
    const asked = steps.question(program);
    const { body } = await ada.call('POST', '/users/ada/tokens', { name: 'all', scopes: ['all'] });
    const before = await kept();
    for (const who of [
      { user_name: 'ada', password: '' },
      { user_name: 'ada', password: 'wrong' },
      { user_name: 'ada', password: body.sha1 },
      { user_name: body.sha1, password: 'x' },
      { user_name: 'ada', password: `${ada.token}\0` },
    ]) {
      const answer = await steps.press(asked, who);
      expect([answer.status, answer.headers.get('location')]).toEqual([403, null]);
      const html = await answer.text();
      expect(html).toContain('That did not work');
      if (who.password !== '') expect(html).not.toContain(`"${who.password}"`);
    }
    expect(await kept()).toEqual(before);
  });
});

describe('a code', () => {
  it('is used once: who presents it again loses what was given for it', async () => {
    const code = await steps.code(steps.question(program), ada);
    const presented = steps.presented(program, code);
    const answers = await Promise.all([1, 2, 3].map(() => steps.exchange(presented)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const given = answers.find(({ status }) => status === 200)?.body;
    const again = await steps.exchange(presented);
    expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await steps.whoIs(given?.['access_token'])).status).toBe(401);
    expect((await steps.refresh(program, given?.['refresh_token'])).status).toBe(400);
  });

  it('is of no use to others, who do not use it up', async () => {
    const evil = await steps.program(mallory);
    const code = await steps.code(steps.question(program), ada);
    const stolen = steps.presented(evil, code);
    expect(await steps.exchange(stolen)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const guessed = { ...steps.presented(program, code), client_secret: evil.client_secret };
    expect(await steps.exchange(guessed)).toMatchObject({ status: 400, body: { error: 'invalid_client' } });
    expect((await steps.exchange(steps.presented(program, code))).status).toBe(200);
  });

  it.each([
    ['another address', { redirect_uri: 'https://ci.example/' }, {}],
    ['no address', { redirect_uri: '' }, {}],
    ['no verifier', {}, pkce().asked],
    ['another verifier', { code_verifier: 'x'.repeat(43) }, pkce().asked],
    ['a verifier where nothing was challenged', { code_verifier: 'x'.repeat(43) }, {}],
  ])('with %s is used up for nothing', async (_what, change, more) => {
    const code = await steps.code(steps.question(program, more), ada);
    const presented = steps.presented(program, code);
    const tokens = await rowsOf(scene, 'oauth_tokens');
    expect(await steps.exchange({ ...presented, ...change })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect((await steps.exchange(presented)).status).toBe(400);
    expect(await rowsOf(scene, 'oauth_tokens')).toEqual(tokens);
  });

  it('expires, and is let go of with the next one', async () => {
    const code = await steps.code(steps.question(program), ada);
    later(5 * 60_000);
    expect(await steps.exchange(steps.presented(program, code))).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    later(1);
    await steps.code(steps.question(program), ada);
    expect((await rowsOf(scene, 'oauth_codes'))[0]).toHaveLength(1);
  });
});

describe('a program', () => {
  it.each([
    ['nothing', {}, {}, 400, 'invalid_client'],
    ['no secret', { client_secret: '' }, {}, 400, 'invalid_client'],
    ['a malformed header', {}, { authorization: 'Basic bm8tY29sb24=' }, 400, 'invalid_request'],
    ['a wrong header', { client_id: '' }, { authorization: 'Basic eDp5' }, 401, 'invalid_client'],
    ['two names', {}, { authorization: 'Basic eDp5' }, 400, 'invalid_request'],
    ['another grant', { grant_type: 'password' }, {}, 400, 'unsupported_grant_type'],
    ['a code that is none', { code: 'x' }, {}, 400, 'invalid_grant'],
    ['NUL', { code: 'x\0' }, {}, 400, 'invalid_grant'],
  ])('that presents %s gets nothing', async (what, change, headers, status, error) => {
    const before = await kept();
    const fields = what === 'nothing' ? {} : { ...steps.presented(program, 'x'), ...change };
    const answer = await steps.exchange(fields, headers);
    expect(answer).toMatchObject({ status, body: { error } });
    expect(answer.headers.has('www-authenticate')).toBe(status === 401);
    expect(await kept()).toEqual(before);
  });

  it.each([
    ['malformed JSON', 'POST', 'application/json', '{'],
    ['JSON that is none of an object', 'POST', 'application/json', '[1]'],
    ['another type', 'POST', 'text/plain', 'x'],
    ['nothing', 'POST', undefined, undefined],
    ['too many fields', 'POST', 'application/x-www-form-urlencoded', 'a=&'.repeat(1001)],
  ])('that sends %s is told so in the words of OAuth', async (_what, method, type, body) => {
    const before = await kept();
    const answer = await fetch(`${scene.address}/login/oauth/access_token`, {
      method,
      ...(type === undefined ? {} : { headers: { 'content-type': type } }),
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({
      error: expect.stringMatching(/^invalid_(request|client)$/),
      error_description: expect.any(String),
    });
    expect(await kept()).toEqual(before);
  });

  it('has a secret no more once it got another', async () => {
    const own = await steps.program(ada, { name: 'changed' });
    const tokens = await steps.signIn(own, ada);
    const wish = { name: 'changed', confidential_client: true, redirect_uris: [own.redirectUri] };
    const { body } = await ada.call('PATCH', `/user/applications/oauth2/${own.id}`, wish);
    expect((await steps.refresh(own, tokens['refresh_token'])).status).toBe(400);
    const next = { ...own, client_secret: String(body['client_secret']) };
    expect((await steps.refresh(next, tokens['refresh_token'])).status).toBe(200);
  });

  it('without a secret whose refresh token comes again later was robbed: the sign-in ends', async () => {
    const { asked, verifier } = pkce();
    const code = await steps.code(steps.question(open, asked), ada);
    const { body } = await steps.exchange({ ...steps.presented(open, code), code_verifier: verifier });
    const first = await steps.refresh(open, body['refresh_token']);
    // Two tabs at once.
    const second = await steps.refresh(open, body['refresh_token']);
    expect([first.status, second.status]).toEqual([200, 200]);
    later(61_000);
    expect((await steps.refresh(open, first.body['refresh_token'])).status).toBe(200);
    expect((await steps.refresh(open, body['refresh_token'])).status).toBe(400);
    for (const token of [first, second])
      expect((await steps.refresh(open, token.body['refresh_token'])).status).toBe(400);
    expect((await steps.whoIs(first.body['access_token'])).status).toBe(401);
  });

  it('makes no tokens of its own, and reaches nothing that was not allowed', async () => {
    const { access_token: token } = await steps.signIn(program, ada, { scope: 'read:user' });
    const app: Person = {
      ...ada,
      call: (method, path, body) => ada.call(method, path, body, { authorization: `token ${token}` }),
    };
    const before = await rowsOf(scene, 'access_tokens', 'oauth_applications', 'repositories');
    expect((await app.call('POST', '/users/ada/tokens', { name: 'x', scopes: ['all'] })).status).toBe(403);
    expect((await app.call('POST', '/user/applications/oauth2', { name: 'x' })).status).toBe(403);
    expect((await app.call('POST', '/user/repos', { name: 'x' })).status).toBe(403);
    const all = await steps.signIn(program, ada);
    const whole = { authorization: `token ${all['access_token']}` };
    expect((await ada.call('POST', '/users/ada/tokens', { name: 'x', scopes: ['all'] }, whole)).status).toBe(
      401,
    );
    expect(await rowsOf(scene, 'access_tokens', 'oauth_applications', 'repositories')).toEqual(before);
  });
});
