import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type App,
  type Guarded,
  type GuardedServices,
  guardedServices,
  send,
} from './support/guarded-services.ts';

// The sign-in page of the forge (decision 0022) asks whoever has a second factor for its code, in a second step.

const WRONG = 'the code of the second factor is wrong or was used before';
const OVER = 'this sign-in took too long, or was answered already';
type Asked = Record<string, string>;
let services: GuardedServices;
let ada: Guarded;
let app: App;
let mallory: Guarded;
let asked: Asked;
let secret: string;

beforeAll(async () => {
  services = await guardedServices({ AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true' });
  [ada, mallory] = [await services.person('ada'), await services.person('mallory')];
  app = await ada.enrol();
  ({ asked, secret } = await program(mallory, 'CI'));
});
afterAll(() => services[Symbol.asyncDispose]());

/** A program of somebody's, and what it asks. */
async function program(owner: Guarded, name: string) {
  const redirectUri = `https://${name.toLowerCase()}.example/authorize`;
  const wish = { name, confidential_client: true, redirect_uris: [redirectUri] };
  const path = `${services.forge}/api/v1/user/applications/oauth2`;
  const { body } = await send(path, 'POST', { authorization: owner.basic }, wish);
  const question = {
    client_id: String(body['client_id']),
    redirect_uri: redirectUri,
    response_type: 'code',
    state: 'of mine',
    scope: 'read:user',
  };
  return { asked: question, secret: String(body['client_secret']) };
}

/** A browser that sends a form, and what it shows then. */
async function press(fields: Asked, decision = 'allow') {
  const answer = await fetch(`${services.forge}/login/oauth/grant`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ...fields, decision }),
  });
  const html = await answer.text();
  const [, target] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(html) ?? [];
  const carried = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return {
    status: answer.status,
    headers: answer.headers,
    html,
    code:
      target === undefined ? undefined : new URL(target.replaceAll('&amp;', '&')).searchParams.get('code'),
    /** What the next form carries, as a browser sends it. */
    fields: Object.fromEntries(carried.map(([, name = '', value = '']) => [name, value])) as Asked,
  };
}

/** The second step of somebody. */
async function secondStep({ name, password }: Guarded = ada, question = asked): Promise<Asked> {
  const page = await press({ ...question, user_name: name, password });
  expect([page.status, page.code]).toEqual([200, undefined]);
  expect(page.fields['step']).toBeDefined();
  return page.fields;
}

describe('whoever has a second factor', () => {
  it('is asked for its code after his password, and comes to the program with it', async () => {
    const before = await services.kept();
    const { name: user_name, password } = ada;
    const page = await press({ ...asked, user_name, password });
    expect(page.status).toBe(200);
    expect(page.html).toContain('type the code that your authenticator app shows');
    expect(page.html).toContain('autocomplete="one-time-code"');
    expect(page.html).not.toContain(password);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    // Until then there is nothing, not even a session.
    expect(await services.kept()).toEqual(before);

    const done = await press({ ...page.fields, code: app.next() });
    expect(done.status).toBe(200);
    const presented = {
      grant_type: 'authorization_code',
      client_id: asked['client_id'],
      client_secret: secret,
      redirect_uri: asked['redirect_uri'],
      code: done.code,
    };
    const tokens = await send(`${services.forge}/login/oauth/access_token`, 'POST', {}, presented);
    const authorization = `Bearer ${String(tokens.body['access_token'])}`;
    const who = await send(`${services.forge}/api/v1/user`, 'GET', { authorization });
    expect(who.body['login']).toBe('ada');
    expect(await services.waiting()).toBe(0);
    // Where people may have one session only, theirs goes on.
    const { refresh_token } = app.session;
    const refreshed = await send(
      `${services.auth}/token?grant_type=refresh_token`,
      'POST',
      {},
      { refresh_token },
    );
    expect(refreshed.status).toBe(200);
  });

  it('may type a code again, and say no', async () => {
    const first = await secondStep();
    const before = await services.kept();
    const refused = await press({ ...first, code: app.wrong() });
    expect([refused.status, refused.code]).toEqual([403, undefined]);
    expect(refused.html).toContain(`That did not work: ${WRONG}`);
    expect(await services.kept()).toEqual(before);
    expect((await press({ ...refused.fields, code: app.next() })).code).toMatch(/^[\w-]{40,}$/);
    const denied = await press(await secondStep(), 'deny');
    expect(denied.html).toContain('error=access_denied');
    expect(denied.code).toBeNull();
  });

  it('may give a recovery code', async () => {
    const authorization = `Bearer ${(await services.person('rita').then((rita) => rita.enrol())).session.access_token}`;
    const made = await send(`${services.auth}/factors/recovery-codes`, 'POST', { authorization }, {});
    const [code = '', other = ''] = made.body['codes'] as string[];
    const rita = { ...ada, name: 'rita', password: 'correct horse of rita' };
    expect((await press({ ...(await secondStep(rita)), code })).code).toMatch(/^[\w-]{40,}$/);
    const again = await press({ ...(await secondStep(rita)), code });
    expect(again.html).toContain(WRONG);
    expect((await press({ ...again.fields, code: other })).code).toMatch(/^[\w-]{40,}$/);
  });

  it('that is a phone is told to give an access token, and comes no further with a code', async () => {
    const pia = await services.person('pia');
    const hers = await pia.enrol();
    await services.turnIntoPhone(hers.id);
    const before = await services.kept();
    const { name: user_name, password } = pia;
    const page = await press({ ...asked, user_name, password });
    expect(page.html).toContain('Codes that are sent to a phone are not taken here');
    expect((await press({ ...page.fields, code: hers.next() })).html).toContain(WRONG);
    expect(await services.kept()).toEqual(before);
    const done = await press({ ...asked, user_name, password: hers.session.access_token });
    expect(done.code).toMatch(/^[\w-]{40,}$/);
  });

  it('may give an access token of a session that showed it, and of no other', async () => {
    const { access_token: low } = await ada.signIn();
    const before = await services.kept();
    const refused = await press({ ...asked, user_name: 'ada', password: low });
    expect([refused.status, refused.code]).toEqual([403, undefined]);
    expect(refused.html).toContain('has not shown it (aal1)');
    expect(refused.fields['step']).toBeUndefined();
    expect(await services.kept()).toEqual(before);
    const done = await press({ ...asked, user_name: 'ada', password: app.session.access_token });
    expect(done.code).toMatch(/^[\w-]{40,}$/);
  });
});

describe('an attacker with the password', () => {
  it('does not come past the step: without it, with a code at the first one, with fields that he makes up', async () => {
    const before = await services.kept();
    const { name: user_name, password } = ada;
    const step = await secondStep();
    const { step: carried = '' } = step;
    const [id = '', sealed = ''] = carried.split('.');
    const attempts: Asked[] = [
      { user_name, password, code: app.next() },
      { user_name, password, step: '' },
      { step: '.' },
      { step: `${id}.` },
      { step: `00000000-0000-4000-8000-000000000000.${sealed}`, user_name, password },
      { step: `${id}\0.${sealed}` },
      { step: id, code: app.next() },
    ];
    for (const attempt of attempts) {
      const answer = await press({ ...asked, ...attempt });
      expect([answer.status >= 400 || answer.fields['step'] !== undefined, answer.code]).toEqual([
        true,
        undefined,
      ]);
    }
    expect(await services.kept()).toEqual(before);
  });

  it('cannot change what a step holds, nor turn it to another program, address, scope or state', async () => {
    const evil = await program(mallory, 'Evil');
    const changes: ((step: Asked) => Asked)[] = [
      () => evil.asked,
      () => ({ scope: 'all' }),
      () => ({ state: 'of his' }),
      () => ({ redirect_uri: '' }),
      ({ step = '' }) => ({ step: step.slice(0, -4) + (step.endsWith('AAAA') ? 'BBBB' : 'AAAA') }),
    ];
    for (const change of changes) {
      const step = await secondStep();
      const before = await services.kept();
      const answer = await press({ ...step, ...change(step), code: app.next() });
      expect([answer.status, answer.code]).toEqual([403, undefined]);
      expect(answer.html).toContain(OVER);
      expect(await services.kept()).toEqual(before);
      // It is used up by that.
      expect((await press({ ...step, code: app.next() })).html).toContain(OVER);
    }
  });

  it('cannot use a step twice, late, or several times at once', async () => {
    const step = await secondStep();
    const codes = [app.next(), app.next()];
    expect((await press({ ...step, code: codes[1] ?? '' })).code).toMatch(/^[\w-]{40,}$/);
    const before = await services.kept();
    expect((await press({ ...step, code: app.next() })).html).toContain(OVER);
    const late = await secondStep();
    services.advance(5 * 60_000 + 1000);
    expect((await press({ ...late, code: app.next() })).html).toContain(OVER);
    expect(await services.kept()).toEqual(before);
    const raced = await secondStep();
    const code = app.next();
    const answers = await Promise.all([1, 2, 3, 4].map(() => press({ ...raced, code })));
    expect(answers.filter((one) => one.code !== undefined)).toHaveLength(1);
    // What has expired goes with the next one.
    await secondStep();
    expect(await services.waiting()).toBe(1);
  });

  it('cannot use a code that he saw, neither here nor after the API', async () => {
    const code = app.next();
    expect((await press({ ...(await secondStep()), code })).code).toMatch(/^[\w-]{40,}$/);
    const before = await services.kept();
    expect((await press({ ...(await secondStep()), code })).html).toContain(WRONG);
    const headers = { authorization: ada.basic, 'X-Gitea-OTP': code };
    expect((await send(`${services.forge}/api/v1/user`, 'GET', headers)).status).toBe(401);
    const next = { authorization: ada.basic, 'X-Gitea-OTP': app.next() };
    expect((await send(`${services.forge}/api/v1/user`, 'GET', next)).status).toBe(200);
    expect((await press({ ...(await secondStep()), code: next['X-Gitea-OTP'] })).html).toContain(WRONG);
    expect(await services.kept()).toEqual(before);
  });

  it('comes no further with a step and a code of his own', async () => {
    const his = await mallory.enrol();
    const [step, own] = [await secondStep(), await secondStep(mallory)];
    const before = await services.kept();
    const [id] = (own['step'] ?? '').split('.');
    const [, sealed] = (step['step'] ?? '').split('.');
    expect((await press({ ...step, code: his.next() })).html).toContain(WRONG);
    expect((await press({ ...own, step: `${id}.${sealed}`, code: his.next() })).html).toContain(OVER);
    expect(await services.kept()).toEqual(before);
  });

  it('cannot guess: after five codes none is looked at, whatever number of steps he begins', async () => {
    const nora = await services.person('nora');
    const hers = await nora.enrol();
    services.advance(31_000);
    const before = await services.kept();
    let step = await secondStep(nora);
    for (let guess = 0; guess < 5; guess++) {
      const { status, fields } = await press({ ...step, code: hers.wrong() });
      expect(status).toBe(403);
      step = guess % 2 === 0 ? fields : await secondStep(nora);
    }
    const answer = await press({ ...step, code: hers.next() });
    expect([answer.status, answer.code, Number(answer.headers.get('retry-after')) > 0]).toEqual([
      429,
      undefined,
      true,
    ]);
    expect(await services.kept()).toEqual(before);
  });

  it('who has it no more by the second step begins anew', async () => {
    const otto = await services.person('otto');
    const his = await otto.enrol();
    const step = await secondStep(otto);
    const authorization = `Bearer ${his.session.access_token}`;
    const change = { password: 'another horse of otto' };
    expect((await send(`${services.auth}/user`, 'PUT', { authorization }, change)).status).toBe(200);
    const before = await services.kept();
    const answer = await press({ ...step, code: his.next() });
    expect([answer.status, answer.code]).toEqual([403, undefined]);
    expect(answer.html).toContain('invalid username, password or token');
    expect(answer.fields['step']).toBeUndefined();
    expect(await services.kept()).toEqual(before);
  });
});

it('a stranger does not learn who has a second factor', async () => {
  const before = await services.kept();
  const pages = await Promise.all(
    ['ada', 'mallory', 'nobody'].map((user_name) => press({ ...asked, user_name, password: 'wrong' })),
  );
  const [first, ...others] = pages.map(({ status, html }) => [
    status,
    html.replace(/value="(ada|mallory|nobody)"/, ''),
  ]);
  expect(first?.[0]).toBe(403);
  for (const one of others) expect(one).toEqual(first);
  expect(await services.kept()).toEqual(before);
});
