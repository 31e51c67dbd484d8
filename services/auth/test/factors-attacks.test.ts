import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, bearer, claimsOf, type Subject, startSubject } from './harness.ts';
import { bearerOf, serviceRole, signIn } from './support/administrators.ts';
import { newestTo } from './support/mailbox.ts';
import {
  as,
  challenged,
  enrolled,
  guarded,
  signedUp,
  succeeded,
  verified,
} from './support/second-factors.ts';

// What somebody tries who has the password and not the factor, or a factor and not this one.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  });
});
afterAll(() => subject[Symbol.asyncDispose]());

const said = ({ status, body }: Answer) => [status, body['error_code']];
const WRONG = [422, 'mfa_verification_failed'];
const LOCKED = [429, 'over_request_rate_limit'];

async function refusedWithoutTrace(request: () => Promise<Answer>): Promise<unknown[]> {
  const before = await subject.snapshot();
  const answer = await request();
  expect(await subject.snapshot()).toBe(before);
  return said(answer);
}

test('a factor of somebody else is not there: neither to challenge, nor to prove, nor to take away', async () => {
  const [mine, theirs] = [await guarded(subject), await guarded(subject)];
  const challenge_id = await challenged(subject, theirs.low, theirs.factor.id);
  const own = await challenged(subject, mine.low, mine.factor.id);
  const me = as(subject, mine.high);
  const answer = { challenge_id, code: theirs.factor.code() };
  for (const request of [
    () => me.post(`/factors/${theirs.factor.id}/challenge`),
    () => me.post(`/factors/${theirs.factor.id}/verify`, answer),
    () => me.delete(`/factors/${theirs.factor.id}`),
    () => me.post(`/factors/${randomUUID()}/verify`, answer),
    () => me.post(`/factors/x'--/challenge`),
    () => me.delete('/factors/%00'),
  ]) {
    expect(await refusedWithoutTrace(request)).toEqual([404, 'mfa_factor_not_found']);
  }
  // Nor is a challenge of another factor, or none, one of this.
  for (const id of [challenge_id, randomUUID(), 'x', '']) {
    const body = { challenge_id: id, code: mine.factor.code() };
    const request = () => as(subject, mine.low).post(`/factors/${mine.factor.id}/verify`, body);
    expect(await refusedWithoutTrace(request)).toEqual([422, 'mfa_factor_not_found']);
  }
  // A challenge answers for the session that asked for it, and for no other of the same user.
  const other = succeeded(await signIn(subject, mine.email));
  const body = { challenge_id: own, code: mine.factor.code() };
  const crossed = () => as(subject, other).post(`/factors/${mine.factor.id}/verify`, body);
  expect(await refusedWithoutTrace(crossed)).toEqual([422, 'mfa_factor_not_found']);
});

test('who reads the mails of somebody without a password sets none: the factor guards that, too', async () => {
  const { email, factor } = await guarded(subject);
  await subject.rows.autocommit()
    .run`update :schema.users set encrypted_password = null where email = ${email}`;
  await subject.post('/recover', { email });
  const { code } = await newestTo(subject, email);
  const body = { type: 'recovery', email, token: code, password: 'password of a thief' };
  const thief = succeeded(await subject.post('/verify', body));
  expect(claimsOf(subject, thief)).toMatchObject({ aal: 'aal1' });
  expect(said(await signIn(subject, email, body.password))).toEqual([400, 'invalid_credentials']);
  const put = (session: Answer) => as(subject, session).put('/user', { password: body.password });
  expect(said(await put(thief))).toEqual([401, 'insufficient_aal']);
  // The owner has the factor.
  expect((await put(succeeded(await verified(subject, thief, factor.id, factor.code())))).status).toBe(200);
});

test('replay: a code that was accepted is not again, nor is one of a step before it', async () => {
  const { email, factor, low } = await guarded(subject);
  const [code, earlier] = [factor.code(), factor.code(-1)];
  succeeded(await verified(subject, low, factor.id, code));
  for (const replayed of [code, earlier]) {
    const thief = succeeded(await signIn(subject, email));
    expect(said(await verified(subject, thief, factor.id, replayed))).toEqual(WRONG);
    expect(claimsOf(subject, thief)).toMatchObject({ aal: 'aal1' });
  }
  const owner = succeeded(await signIn(subject, email));
  expect((await verified(subject, owner, factor.id, factor.code(1))).status).toBe(200);
});

test('a challenge that was answered, or is too old, or came from elsewhere, is none', async () => {
  const { email, factor, low } = await guarded(subject);
  const id = await challenged(subject, low, factor.id);
  const answer = () => ({ challenge_id: id, code: factor.code() });
  const elsewhere = () => subject.post(`/factors/${factor.id}/verify`, answer(), bearer(low));
  await subject.rows.autocommit()
    .run`update :schema.mfa_challenges set ip_address = '192.0.2.1' where id = ${id}::uuid`;
  expect(await refusedWithoutTrace(elsewhere)).toEqual([422, 'mfa_ip_address_mismatch']);
  await subject.rows.autocommit()
    .run`update :schema.mfa_challenges set ip_address = '127.0.0.1' where id = ${id}::uuid`;
  const raised = succeeded(await as(subject, low).post(`/factors/${factor.id}/verify`, answer()));
  subject.clock.advance(30_000);
  const again = () => as(subject, raised).post(`/factors/${factor.id}/verify`, answer());
  expect(await refusedWithoutTrace(again)).toEqual([422, 'mfa_factor_not_found']);
  const late = succeeded(await signIn(subject, email));
  const old = await challenged(subject, late, factor.id);
  subject.clock.advance(300_000);
  const body = () => ({ challenge_id: old, code: factor.code() });
  expect(
    await refusedWithoutTrace(() => as(subject, late).post(`/factors/${factor.id}/verify`, body())),
  ).toEqual([422, 'mfa_challenge_expired']);
});

test('brute force: after a few wrong codes none is looked at, however many challenges there are', async () => {
  const { email, factor, low } = await guarded(subject);
  for (let n = 0; n < 5; n++) {
    const thief = succeeded(await signIn(subject, email));
    expect(said(await verified(subject, thief, factor.id, factor.wrong()))).toEqual(WRONG);
  }
  const challenge_id = await challenged(subject, low, factor.id);
  const answer = (code: string) => () =>
    as(subject, low).post(`/factors/${factor.id}/verify`, { challenge_id, code });
  // Right or wrong, the answer is the same, and tells when to come back.
  for (const code of [factor.wrong(), factor.code()]) {
    expect(await refusedWithoutTrace(answer(code))).toEqual(LOCKED);
  }
  expect((await answer('1')()).headers['retry-after']).toBe('30');
  subject.clock.advance(30_000);
  expect(said(await answer(factor.wrong())())).toEqual(WRONG);
  // The wait has doubled.
  subject.clock.advance(59_000);
  expect(said(await answer(factor.code())())).toEqual(LOCKED);
  subject.clock.advance(1_000);
  expect((await answer(factor.code())()).status).toBe(200);
});

test('brute force: a right code of the owner buys no further guesses, a day buys one', async () => {
  const { email, factor } = await guarded(subject);
  const guess = async () => {
    const thief = succeeded(await signIn(subject, email));
    return said(await verified(subject, thief, factor.id, factor.wrong()));
  };
  for (let n = 0; n < 4; n++) expect(await guess()).toEqual(WRONG);
  const owner = succeeded(await signIn(subject, email));
  succeeded(await verified(subject, owner, factor.id, factor.code()));
  expect(await guess()).toEqual(WRONG);
  expect(await guess()).toEqual(LOCKED);
  subject.clock.advance(86_400_000);
  expect(await guess()).toEqual(WRONG);
  expect(await guess()).toEqual(LOCKED);
});

test('brute force: of a hundred guesses at the same moment no more than five are looked at', async () => {
  const { factor, low } = await guarded(subject);
  const challenge_id = await challenged(subject, low, factor.id);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      as(subject, low).post(`/factors/${factor.id}/verify`, { challenge_id, code: factor.wrong() }),
    ),
  );
  const count = (status: number) => answers.filter((one) => one.status === status).length;
  expect([count(422), count(429)]).toEqual([5, 95]);
  const right = { challenge_id, code: factor.code() };
  expect(said(await as(subject, low).post(`/factors/${factor.id}/verify`, right))).toEqual(LOCKED);
});

test('brute force: several factors together are guessed at ten times, and new ones win nothing', async () => {
  const { high, factor } = await guarded(subject);
  const guess = async (id: string, wrong: string) => said(await verified(subject, high, id, wrong));
  for (const one of [factor, await enrolled(subject, high)]) {
    for (let n = 0; n < 5; n++) expect(await guess(one.id, one.wrong())).toEqual(WRONG);
  }
  const fresh = await enrolled(subject, high);
  expect(await guess(fresh.id, fresh.wrong())).toEqual(LOCKED);
  subject.clock.advance(30_000);
  expect(await guess(fresh.id, fresh.wrong())).toEqual(WRONG);
});

test('a factor a thief began before the owner had one is worth nothing afterwards', async () => {
  const { email, session } = await signedUp(subject);
  const thief = succeeded(await signIn(subject, email));
  const begun = await enrolled(subject, thief, 'the thief’s');
  // As if it were of another type: those of the same type go with the proof of one.
  const rows = subject.rows.autocommit();
  await rows.run`update :schema.mfa_factors set factor_type = 'webauthn' where id = ${begun.id}::uuid`;
  const factor = await enrolled(subject, session);
  const high = succeeded(await verified(subject, session, factor.id, factor.code()));
  const imported = await as(subject, high).post(`/factors/${begun.id}/challenge`);
  expect(said(imported)).toEqual([422, 'mfa_webauthn_verify_not_enabled']);
  await rows.run`update :schema.mfa_factors set factor_type = 'totp' where id = ${begun.id}::uuid`;
  const again = succeeded(await signIn(subject, email));
  const challenge_id = await challenged(subject, again, begun.id);
  const prove = () =>
    as(subject, again).post(`/factors/${begun.id}/verify`, { challenge_id, code: begun.code() });
  expect(await refusedWithoutTrace(prove)).toEqual([403, 'insufficient_aal']);
  // Whoever shows the other factor may add it.
  expect((await verified(subject, high, begun.id, begun.code())).status).toBe(200);
});

test('anonymous users, tokens without a session and tokens that only claim to be aal2 get nowhere', async () => {
  const anonymous = succeeded(await subject.post('/signup', {}));
  const { factor, low } = await guarded(subject);
  const { sub } = claimsOf(subject, low);
  const refused = [403, 'no_authorization'];
  for (const request of [
    () => as(subject, anonymous).post('/factors', { factor_type: 'totp' }),
    () => as(subject, anonymous).post(`/factors/${factor.id}/challenge`),
    () => as(subject, anonymous).post(`/factors/${factor.id}/verify`, { challenge_id: 'x', code: '1' }),
    () => as(subject, anonymous).delete(`/factors/${factor.id}`),
    () => as(subject, anonymous).post('/factors/recovery-codes'),
    () => as(subject, anonymous).get('/factors/recovery-codes'),
    () => as(subject, anonymous).post('/factors/recovery-codes/verify', { code: 'x' }),
  ]) {
    expect(await refusedWithoutTrace(request)).toEqual(refused);
  }
  const sessionless = bearerOf(subject, { sub, role: 'authenticated', aal: 'aal2' });
  expect(
    await refusedWithoutTrace(() => subject.post('/factors', { factor_type: 'totp' }, sessionless)),
  ).toEqual([403, 'session_not_found']);
  // Claims are as old as the token: the session itself is asked.
  const claiming = bearerOf(subject, { ...claimsOf(subject, low), aal: 'aal2' });
  expect(
    await refusedWithoutTrace(() => subject.send('DELETE', `/factors/${factor.id}`, undefined, claiming)),
  ).toEqual([422, 'insufficient_aal']);
  expect(
    await refusedWithoutTrace(() =>
      subject.send('PUT', '/user', JSON.stringify({ password: 'another one' }), claiming),
    ),
  ).toEqual([401, 'insufficient_aal']);
});

test('an access token of before the factor was taken away opens nothing any more', async () => {
  const { email, factor, high } = await guarded(subject);
  const second = await enrolled(subject, high);
  succeeded(await verified(subject, high, second.id, second.code()));
  const other = succeeded(await signIn(subject, email));
  const raised = succeeded(await verified(subject, other, factor.id, factor.code()));
  const { sub } = claimsOf(subject, high);
  const path = `/admin/users/${sub}/factors/${factor.id}`;
  expect((await subject.send('DELETE', path, undefined, serviceRole(subject))).status).toBe(200);
  // It still says aal2, and the user still has a factor.
  expect(claimsOf(subject, raised)).toMatchObject({ aal: 'aal2' });
  const change = () => as(subject, raised).put('/user', { password: 'the thief’s' });
  expect(await refusedWithoutTrace(change)).toEqual([401, 'insufficient_aal']);
  expect((await as(subject, high).put('/user', { password: 'the owner’s' })).status).toBe(200);
});

test('a stranger’s factor does not outlive the proof that the address is somebody else’s', async () => {
  await using open = await startSubject({ AUTHSVC_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' });
  const email = 'ada@example.com';
  await open.post('/signup', { email, password: 'the stranger’s' });
  const rows = open.rows.autocommit();
  const { id } = (await rows.row<{ id: string }>`select id from :schema.users`) ?? { id: '' };
  const now = open.clock.now();
  await rows.run`
    insert into :schema.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
    values (${randomUUID()}, ${id}::uuid, 'totp', 'verified', ${now}, ${now})`;
  await open.post('/recover', { email });
  const mail = (await open.mails()).at(-1);
  const token_hash = /token=([^&\s]+)/.exec(mail?.text ?? '')?.[1];
  const session = await open.post('/verify', { type: 'recovery', token_hash });
  expect(session.status).toBe(200);
  expect(session.body.user).not.toHaveProperty('factors');
  expect((await open.get('/user', bearer(session))).body).not.toHaveProperty('factors');
});
