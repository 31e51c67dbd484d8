import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushedRepository, request, useForge } from './forge.ts';
import { oauthSteps, onwardOf, pkce } from './oauth-scene.ts';
import { rowsOf } from './rows-of.ts';

let now = new Date();
/** The clock of these tests goes on for months. */
const lasting = { exp: 4_102_444_800 };
const scene = useForge({ clock: { now: () => now } });
const steps = oauthSteps(scene);
let ada: Person;
let ben: Person;

beforeAll(async () => {
  [ada, ben] = [scene.person('ada', lasting), scene.person('ben', lasting)];
  for (const person of [ada, ben]) await person.call('GET', '/user');
});

const later = (milliseconds: number) => {
  now = new Date(now.getTime() + milliseconds);
};

describe('an application', () => {
  it('is made, listed, shown, changed and deleted; its secret is shown when it is made', async () => {
    const wish = {
      name: 'Woodpecker',
      confidential_client: true,
      redirect_uris: ['https://ci.example/authorize', 'http://127.0.0.1/'],
    };
    const made = await ada.call('POST', '/user/applications/oauth2', wish);
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ...wish,
      id: expect.any(Number),
      client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
      skip_secondary_authorization: false,
      created: expect.stringMatching(/^\d{4}-/),
    });
    const path = `/user/applications/oauth2/${made.body.id}`;
    const shown = { ...made.body, client_secret: '' };
    expect((await ada.call('GET', path)).body).toEqual(shown);
    expect((await ada.call('GET', '/user/applications/oauth2')).items).toEqual([shown]);
    const edit = { name: 'CI', redirect_uris: ['https://other.example/'] };
    const changed = await ada.call('PATCH', path, edit);
    expect(changed).toMatchObject({ status: 200, body: { ...edit, confidential_client: false } });
    expect(changed.body['client_id']).toBe(made.body['client_id']);
    expect(changed.body['client_secret']).not.toBe(made.body['client_secret']);
    for (const [method, body] of [['GET'], ['PATCH', edit], ['DELETE']] as const)
      expect((await ben.call(method, path, body)).status).toBe(404);
    expect((await ada.call('DELETE', path)).status).toBe(204);
    expect((await ada.call('GET', path)).status).toBe(404);
    expect((await ada.call('GET', '/user/applications/oauth2')).items).toEqual([]);
  });

  it.each([
    [{ redirect_uris: ['https://ci.example/'] }, 422],
    [{ name: ' ', redirect_uris: ['https://ci.example/'] }, 422],
    [{ name: 'x'.repeat(256), redirect_uris: ['https://ci.example/'] }, 400],
    [{ name: 'IC \u202eeb', redirect_uris: ['https://ci.example/'] }, 400],
    [{ name: 'x' }, 400],
    [{ name: 'x', redirect_uris: [] }, 400],
    [{ name: 'x', redirect_uris: ['javascript:alert(1)'] }, 400],
    [{ name: 'x', redirect_uris: [`https://ci.example/${'x'.repeat(3000)}`] }, 400],
    [{ name: 'x', redirect_uris: Array.from({ length: 51 }, () => 'https://ci.example/') }, 400],
    [{ name: 'x', redirect_uris: 'https://ci.example/' }, 422],
  ])('is not made of %#', async (body, status) => {
    const before = await rowsOf(scene, 'oauth_applications');
    expect((await ada.call('POST', '/user/applications/oauth2', body)).status).toBe(status);
    expect(await rowsOf(scene, 'oauth_applications')).toEqual(before);
  });

  it('that programs on people’s own machines know everywhere is there', async () => {
    const { asked, verifier } = pkce();
    const tea = { id: 0, client_id: 'd57cb8c4-630c-4168-8324-ec79935e18d4', client_secret: '' };
    const program = { ...tea, redirectUri: 'http://127.0.0.1:40321/' };
    const code = await steps.code(steps.question(program, { ...asked, scope: 'admin,user,issue' }), ada);
    const { body } = await steps.exchange({ ...steps.presented(program, code), code_verifier: verifier });
    expect((await steps.whoIs(body['access_token'])).body.login).toBe('ada');
    // Nobody owns it.
    expect((await ada.call('GET', '/user/applications/oauth2')).items).toEqual([]);
  });
});

describe('signing in', () => {
  it('asks for a password on a page, and gives the program a code that it exchanges for tokens', async () => {
    const program = await steps.program(ben, { name: 'CI <of> "ben"' });
    const asked = steps.question(program, { scope: 'read:user write:repository' });
    const page = await steps.open(asked);
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(html).toContain('CI &lt;of&gt; &quot;ben&quot;');
    expect(html).toContain('registered here by the account ben');
    expect(html).toContain('It asks to read and change: repository; to read: user.');
    expect(html).toContain('ci.example');

    // What the form of the page carries.
    const fields = Object.fromEntries(
      [...html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    ) as Record<string, string>;
    expect(fields).toEqual(asked);
    const answer = await steps.press(fields, { user_name: 'ada', password: ada.token });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(answer.headers.get('content-security-policy')).toBe(page.headers.get('content-security-policy'));
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    const target = (await onwardOf(answer)) as URL;
    expect(target.origin + target.pathname).toBe(program.redirectUri);
    expect(target.searchParams.get('state')).toBe('of mine');

    const basic = Buffer.from(`${program.client_id}:${program.client_secret}`).toString('base64');
    const {
      client_id: _id,
      client_secret: _secret,
      ...rest
    } = steps.presented(program, target.searchParams.get('code') ?? '');
    const got = await steps.exchange(rest, { authorization: `Basic ${basic}` });
    expect(got.status).toBe(200);
    expect(got.headers.get('cache-control')).toBe('no-store');
    expect(got.body).toEqual({
      access_token: expect.stringMatching(/^[0-9a-f]{40}$/),
      token_type: 'bearer',
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: 'read:user write:repository',
    });
    const who = await steps.whoIs(got.body['access_token']);
    expect(who.body.login).toBe('ada');
    const issues = await request(`${scene.address}/api/v1/repos/issues/search`, 'GET', undefined, {
      authorization: `token ${got.body['access_token']}`,
    });
    expect(issues.status).toBe(403);
    const profile = await fetch(`${scene.address}/login/oauth/userinfo`, {
      headers: { authorization: `Bearer ${got.body['access_token']}` },
    });
    expect(await profile.json()).toEqual({
      sub: String(who.body.id),
      name: 'ada',
      preferred_username: 'ada',
      email: 'ada@example.test',
      picture: `${scene.address}/avatars/${who.body.id}`,
      groups: [],
    });
    // None of it is kept as it is.
    const kept = JSON.stringify(await rowsOf(scene, 'oauth_applications', 'oauth_codes', 'oauth_tokens'));
    for (const secret of [
      program.client_secret,
      ...Object.values(got.body).filter((one) => String(one).length > 30),
    ])
      expect(kept).not.toContain(secret);
  });

  it('tells a program whose token it has, whatever the scope, and in which groups he is', async () => {
    const program = await steps.program(ben);
    for (const [name, visibility] of [
      ['orchard', 'public'],
      ['cellar', 'private'],
    ])
      expect((await ada.call('POST', '/orgs', { username: name, visibility })).status).toBe(201);
    const team = { name: 'Pickers', permission: 'read', units: ['repo.code'], visibility: 'private' };
    const made = await ada.call('POST', '/orgs/orchard/teams', team);
    expect((await ada.call('PUT', `/teams/${made.body.id}/members/ada`)).status).toBe(204);
    const ask = (token: string | undefined, method = 'GET') =>
      fetch(`${scene.address}/login/oauth/userinfo`, {
        method,
        headers: { authorization: `Bearer ${token}` },
      });
    const { access_token: narrow } = await steps.signIn(program, ada, { scope: 'openid read:repository' });
    const answer = await ask(narrow);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    const groups = ['orchard', 'orchard:owners', 'cellar', 'cellar:owners', 'orchard:pickers'];
    expect(((await answer.json()) as { groups: string[] }).groups.toSorted()).toEqual(groups.toSorted());
    const { access_token: open } = await steps.signIn(program, ada, { scope: 'all public-only' });
    expect(((await (await ask(open)).json()) as { groups: string[] }).groups).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/cellar|pickers/)]),
    );
    for (const refused of [await ask('0'.repeat(40)), await fetch(`${scene.address}/login/oauth/userinfo`)]) {
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="Gitea OAuth2"');
      expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    }
    const preflight = await fetch(`${scene.address}/login/oauth/userinfo`, { method: 'OPTIONS' });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
  });

  it('serves git', async () => {
    await pushedRepository(ada, 'cloned', scene.folder, { private: true });
    const { access_token: token } = await steps.signIn(await steps.program(ben), ada);
    const address = scene.address.replace('://', `://oauth2:${token}@`);
    const listed = await git(scene.folder, 'ls-remote', `${address}/ada/cloned.git`, 'main');
    expect(listed).toContain('refs/heads/main');
  });

  it('goes on with a refresh token when an hour is over', async () => {
    const program = await steps.program(ben);
    const first = await steps.signIn(program, ada);
    later(3_600_000);
    expect((await steps.whoIs(first['access_token'])).status).toBe(401);
    const second = await steps.refresh(program, first['refresh_token']);
    expect(second.status).toBe(200);
    expect((await steps.whoIs(second.body['access_token'])).status).toBe(200);
    // A program with a secret may have lost the answer.
    later(3_600_000);
    expect((await steps.refresh(program, first['refresh_token'])).status).toBe(200);
    later(731 * 3_600_000);
    expect(await steps.refresh(program, first['refresh_token'])).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  it('ends with what the program was allowed, which is listed, and with the application', async () => {
    const [one, other] = [
      await steps.program(ben, { name: 'one' }),
      await steps.program(ben, { name: 'other' }),
    ];
    const [first, second] = [
      await steps.signIn(one, ada),
      await steps.signIn(other, ada, { scope: 'read:user' }),
    ];
    const grants = (await ada.call('GET', '/user/applications/grants')).items;
    expect(grants.slice(-2)).toMatchObject([
      { application: { name: 'one', client_id: one.client_id }, scopes: ['all'] },
      { application: { name: 'other', client_id: other.client_id }, scopes: ['read:user'] },
    ]);
    const path = `/user/applications/grants/${grants.at(-2)?.id}`;
    expect((await ben.call('DELETE', path)).status).toBe(404);
    expect((await steps.whoIs(first['access_token'])).status).toBe(200);
    expect((await ada.call('DELETE', path)).status).toBe(204);
    expect((await steps.whoIs(first['access_token'])).status).toBe(401);
    expect((await steps.refresh(one, first['refresh_token'])).status).toBe(400);
    expect((await steps.whoIs(second['access_token'])).status).toBe(200);
    expect((await ben.call('DELETE', `/user/applications/oauth2/${other.id}`)).status).toBe(204);
    expect((await steps.whoIs(second['access_token'])).status).toBe(401);
  });

  it('describes itself', async () => {
    const answer = await fetch(`${scene.address}/.well-known/oauth-authorization-server`);
    expect(await answer.json()).toMatchObject({
      issuer: scene.address,
      authorization_endpoint: `${scene.address}/login/oauth/authorize`,
      token_endpoint: `${scene.address}/login/oauth/access_token`,
      code_challenge_methods_supported: ['S256', 'plain'],
    });
  });
});
