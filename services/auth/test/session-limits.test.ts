import { expect, test } from 'vitest';
import { type Answer, bearer, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';

// How long sessions live, as the operator wants it.

const refresh = (on: Subject, session: Answer) =>
  on.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token });
const refused = (why: string) => ({
  code: 400,
  error_code: 'session_expired',
  msg: `Invalid Refresh Token: Session Expired${why}`,
});
const start = (environment: Record<string, string>) =>
  startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true', ...environment });
const signUp = (on: Subject, email = someone()) => on.post('/signup', { email, password: PASSWORD });

/** A refusal that left everything as it was, for the token before as for the newest. */
async function isOver(on: Subject, sessions: readonly Answer[], why: string): Promise<void> {
  const before = await on.snapshot();
  for (const session of sessions) expect((await refresh(on, session)).body).toEqual(refused(why));
  expect(await on.snapshot()).toBe(before);
}

test('SESSIONS_TIMEBOX: so long after it began, however often it was refreshed', async () => {
  await using on = await start({ AUTHSVC_SESSIONS_TIMEBOX: '24h' });
  let session = await signUp(on);
  const first = session;
  for (let hour = 0; hour < 23; hour++) {
    on.clock.advance(3_600_000);
    session = await refresh(on, session);
    expect(session.status).toBe(200);
  }
  on.clock.advance(3_600_000 - 1);
  session = await refresh(on, session);
  expect(session.status).toBe(200);
  on.clock.advance(1);
  await isOver(on, [session, first], '');
  expect((await on.get('/user/sessions', bearer(session))).body['sessions']).toEqual([]);
});

test('SESSIONS_INACTIVITY_TIMEOUT: so long after the last refresh', async () => {
  await using on = await start({ AUTHSVC_SESSIONS_INACTIVITY_TIMEOUT: '30m' });
  let session = await signUp(on);
  for (let turn = 0; turn < 3; turn++) {
    on.clock.advance(1_799_999);
    session = await refresh(on, session);
    expect(session.status).toBe(200);
  }
  on.clock.advance(1_800_000);
  await isOver(on, [session], ' (Inactivity)');
});

test('SESSIONS_SINGLE_PER_USER: the one that was used last goes on, other people’s are not asked', async () => {
  await using on = await start({ AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true' });
  const email = someone();
  const laptop = await signUp(on, email);
  const stranger = await signUp(on);
  on.clock.advance(1000);
  const phone = await signIn(on, email);
  on.clock.advance(1000);
  await isOver(on, [laptop], ' (Revoked by Newer Login)');
  expect([(await refresh(on, phone)).status, (await refresh(on, stranger)).status]).toEqual([200, 200]);
  const sessions = (await on.get('/user/sessions', bearer(phone))).body['sessions'] as object[];
  expect(sessions).toMatchObject([{ is_current: true }]);
  // A newer one that was signed out is none.
  on.clock.advance(1000);
  const tablet = await signIn(on, email);
  await on.post('/logout?scope=local', undefined, bearer(tablet));
  expect((await refresh(on, phone)).status).toBe(200);
});

test('of two sessions of the same moment one goes on', async () => {
  await using on = await start({ AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true' });
  const email = someone();
  const sessions = [await signUp(on, email), await signIn(on, email)];
  const answers = [];
  for (const session of sessions) answers.push((await refresh(on, session)).status);
  expect(answers.toSorted()).toEqual([200, 400]);
});

test('without them sessions live for ever, and as many as one likes', async () => {
  await using on = await start({});
  const email = someone();
  const [one, other] = [await signUp(on, email), await signIn(on, email)];
  on.clock.advance(365 * 24 * 3_600_000);
  expect([(await refresh(on, one)).status, (await refresh(on, other)).status]).toEqual([200, 200]);
});
