import { accessTokens } from '@croft/access-token';
import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JWT_SECRET, PASSWORD, someone } from '../harness.ts';
import { browse } from './browsing.ts';
import { APP, type Fleet, startFleet } from './fleet.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { good, sessionOf } from './here.ts';

// The whole library as applications make it: one address and one key. It looks for this service below `/auth/v1` of that
// address, so whoever gives it ours puts a gateway there that takes the prefix off.

let fleet: Fleet;
let gateway: Gateway;
beforeAll(async () => {
  fleet = await startFleet(['confirmation']);
  gateway = await startGateway(fleet.serverOf('confirmation').url);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fleet[Symbol.asyncDispose]();
});

const anonymousKey = accessTokens(JWT_SECRET).sign({
  role: 'anon',
  exp: Math.floor(Date.now() / 1000) + 3600,
});
const make = (key: string, flowType: 'implicit' | 'pkce' = 'pkce') =>
  createClient(gateway.url, key, { auth: { flowType, autoRefreshToken: false } });

// Keys of today are no tokens; both kinds are sent with every request, in `apikey` and, at first, as the bearer.
test.each([
  ['a token of the role `anon`', anonymousKey],
  ['a publishable key', 'sb_publishable_0123456789abcdefghijkl_0123456'],
])('createClient with %s: from the sign-up to the sign-out', async (_what, key) => {
  const { auth } = make(key);
  const email = someone();
  const options = { emailRedirectTo: APP };
  expect(good(await auth.signUp({ email, password: PASSWORD, options })).session).toBeNull();
  const target = await browse().visit((await fleet.post.mail(email)).link.href);
  good(await auth.exchangeCodeForSession(target.searchParams.get('code') ?? ''));
  expect(good(await auth.getUser()).user.email).toBe(email);
  const { refresh_token: before } = sessionOf(good(await auth.getSession()));
  expect(sessionOf(good(await auth.refreshSession())).refresh_token).not.toBe(before);
  good(await auth.updateUser({ data: { color: 'blue' } }));
  expect(await auth.signOut()).toEqual({ error: null });
  good(await auth.signInWithPassword({ email, password: PASSWORD }));
  expect(good(await auth.getClaims()).claims.email).toBe(email);
  // Nobody is an administrator by such a key.
  expect((await make(key).auth.admin.listUsers()).error?.status).toBeGreaterThanOrEqual(401);
});

test('createClient with a token of the role `service_role` administers', async () => {
  const { auth } = make(fleet.serviceToken);
  const email = someone();
  const { user } = good(await auth.admin.createUser({ email, password: PASSWORD, email_confirm: true }));
  expect(good(await auth.admin.listUsers()).users.map(({ id }) => id)).toContain(user.id);
  good(await make(anonymousKey, 'implicit').auth.signInWithPassword({ email, password: PASSWORD }));
  good(await auth.admin.deleteUser(user.id));
});

test('everything goes below `/auth/v1`', () => {
  expect(gateway.asked.length).toBeGreaterThan(10);
  for (const request of gateway.asked) expect(request).toMatch(/^[A-Z]+ \/auth\/v1\//);
});
