import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, bearer, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';

// A person's own sessions: where they are signed in, and ending one of them.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
});
afterAll(() => subject[Symbol.asyncDispose]());

interface OwnSession {
  id: string;
  is_current: boolean;
  [name: string]: unknown;
}

async function signedUp(): Promise<{ email: string; session: Answer }> {
  const email = someone();
  return { email, session: await subject.post('/signup', { email, password: PASSWORD }) };
}

const list = async (session: Answer): Promise<OwnSession[]> => {
  const answer = await subject.get('/user/sessions', bearer(session));
  expect(answer.status).toBe(200);
  return answer.body['sessions'] as OwnSession[];
};
const end = (session: Answer, id: string) =>
  subject.send('DELETE', `/user/sessions/${id}`, undefined, bearer(session));
const refresh = (session: Answer) =>
  subject.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token });

test('lists where one is signed in, newest first, and which of them asks; in one round trip', async () => {
  const { email, session } = await signedUp();
  await signedUp();
  subject.clock.advance(1000);
  const headers = { 'user-agent': 'a phone', 'x-forwarded-for': '198.51.100.7' };
  const phone = await subject.post('/token?grant_type=password', { email, password: PASSWORD }, headers);
  subject.clock.advance(1000);
  await refresh(session);
  const sessions = await list(session);
  expect(sessions).toEqual([
    {
      id: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
      refreshed_at: expect.stringMatching(/Z$/),
      user_agent: 'a phone',
      ip: expect.any(String),
      aal: 'aal1',
      methods: ['password'],
      is_current: false,
    },
    expect.objectContaining({ is_current: true, methods: ['password'] }),
  ]);
  const mine = sessions[1];
  expect(Date.parse(String(mine?.['refreshed_at'])) - Date.parse(String(mine?.['created_at']))).toBe(2000);
  expect((await list(phone)).map(({ is_current: current }) => current)).toEqual([true, false]);
  expect(await subject.countRoundTrips(() => list(session))).toBe(1);
});

test('of very many the newest hundred are listed', async () => {
  const { session } = await signedUp();
  await subject.rows.autocommit().run`
    with made as (
      insert into :schema.sessions (id, user_id, aal, created_at, updated_at)
      select gen_random_uuid(), ${session.body.user?.id}::uuid, 'aal1', created_at + make_interval(secs => n), created_at
      from generate_series(1, 120) n, :schema.users where id = ${session.body.user?.id}::uuid
      returning id, created_at)
    insert into :schema.refresh_tokens (session_id, token_hash, counter, rotated_at)
    select id, sha256(id::text::bytea), 0, created_at from made`;
  const sessions = await list(session);
  expect(sessions.length).toBe(100);
  const begun = sessions.map(({ created_at: at }) => Date.parse(String(at)));
  expect(begun).toEqual(begun.toSorted((one, other) => other - one));
  expect((begun[0] ?? 0) - (begun.at(-1) ?? 0)).toBe(99_000);
});

test('ends one of them, and nobody else’s', async () => {
  const { email, session } = await signedUp();
  const [other, stranger] = [await signIn(subject, email), (await signedUp()).session];
  const [id] = (await list(session)).filter((one) => !one.is_current).map((one) => one.id);
  expect((await end(session, id ?? '')).status).toBe(204);
  expect((await subject.audit()).at(-1)).toBe('logout');
  expect([(await refresh(other)).status, (await subject.get('/user', bearer(other))).status]).toEqual([
    400, 403,
  ]);
  expect([(await refresh(session)).status, (await refresh(stranger)).status]).toEqual([200, 200]);
  const [current] = (await list(session)).map((one) => one.id);
  expect((await end(session, current ?? '')).status).toBe(204);
  expect((await subject.get('/user/sessions', bearer(session))).status).toBe(403);
});

test('attack: somebody else’s session, one that is gone and what is no id look the same, and nothing changed', async () => {
  const [mine, theirs] = [(await signedUp()).session, (await signedUp()).session];
  const [victim] = (await list(theirs)).map(({ id }) => id);
  const before = await subject.snapshot();
  for (const id of [victim ?? '', randomUUID(), 'x', '%00', `${victim}'--`]) {
    const answer = await end(mine, encodeURIComponent(id));
    expect([answer.status, answer.body]).toEqual([
      404,
      { code: 404, error_code: 'session_not_found', msg: 'Session not found' },
    ]);
  }
  expect(await subject.snapshot()).toBe(before);
});

test('sessions whose refresh token was revoked or whose time is over are not listed', async () => {
  const { email, session } = await signedUp();
  await signIn(subject, email);
  await signIn(subject, email);
  const others = (await list(session)).filter((one) => !one.is_current).map(({ id }) => id);
  const rows = subject.rows.autocommit();
  await rows.run`update :schema.refresh_tokens set revoked_at = ${subject.clock.now()} where session_id = ${others[0]}::uuid`;
  await rows.run`update :schema.sessions set not_after = ${subject.clock.now()} where id = ${others[1]}::uuid`;
  expect(await list(session)).toHaveLength(1);
});
