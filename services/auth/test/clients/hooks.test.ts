import { GoTrueClient } from '@supabase/auth-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, someone } from '../harness.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { good, refused } from './here.ts';

// What applications see of the operator's own code: its claims, and its refusals in its own words.

const HOOKS = ['CUSTOM_ACCESS_TOKEN', 'BEFORE_USER_CREATED', 'PASSWORD_VERIFICATION_ATTEMPT'];
let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet(
    ['autoconfirm'],
    Object.fromEntries(
      HOOKS.flatMap((hook) => [
        [`AUTHSVC_HOOK_${hook}_ENABLED`, 'true'],
        [`AUTHSVC_HOOK_${hook}_URI`, `pg-functions://postgres/hooks/${hook.toLowerCase()}`],
      ]),
    ),
  );
  await fleet.rows.autocommit().script(`
    create schema hooks;
    create function hooks.custom_access_token(event jsonb) returns jsonb language sql as $$
      select jsonb_build_object('claims', event -> 'claims' || '{"tenant": 7}') $$;
    create function hooks.before_user_created(event jsonb) returns jsonb language sql as $$
      select case when event #>> '{user,email}' like 'evil%'
        then '{"error": {"http_code": 403, "message": "Not you"}}'::jsonb else '{}' end $$;
    create function hooks.password_verification_attempt(event jsonb) returns jsonb language sql as $$
      select case when (event ->> 'valid')::boolean then '{"decision": "continue"}'::jsonb
        else '{"decision": "reject", "message": "That was wrong"}' end $$;`);
});
afterAll(() => fleet[Symbol.asyncDispose]());

const device = () => new GoTrueClient({ url: fleet.serverOf('autoconfirm').url, autoRefreshToken: false });

test('claims of a hook are in the token of a sign-up, and after a refresh', async () => {
  const auth = device();
  good(await auth.signUp({ email: someone(), password: PASSWORD }));
  expect(good(await auth.getClaims()).claims['tenant']).toBe(7);
  good(await auth.refreshSession());
  expect(good(await auth.getClaims()).claims['tenant']).toBe(7);
});

test('a refused sign-up says why, and makes nobody', async () => {
  const email = someone('evil');
  const answer = await device().signUp({ email, password: PASSWORD });
  expect(answer.error).toMatchObject({ status: 403, message: 'Not you' });
  expect(answer.data).toEqual({ user: null, session: null });
  refused(await device().signInWithPassword({ email, password: PASSWORD }), 400, 'invalid_credentials');
});

test('a refused password is refused in the words of the hook', async () => {
  const email = someone();
  good(await device().signUp({ email, password: PASSWORD }));
  const { error } = await device().signInWithPassword({ email, password: 'wrong one' });
  expect(error?.message).toBe('That was wrong');
  good(await device().signInWithPassword({ email, password: PASSWORD }));
});
