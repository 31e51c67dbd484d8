import { expect, test } from 'vitest';
import { type Answer, bearer, claimsOf, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';

const start = (environment: Record<string, string>) =>
  startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true',
    ...environment,
  });
const refresh = (on: Subject, session: Answer) =>
  on.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token });

/** Four sessions one after the other, on devices of three kinds. */
async function devices(on: Subject) {
  const email = someone();
  const tagged = async (session: Answer, tag: string | null) => {
    const id = claimsOf(on, session).session_id;
    await on.rows.autocommit().run`update :schema.sessions set tag = ${tag} where id = ${id}::uuid`;
    on.clock.advance(1000);
    return session;
  };
  return {
    web: await tagged(await on.post('/signup', { email, password: PASSWORD }), 'web'),
    mobile: await tagged(await signIn(on, email), 'mobile'),
    untagged: await tagged(await signIn(on, email), null),
    unknown: await tagged(await signIn(on, email), 'fridge'),
  };
}

test('SESSIONS_TAGS: one session of each kind goes on, and what is of none is of the first', async () => {
  await using on = await start({ AUTHSVC_SESSIONS_TAGS: 'web, mobile' });
  const { web, mobile, untagged, unknown } = await devices(on);
  const own = (await on.get('/user/sessions', bearer(mobile))).body['sessions'] as { id: string }[];
  expect(own.map(({ id }) => id)).toEqual([unknown, mobile].map((one) => claimsOf(on, one).session_id));
  const before = await on.snapshot();
  for (const session of [web, untagged]) {
    expect((await refresh(on, session)).body).toMatchObject({
      error_code: 'session_expired',
      msg: 'Invalid Refresh Token: Session Expired (Revoked by Newer Login)',
    });
  }
  expect(await on.snapshot()).toBe(before);
  for (const session of [mobile, unknown]) expect((await refresh(on, session)).status).toBe(200);
});

test('without it there is one kind', async () => {
  await using on = await start({});
  const { web, mobile, untagged, unknown } = await devices(on);
  const answers = [];
  for (const session of [web, mobile, untagged, unknown]) answers.push((await refresh(on, session)).status);
  expect(answers).toEqual([400, 400, 400, 200]);
});
