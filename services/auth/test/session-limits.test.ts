import { describe, expect, test } from 'vitest';
import { type Answer, bearer, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';
import { guarded } from './support/second-factors.ts';

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

/** Ids of the sessions their owner is shown. */
const shown = async (on: Subject, session: Answer) =>
  ((await on.get('/user/sessions', bearer(session))).body['sessions'] as { id: string }[]).map(
    ({ id }) => id,
  );
/** Also of a token that has expired. */
const idOf = ({ body }: Answer): string => {
  const claims = Buffer.from(body.access_token?.split('.')[1] ?? '', 'base64url').toString();
  return (JSON.parse(claims) as { session_id: string }).session_id;
};

describe('SESSIONS_SINGLE_PER_USER: a newer one that is over itself ends no other', () => {
  test('by its own end', async () => {
    await using on = await start({ AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true' });
    const email = someone();
    const laptop = await signUp(on, email);
    on.clock.advance(1000);
    const phone = await signIn(on, email);
    const end = new Date(on.clock.now().getTime() + 60_000);
    await on.rows.autocommit()
      .run`update :schema.sessions set not_after = ${end} where id = ${idOf(phone)}::uuid`;
    on.clock.advance(59_999);
    await isOver(on, [laptop], ' (Revoked by Newer Login)');
    expect(await shown(on, laptop)).toEqual([idOf(phone)]);
    on.clock.advance(1);
    await isOver(on, [phone], '');
    expect(await shown(on, laptop)).toEqual([idOf(laptop)]);
    expect((await refresh(on, laptop)).status).toBe(200);
  });

  test('by SESSIONS_TIMEBOX', async () => {
    await using on = await start({
      AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true',
      AUTHSVC_SESSIONS_TIMEBOX: '1h',
    });
    const email = someone();
    const used = await signUp(on, email);
    on.clock.advance(600_000);
    const idle = await signIn(on, email);
    // As if it had been refreshed at the very moment of the other sign-in.
    await on.rows.autocommit().run`
      update :schema.refresh_tokens set rotated_at = ${new Date(on.clock.now().getTime() + 1)}
      where session_id = ${idOf(used)}::uuid`;
    on.clock.advance(2_999_999);
    await isOver(on, [idle], ' (Revoked by Newer Login)');
    expect(await shown(on, idle)).toEqual([idOf(used)]);
    on.clock.advance(1);
    await isOver(on, [used], '');
    expect(await shown(on, idle)).toEqual([idOf(idle)]);
    expect((await refresh(on, idle)).status).toBe(200);
  });

  test('by SESSIONS_ALLOW_LOW_AAL', async () => {
    await using on = await start({
      AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true',
      AUTHSVC_SESSIONS_ALLOW_LOW_AAL: '10m',
    });
    const { email, high: proven } = await guarded(on);
    on.clock.advance(1000);
    const low = await signIn(on, email);
    on.clock.advance(599_999);
    await isOver(on, [proven], ' (Revoked by Newer Login)');
    expect(await shown(on, proven)).toEqual([idOf(low)]);
    on.clock.advance(1);
    await isOver(on, [low], ' (Low AAL: User Needs MFA Verification)');
    expect(await shown(on, proven)).toEqual([idOf(proven)]);
    expect((await refresh(on, proven)).status).toBe(200);
  });
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
