import { randomInt } from 'node:crypto';
import { findChromium, skipWithout } from '@croft/testing';
import type { Session } from '@supabase/auth-js';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, someone } from '../harness.ts';
import { tested, testedMethods } from './cases.ts';
import { type Application, startApplication, watchRequests } from './chromium.ts';
import type { PageOptions } from './chromium-page.ts';
import { openRunner, type Runner } from './chromium-runner.ts';
import { configurationNames, type Fleet, startFleet } from './fleet.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { flows } from './here.ts';
import { hiddenNames } from './hidden-names.ts';
import { outsideOf } from './outside.ts';

// The client libraries in a browser, on an origin that is not the server's.

/** What the browser logs of every refusal it could read. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/;

const executablePath = findChromium();
let fleet: Fleet;
let gateway: Gateway;
let app: Application;
let url: string;
beforeAll(async () => {
  if (executablePath === undefined) return;
  app = await startApplication(executablePath);
  fleet = await startFleet(configurationNames, { AUTHSVC_SITE_URL: app.origin });
  url = fleet.serverOf('autoconfirm').url;
  gateway = await startGateway(url);
});
afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await fleet?.[Symbol.asyncDispose]();
});
beforeEach((context) => {
  if (executablePath === undefined) skipWithout(context, 'chromium');
  // What a failed test left behind is not the next one's.
  app.complaints.length = 0;
  fleet.providers.complaints.length = 0;
});

/** Opens the application in a tab and starts its client. */
async function tab(context: BrowserContext, options: Partial<PageOptions> = {}, at = '/'): Promise<Page> {
  const page = await context.newPage();
  await page.goto(app.origin + at);
  await start(page, options);
  return page;
}

const start = (page: Page, options: Partial<PageOptions> = {}) =>
  page.evaluate((all) => globalThis.page.start(all), { url, flowType: 'implicit' as const, ...options });
const sessionOf = (page: Page): Promise<Session | null> =>
  page.evaluate(async () => (await globalThis.page.auth.getSession()).data.session);
const stored = (page: Page): Promise<Partial<Session> | null> =>
  page.evaluate(() => JSON.parse(localStorage.getItem('session') ?? 'null') as Partial<Session> | null);
const errorOf = (page: Page): Promise<unknown> =>
  page.evaluate(async () => (await globalThis.page.auth.getUser()).error?.name);
const signUp = (page: Page, email: string) =>
  page.evaluate(
    async ([address, password]) => (await globalThis.page.auth.signUp({ email: address, password })).error,
    [email, PASSWORD] as const,
  );

test.each(['auth-js', 'supabase-js'])('%s: sign-up, storage, refresh, sign-out, sign-in', async (library) => {
  await using context = await app.person();
  const options = library === 'auth-js' ? {} : { url: gateway.url, key: 'sb_publishable_key' };
  const page = await tab(context, options);
  const email = someone();
  expect(await signUp(page, email)).toBeNull();
  const first = await stored(page);
  expect(first?.refresh_token).toEqual(expect.any(String));
  // Who comes back is still there.
  await page.reload();
  await start(page, options);
  expect((await sessionOf(page))?.access_token).toBe(first?.access_token);
  await page.evaluate(() => globalThis.page.auth.refreshSession());
  expect((await stored(page))?.refresh_token).not.toBe(first?.refresh_token);
  expect(await errorOf(page)).toBeUndefined();
  await page.evaluate(() => globalThis.page.auth.signOut());
  expect(await stored(page)).toBeNull();
  const again = await page.evaluate(
    async ([address, password]) =>
      await globalThis.page.auth.signInWithPassword({ email: address, password }),
    [email, PASSWORD] as const,
  );
  expect([again.error, again.data.user?.email]).toEqual([null, email]);
  expect(await page.evaluate(() => globalThis.page.events)).toEqual(
    expect.arrayContaining(['INITIAL_SESSION', 'TOKEN_REFRESHED', 'SIGNED_OUT', 'SIGNED_IN']),
  );
  expect(app.complaints).toEqual([]);
});

test.each(flows)('%s: a link in a mail ends signed in', async (flowType) => {
  await using context = await app.person();
  const confirming = { url: fleet.serverOf('confirmation').url, flowType };
  const page = await tab(context, confirming);
  const email = someone();
  const error = await page.evaluate(
    async ([address, to]) =>
      (await globalThis.page.auth.signInWithOtp({ email: address, options: { emailRedirectTo: to } })).error,
    [email, `${app.origin}/welcome`] as const,
  );
  expect(error).toBeNull();
  await page.goto((await fleet.post.mail(email)).link.href);
  expect(new URL(page.url()).pathname).toBe('/welcome');
  expect(/[?]code=/.test(page.url())).toBe(flowType === 'pkce');
  await start(page, confirming);
  expect((await sessionOf(page))?.user.email).toBe(email);
  // Nothing that opens a session stays in the address.
  expect(page.url()).not.toMatch(/code=|access_token/);
  expect(await errorOf(page)).toBeUndefined();
  expect(app.complaints).toEqual([]);
});

/** The provider's own page, on which somebody agrees at once. */
function agreeAtOnce(): void {
  fleet.providers.instead.set('github/login/oauth/authorize', (response) => {
    const back = fleet.providers.agree(fleet.providers.url + (response.req.url ?? ''));
    const location = `${url}/callback?${new URLSearchParams(back.fields).toString()}`;
    response.writeHead(302, { location }).end();
  });
}

test.each(flows)('%s: away to a provider and back', async (flowType) => {
  await using context = await app.person();
  const email = someone('oauth');
  fleet.providers.somebody = { id: String(randomInt(2 ** 40)), email, verified: true, name: 'Ada' };
  agreeAtOnce();
  const page = await tab(context, { flowType });
  await page.evaluate(
    (redirectTo) =>
      void globalThis.page.auth.signInWithOAuth({ provider: 'github', options: { redirectTo } }),
    `${app.origin}/back`,
  );
  await page.waitForURL(`${app.origin}/back**`);
  expect(page.url()).not.toContain('error');
  await start(page, { flowType });
  expect((await sessionOf(page))?.user.email).toBe(email);
  expect(fleet.providers.complaints).toEqual([]);
  expect(app.complaints).toEqual([]);
});

test.each(flows)('%s: linking an account of a provider', async (flowType) => {
  await using context = await app.person();
  const page = await tab(context, { flowType });
  const email = someone();
  await signUp(page, email);
  fleet.providers.somebody = {
    id: String(randomInt(2 ** 40)),
    email: someone(),
    verified: true,
    name: 'Ada',
  };
  agreeAtOnce();
  await page.evaluate(
    (redirectTo) => void globalThis.page.auth.linkIdentity({ provider: 'github', options: { redirectTo } }),
    `${app.origin}/linked`,
  );
  // The script sent no cookies: without a challenge the browser is a stranger's, and is asked.
  if (flowType === 'implicit') await page.getByRole('button').click();
  await page.waitForURL(`${app.origin}/linked**`);
  await start(page, { flowType });
  const { user } = (await sessionOf(page)) ?? {};
  expect([user?.email, user?.app_metadata['providers']]).toEqual([email, ['email', 'github']]);
  expect(fleet.providers.complaints).toEqual([]);
  expect(app.complaints).toEqual([]);
});

test('every header and method the libraries send from another origin is allowed, and what they read is exposed', async () => {
  await using context = await app.person();
  const page = await tab(context, { url: gateway.url, key: 'sb_publishable_key' });
  const seen = watchRequests(page, gateway.url);
  await signUp(page, someone());
  const answers = await page.evaluate(async (serviceToken) => {
    const { auth } = globalThis.page;
    const refused = await auth.signInWithPassword({ email: 'nobody@example.com', password: 'wrong one' });
    await auth.updateUser({ data: { color: 'blue' } });
    await auth.passkey.update({ passkeyId: crypto.randomUUID(), friendlyName: 'mine' }).catch(() => {});
    await auth.mfa.unenroll({ factorId: crypto.randomUUID() });
    // The bearer of an administrator, as a console in a browser has it.
    Reflect.set(auth.admin, 'headers', { Authorization: `Bearer ${serviceToken}` });
    const { data } = await auth.admin.listUsers({ page: 1, perPage: 1 });
    return { code: refused.error?.code, total: 'total' in data ? data.total : undefined };
  }, fleet.serviceToken);
  // The code is read by the version of the answer, the total from a header: both only where they are exposed.
  expect(answers).toEqual({ code: 'invalid_credentials', total: expect.any(Number) });
  expect(answers.total).toBeGreaterThan(0);

  const sent = await Promise.all(seen);
  const headers = new Set(sent.flatMap((one) => one.headers));
  expect([...headers]).toEqual(
    expect.arrayContaining([
      'apikey',
      'authorization',
      'content-type',
      'x-client-info',
      'x-supabase-api-version',
    ]),
  );
  expect(new Set(sent.map(({ method }) => method))).toEqual(
    new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  );
  // Refusals are logged by the browser as failed loads; nothing was held back for its origin.
  expect(app.complaints.filter((text) => /CORS|origin/i.test(text))).toEqual([]);
});

async function expectOneSession(tabs: readonly Page[]): Promise<void> {
  const tokens = await Promise.all(tabs.map(async (page) => (await sessionOf(page))?.refresh_token));
  expect(tokens).not.toContain(undefined);
  expect(new Set(tokens).size).toBe(1);
}

test('tabs that refresh at once hold one session, and a sign-out in one is one in all', async () => {
  await using context = await app.person();
  const first = await tab(context);
  await signUp(first, someone());
  const tabs = [first, await tab(context), await tab(context), await tab(context)];
  // At once: whoever asks second gets the child of the first, or finds it in the storage and lets go of its own.
  for (let round = 0; round < 3; round++) {
    const errors = await Promise.all(
      tabs.map((page) =>
        page.evaluate(async () => (await globalThis.page.auth.refreshSession()).error?.name ?? 'none'),
      ),
    );
    expect(errors).toContain('none');
    expect(errors.filter((name) => !/^none$|^AuthRefreshDiscardedError$/.test(name))).toEqual([]);
    await expectOneSession(tabs);
  }
  // As after a night: every tab finds the session expired.
  await first.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('session') ?? '{}') as object;
    localStorage.setItem('session', JSON.stringify({ ...session, expires_at: 1 }));
  });
  await expectOneSession(tabs);
  for (const page of tabs) expect(await errorOf(page)).toBeUndefined();
  await tabs[2]?.evaluate(() => globalThis.page.auth.signOut());
  for (const page of tabs) {
    await expect.poll(() => page.evaluate(() => globalThis.page.events.at(-1))).toBe('SIGNED_OUT');
    expect(await sessionOf(page)).toBeNull();
  }
  expect(app.complaints).toEqual([]);
});

describe('every public method', () => {
  const hidden = hiddenNames();
  let runner: Runner;
  beforeAll(async () => {
    if (executablePath === undefined) return;
    runner = await openRunner(app);
    // The page of the provider, on which somebody stays.
    fleet.providers.instead.set('github/login/oauth/authorize', (response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>provider</title><link rel="icon" href="data:,">');
    });
  });
  afterAll(() => runner?.[Symbol.asyncDispose]());

  test('has a test, and no test is of one that is not there', async () => {
    const surfaces = await runner.surfaces(hidden);
    expect(surfaces).toEqual({ 'auth-js': testedMethods, 'supabase-js': testedMethods });
  });

  describe.each(configurationNames)('%s', (configuration) => {
    describe.each(flows)('%s', (flow) => {
      test.each(tested.map(([name], index) => [name, index] as const))('%s', async (name, index) => {
        const server = fleet.serverOf(configuration);
        const landing = `${app.origin}/signed-in`;
        const circumstances = { server, flow, app: landing, serviceToken: fleet.serviceToken, hidden };
        const outside = outsideOf(fleet, server, landing, runner.browsing);
        const called = await runner.run(index, circumstances, outside);
        expect(called, 'the test calls what it is named after').toContain(name);
        expect(fleet.providers.complaints).toEqual([]);
        expect(app.complaints.filter((text) => !REFUSED.test(text))).toEqual([]);
      });
    });
  });
});
