import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, bearer, claimsOf, type Subject, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';
import { meet } from './support/meeting.ts';
import {
  as,
  challenged,
  enrolled,
  guarded,
  signedUp,
  succeeded,
  verified,
} from './support/second-factors.ts';

// Everything about factors that has two writers.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
});
afterAll(() => subject[Symbol.asyncDispose]());

const refresh = ({ body }: Answer) =>
  subject.post('/token?grant_type=refresh_token', { refresh_token: body.refresh_token });
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();
const MANY = 16;

test('of many answers with the same code one wins: with one challenge, and with one each', async () => {
  for (const shared of [true, false]) {
    const { factor, low } = await guarded(subject);
    const first = await challenged(subject, low, factor.id);
    const ids = [first];
    while (ids.length < MANY) ids.push(shared ? first : await challenged(subject, low, factor.id));
    const code = factor.code();
    const answers = await Promise.all(
      ids.map((challenge_id) =>
        as(subject, low).post(`/factors/${factor.id}/verify`, { challenge_id, code }),
      ),
    );
    // Those that come after the winner show a code that was used: after some of these none is looked at any more.
    expect(statuses(answers).filter((status) => status !== 429 && status !== 422)).toEqual([200]);
    const winner = answers.find(({ status }) => status === 200) as Answer;
    expect((await refresh(winner)).status).toBe(200);
  }
});

test('of two sessions that show the same code at the same moment one goes on, the other shows less', async () => {
  const { email, factor } = await guarded(subject);
  const sessions = [succeeded(await signIn(subject, email)), succeeded(await signIn(subject, email))];
  const code = factor.code();
  const answers = await Promise.all(
    sessions.map(
      async (session) => await verified(subject, session, factor.id, code).catch((error) => error),
    ),
  );
  const won = answers.filter((one) => !(one instanceof Error) && one.status === 200);
  expect(won).toHaveLength(1);
  const levels = await subject.rows.autocommit().rows<{ aal: string }>`
    select s.aal from :schema.sessions s join :schema.users u on u.id = s.user_id where u.email = ${email}`;
  expect(levels.every(({ aal }) => aal === 'aal2')).toBe(true);
});

test('enrolments at the same moment never make more than there may be', async () => {
  const { session } = await signedUp(subject);
  const answers = await Promise.all(
    Array.from({ length: MANY }, () => as(subject, session).post('/factors', { factor_type: 'totp' })),
  );
  const { factors } = (await subject.get('/user', bearer(session))).body;
  const made = answers.filter(({ status }) => status === 200).length;
  expect(factors).toHaveLength(made);
  expect(made).toBeLessThanOrEqual(10);
  expect(answers.every(({ status }) => [200, 409, 422].includes(status))).toBe(true);
});

test('of enrolments with the same name at the same moment one is made', async () => {
  const { session } = await signedUp(subject);
  const body = { factor_type: 'totp', friendly_name: 'mine' };
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => as(subject, session).post('/factors', body)),
  );
  expect(statuses(answers)).toEqual([200, 422, 422, 422]);
});

test('enrolment against proof: no factor is added by a session that did not show the one that came first', async () => {
  for (let round = 0; round < 5; round++) {
    const { email, session } = await signedUp(subject);
    const thief = succeeded(await signIn(subject, email));
    const factor = await enrolled(subject, session);
    const challenge_id = await challenged(subject, session, factor.id);
    const [, begun] = await Promise.all([
      as(subject, session).post(`/factors/${factor.id}/verify`, { challenge_id, code: factor.code() }),
      as(subject, thief).post('/factors', { factor_type: 'totp' }),
    ]);
    expect([200, 403]).toContain(begun.status);
    const rows = await subject.rows.autocommit().rows<{ status: string }>`
      select f.status from :schema.mfa_factors f join :schema.users u on u.id = f.user_id where u.email = ${email}`;
    // One that was begun at that very moment may wait on, but counts only for who shows the first.
    expect(rows.filter(({ status }) => status === 'verified')).toHaveLength(1);
  }
});

test('proof against sign-out, unenrolment and refresh: whoever is first, nothing hangs and no level is left over', async () => {
  for (let round = 0; round < 8; round++) {
    const { factor, high, low } = await guarded(subject);
    const challenge_id = await challenged(subject, low, factor.id);
    const prove = as(subject, low).post(`/factors/${factor.id}/verify`, {
      challenge_id,
      code: factor.code(),
    });
    const meanwhile = [
      () => as(subject, low).post('/logout'),
      () => as(subject, high).delete(`/factors/${factor.id}`),
      () => refresh(low),
      () => as(subject, high).post('/logout?scope=others'),
    ][round % 4];
    const [raised, other] = await Promise.all([prove, meanwhile?.()]);
    expect([200, 403, 404, 422]).toContain(raised.status);
    expect(other?.status).toBeLessThan(500);
    const { sub } = claimsOf(subject, low);
    // A session is at aal2 only by a factor its user still has.
    const orphans = await subject.rows.autocommit().rows`
      select from :schema.sessions s where s.user_id = ${sub}::uuid and s.aal = 'aal2'
        and not exists (select from :schema.mfa_factors f where f.id = s.factor_id and f.status = 'verified')`;
    expect(orphans).toEqual([]);
    if (round % 4 !== 2) continue;
    // What a refresh of before got is never of the level of after, and does not end what was proven.
    if (other?.status === 200) expect(claimsOf(subject, other)).toMatchObject({ aal: 'aal1' });
    else expect([other?.status, other?.body['error_code']]).toEqual([400, 'refresh_token_already_used']);
    if (raised.status !== 200) continue;
    const next = await refresh(raised);
    expect(claimsOf(subject, next)).toMatchObject({ aal: 'aal2' });
  }
});

test('a refresh that comes too late for the proof is refused and ends nothing; afterwards it is reuse', async () => {
  const { factor, low } = await guarded(subject);
  const rotated = succeeded(await refresh(low));
  const raised = succeeded(await verified(subject, rotated, factor.id, factor.code()));
  // That of the proof, and the one before it: an answer may have been lost.
  for (const late of [rotated, low]) {
    const before = await subject.snapshot();
    const answer = await refresh(late);
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'refresh_token_already_used']);
    expect(await subject.snapshot()).toBe(before);
  }
  const next = succeeded(await refresh(raised));
  expect((await refresh(rotated)).status).toBe(400);
  const last = succeeded(await refresh(next));
  expect(claimsOf(subject, last)).toMatchObject({ aal: 'aal2' });
  subject.clock.advance(30_000);
  expect((await refresh(rotated)).status).toBe(400);
  expect((await refresh(last)).status).toBe(400);
});

test('codes that are made while the last other factor waits to go do not stay alone', async () => {
  const { factor, high } = await guarded(subject);
  const { first, second } = await meet(
    subject,
    String(claimsOf(subject, high).sub),
    () => as(subject, high).post('/factors/recovery-codes', { friendly_name: 'a' }),
    () => as(subject, high).delete(`/factors/${factor.id}`),
  );
  expect([first.status, second.status]).toEqual([200, 200]);
  expect((await subject.get('/user', bearer(high))).body).not.toHaveProperty('factors');
});

test('of two sets of recovery codes at the same moment one is made, and none beside nothing', async () => {
  const { factor, high } = await guarded(subject);
  const make = (name: string) => as(subject, high).post('/factors/recovery-codes', { friendly_name: name });
  expect(statuses(await Promise.all(['a', 'b', 'c'].map(make)))).toEqual([200, 422, 422]);
  await as(subject, high).delete('/factors/recovery-codes');
  const [made, gone] = await Promise.all([make('d'), as(subject, high).delete(`/factors/${factor.id}`)]);
  expect(gone.status).toBe(200);
  expect([200, 403, 422]).toContain(made.status);
  expect((await subject.get('/user', bearer(high))).body).not.toHaveProperty('factors');
});
