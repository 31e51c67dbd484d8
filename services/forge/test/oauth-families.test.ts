import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixedClock } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { oauthSteps, type Program, pkce, type TokenReply } from './oauth-scene.ts';
import { rowsOf } from './rows-of.ts';

// What belongs to one sign-in stays together: refreshing, losing answers, being robbed, while the auth service is slow.

const clock = fixedClock(new Date().toISOString());
let questions: { id: string; answer: ServerResponse }[] = [];
const welcome = ({ id, answer }: (typeof questions)[number]) => void answer.end(JSON.stringify({ id }));
let reply: (question: (typeof questions)[number]) => void;
const auth = createServer((request, answer) => {
  if (request.method === 'POST') {
    // Somebody tried too many passwords.
    answer.writeHead(429, { 'retry-after': '17' }).end('{}');
    return;
  }
  const question = { id: request.url?.replace('/admin/users/', '') ?? '', answer };
  questions.push(question);
  reply(question);
});
beforeAll(async () => {
  auth.listen(0, '127.0.0.1');
  await once(auth, 'listening');
});
afterAll(() => {
  auth.closeAllConnections();
  auth.close();
});
const scene = useForge({
  clock,
  authUrl: () => `http://127.0.0.1:${(auth.address() as AddressInfo).port}`,
});
const steps = oauthSteps(scene);
/** The clock goes on for months. */
const identity = { sub: randomUUID(), exp: 4_102_444_800 };
let ada: Person;
/** Whose programs they are. */
let ben: Person;
/** One with a secret, and one without. */
let program: Program;
let open: Program;

beforeEach(async () => {
  clock.advance(61_000);
  questions = [];
  reply = welcome;
  ada ??= scene.person('ada', identity);
  ben ??= scene.person('ben', { exp: identity.exp });
  for (const person of [ada, ben]) await person.call('GET', '/user');
  program = await steps.program(ben);
  open = await steps.program(ben, { confidential_client: false });
});

const signIn = async (to: Program, more: Record<string, string> = {}) => {
  const { asked, verifier } = pkce();
  const code = await steps.code(steps.question(to, { ...asked, ...more }), ada);
  const { status, body } = await steps.exchange({ ...steps.presented(to, code), code_verifier: verifier });
  expect(status).toBe(200);
  return body;
};
const refresh = async (of: Program, tokens: Record<string, string>, scope?: string) =>
  await steps.refresh(of, tokens['refresh_token'], scope);
const tokensOf = (of: Program) =>
  scene.sql.rows`
    select t.* from :schema.oauth_tokens t join :schema.oauth_grants g on g.id = t.grant_id
    where g.application_id = ${of.id}`;

describe('a sign-in that was taken back', () => {
  /** Tries once more when the forge gave the question up before what was to happen meanwhile had. */
  async function whileAuthIsAsked(
    begin: () => Promise<{ slow: Promise<TokenReply>; meanwhile: () => Promise<unknown> }>,
  ): Promise<TokenReply> {
    for (;;) {
      reply = welcome;
      clock.advance(61_000);
      questions = [];
      const { slow, meanwhile } = await begin();
      await vi.waitFor(() => expect(held()).not.toEqual([]), { timeout: 40_000 });
      await meanwhile();
      const isGivenUp = held().some(({ answer }) => answer.destroyed);
      for (const question of held()) welcome(question);
      const answer = await slow;
      if (!isGivenUp) return answer;
    }
  }
  const held = () => questions.filter(({ id }) => id === identity.sub);
  const holdBack = () => {
    clock.advance(61_000);
    questions = [];
    reply = (question) => (question.id === identity.sub ? undefined : welcome(question));
  };

  it('stays so when a refresh of it was under way', async () => {
    const answer = await whileAuthIsAsked(async () => {
      const first = await signIn(open);
      const second = (await refresh(open, first)).body;
      await steps.whoIs(second['access_token']);
      holdBack();
      const meanwhile = async () => expect((await refresh(open, first)).status).toBe(400);
      return { slow: refresh(open, second), meanwhile };
    });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await tokensOf(open)).toEqual([]);
  });

  it('stays so when its code was being used', async () => {
    const answer = await whileAuthIsAsked(async () => {
      const { asked, verifier } = pkce();
      const code = await steps.code(steps.question(open, asked), ada);
      holdBack();
      const slow = steps.exchange({ ...steps.presented(open, code), code_verifier: verifier });
      const meanwhile = () =>
        scene.sql.run`delete from :schema.oauth_grants where application_id = ${open.id}`;
      return { slow, meanwhile };
    });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await tokensOf(open)).toEqual([]);
  });

  it('stays so however many refreshes and thefts come at once', async () => {
    for (let round = 0; round < 5; round++) {
      const first = await signIn(open);
      const second = (await refresh(open, first)).body;
      await steps.whoIs(second['access_token']);
      clock.advance(61_000);
      await ada.call('GET', '/user');
      await Promise.all([second, first, second, first, second].map((one) => refresh(open, one)));
      expect(await tokensOf(open)).toEqual([]);
    }
  });
});

describe('an answer that was lost', () => {
  it('is given again, however late, while nobody used what was in it', async () => {
    const first = await signIn(open);
    const lost = (await refresh(open, first)).body;
    clock.advance(3_600_000);
    const lostAgain = (await refresh(open, first)).body;
    clock.advance(3_600_000);
    const again = await refresh(open, first);
    expect(again.status).toBe(200);
    // What was lost is of no use.
    for (const { access_token: token } of [lost, lostAgain])
      expect((await steps.whoIs(token)).status).toBe(401);
    expect((await steps.whoIs(again.body['access_token'])).status).toBe(200);
    expect((await refresh(open, again.body)).status).toBe(200);
  });

  it('ends the sign-in when it was not lost but in other hands', async () => {
    const first = await signIn(open);
    const stolen = (await refresh(open, first)).body;
    clock.advance(61_000);
    const again = (await refresh(open, first)).body;
    expect(again['access_token']).toEqual(expect.any(String));
    expect(await refresh(open, stolen)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await steps.whoIs(again['access_token'])).status).toBe(401);
    expect((await refresh(open, again)).status).toBe(400);
    expect(await tokensOf(open)).toEqual([]);
  });

  it.each([
    [
      'access token',
      async (next: Record<string, string>) => (await steps.whoIs(next['access_token'])).status,
    ],
    ['refresh token', async (next: Record<string, string>) => (await refresh(open, next)).status],
  ])('is given no more once its %s was used', async (_what, use) => {
    const first = await signIn(open);
    const next = (await refresh(open, first)).body;
    expect(await use(next)).toBe(200);
    clock.advance(61_000);
    expect((await refresh(open, first)).status).toBe(400);
    expect(await tokensOf(open)).toEqual([]);
  });
});

describe('what is kept', () => {
  it('of one machine that refreshes often leaves another one signed in', async () => {
    const other = await signIn(program);
    let mine = await signIn(program);
    for (let n = 0; n < 120; n++) mine = (await refresh(program, mine)).body;
    expect((await tokensOf(program)).length).toBe(51);
    expect((await steps.whoIs(other['access_token'])).status).toBe(200);
    expect((await refresh(program, other)).status).toBe(200);
    expect((await refresh(program, mine)).status).toBe(200);
  });

  it('is the refresh token of a program that presents the same one each time', async () => {
    const first = await signIn(program);
    for (let n = 0; n < 60; n++) expect((await refresh(program, first)).status).toBe(200);
    expect((await tokensOf(program)).length).toBe(50);
  });

  it('are a hundred sign-ins at most, those that were refreshed last', async () => {
    const first = await signIn(program);
    const second = await signIn(program);
    for (let n = 0; n < 98; n++) await signIn(program);
    expect((await refresh(program, first)).status).toBe(200);
    await signIn(program);
    expect((await refresh(program, second)).status).toBe(400);
    expect((await refresh(program, first)).status).toBe(200);
  });
});

describe('scopes', () => {
  const listed = async () => (await ada.call('GET', '/user/applications/grants')).items.at(-1)?.['scopes'];

  it('that are listed are those of all sign-ins and codes that are of use', async () => {
    await steps.code(steps.question(program, { scope: 'read:issue' }), ada);
    expect(await listed()).toEqual(['read:issue']);
    const wide = await signIn(program, { scope: 'write:repository public-only' });
    await signIn(program, { scope: 'read:user' });
    expect(await listed()).toEqual(['read:issue', 'read:user', 'write:repository']);
    clock.advance(301_000);
    expect(await listed()).toEqual(['read:user', 'write:repository']);
    clock.advance(700 * 3_600_000);
    await refresh(program, wide);
    clock.advance(31 * 3_600_000);
    expect(await listed()).toEqual(['public-only', 'write:repository']);
  });

  it('are less at a refresh that asks for less, and whole again at the next', async () => {
    const all = await signIn(program, { scope: 'read:user write:repository' });
    const less = await refresh(program, all, 'read:repository openid');
    expect(less).toMatchObject({ status: 200, body: { scope: 'read:repository' } });
    expect((await steps.whoIs(less.body['access_token'])).status).toBe(403);
    const whole = await refresh(program, less.body);
    expect(whole.body['scope']).toBe('read:user write:repository');
    expect((await steps.whoIs(whole.body['access_token'])).status).toBe(200);
  });

  it.each(['write:user', 'all', 'read:user read:issue'])('are not more at a refresh: %s', async (scope) => {
    const tokens = await signIn(open, { scope: 'read:user write:repository' });
    const before = await rowsOf(scene, 'oauth_tokens');
    expect(await refresh(open, tokens, scope)).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
    expect(await rowsOf(scene, 'oauth_tokens')).toEqual(before);
  });
});

it('of whoever was banned there is no application any more, also when he never calls', async () => {
  const banned = { sub: randomUUID(), exp: identity.exp };
  const owner = scene.person('banned', banned);
  await owner.call('GET', '/user');
  const his = await steps.program(owner);
  const tokens = await signIn(his);
  const { asked } = pkce();
  const code = await steps.code(steps.question(his, asked), ada);
  clock.advance(61_000);
  reply = (question) => {
    if (question.id !== banned.sub) return welcome(question);
    question.answer.statusCode = 404;
    question.answer.end(JSON.stringify({ code: 404, error_code: 'user_not_found', msg: 'User not found' }));
  };
  await ada.call('GET', '/user');
  const before = await rowsOf(scene, 'oauth_grants', 'oauth_codes', 'oauth_tokens');
  expect((await steps.open(steps.question(his))).status).toBe(400);
  const who = { user_name: 'ada', password: ada.token };
  expect((await steps.press(steps.question(his), who)).status).toBe(400);
  for (const answer of [await refresh(his, tokens), await steps.exchange(steps.presented(his, code))])
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_client' } });
  expect(await rowsOf(scene, 'oauth_grants', 'oauth_codes', 'oauth_tokens')).toEqual(before);
});

it('who tried too many passwords is told when to come back', async () => {
  const before = await rowsOf(scene, 'oauth_grants', 'oauth_codes');
  const answer = await steps.press(steps.question(program), { user_name: 'ada', password: 'a guess' });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '17']);
  expect(await answer.text()).toContain('too many attempts');
  expect(await rowsOf(scene, 'oauth_grants', 'oauth_codes')).toEqual(before);
});
