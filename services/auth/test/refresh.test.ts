import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, claimsOf, confirmedUser, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { madeUser } from './support/administrators.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

const refresh = (token: unknown, on: Subject = subject) =>
  on.post('/token?grant_type=refresh_token', { refresh_token: token });
const used = {
  code: 400,
  error_code: 'refresh_token_already_used',
  msg: 'Invalid Refresh Token: Already Used',
};

describe('POST /token?grant_type=refresh_token', () => {
  test('yields a new pair for the same session, and two entries in the log', async () => {
    const first = await confirmedUser(subject);
    const auditBefore = (await subject.audit()).length;
    subject.clock.advance(1_000_000);
    const second = await refresh(first.body.refresh_token);
    expect(second.status).toBe(200);
    expect(Object.keys(second.body)).toEqual([
      'access_token',
      'token_type',
      'expires_in',
      'expires_at',
      'refresh_token',
      'user',
    ]);
    expect(second.body.refresh_token).not.toBe(first.body.refresh_token);
    const [before, after] = [claimsOf(subject, first), claimsOf(subject, second)];
    expect(after.exp).toBe((before.exp ?? 0) + 1000);
    // The same session, opened the same way: neither is renewed by a refresh.
    expect([after.session_id, after.amr, after.aal]).toEqual([before.session_id, before.amr, before.aal]);
    expect(second.body.user).toEqual(first.body.user);
    expect((await subject.audit()).slice(auditBefore).sort()).toEqual(['token_refreshed', 'token_revoked']);
    const entry = await subject.rows.autocommit().row<{ payload: object }>`
      select payload from :schema.audit_log_entries where payload ->> 'action' = 'token_refreshed' order by created_at desc`;
    expect(entry?.payload).toEqual({
      action: 'token_refreshed',
      actor_id: first.body.user?.id,
      actor_username: first.body.user?.email,
      actor_via_sso: false,
      log_type: 'token',
    });
  });

  test('the parent of the active token yields the active token, unchanged, however late, and writes nothing', async () => {
    const first = await confirmedUser(subject);
    const second = await refresh(first.body.refresh_token);
    subject.clock.advance(10 * 86_400_000);
    const before = await subject.snapshot();
    const again = await refresh(first.body.refresh_token);
    expect(again.status).toBe(200);
    expect(again.body.refresh_token).toBe(second.body.refresh_token);
    expect(await subject.snapshot()).toBe(before);
    expect((await refresh(again.body.refresh_token)).status).toBe(200);
  });

  test('an older token is reuse: the whole family ends, and the log says so', async () => {
    const first = await confirmedUser(subject);
    const second = await refresh(first.body.refresh_token);
    const third = await refresh(second.body.refresh_token);
    const reused = await refresh(first.body.refresh_token);
    expect(reused.status).toBe(400);
    expect(reused.body).toEqual(used);
    expect((await subject.audit()).at(-1)).toBe('token_revoked');
    const before = await subject.snapshot();
    for (const { body } of [first, second, third]) {
      expect((await refresh(body.refresh_token)).body).toEqual(used);
    }
    expect(await subject.snapshot()).toBe(before);
  });

  test('reuse in one session leaves the other sessions of the user alone', async () => {
    const email = someone();
    const first = await confirmedUser(subject, email);
    const other = await subject.post('/token?grant_type=password', { email, password: 'correct horse' });
    const second = await refresh(first.body.refresh_token);
    await refresh(second.body.refresh_token);
    await refresh(first.body.refresh_token);
    expect((await refresh(other.body.refresh_token)).status).toBe(200);
  });

  test('without rotation an older token is refused, and the family lives', async () => {
    await using mild = await startSubject({ AUTHSVC_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: 'false' });
    const first = await confirmedUser(mild);
    const second = await refresh(first.body.refresh_token, mild);
    const third = await refresh(second.body.refresh_token, mild);
    expect((await refresh(first.body.refresh_token, mild)).body).toEqual(used);
    expect((await refresh(third.body.refresh_token, mild)).status).toBe(200);
  });

  test.each(['0', '10'])('a reuse interval of %s s takes nothing from that: C19', async (interval) => {
    await using subject = await startSubject({ AUTHSVC_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: interval });
    const first = await confirmedUser(subject);
    const second = await refresh(first.body.refresh_token, subject);
    for (const ms of [9_000, 2_000, 86_400_000]) {
      subject.clock.advance(ms);
      const before = await subject.snapshot();
      const again = await refresh(first.body.refresh_token, subject);
      expect([again.status, again.body.refresh_token]).toEqual([200, second.body.refresh_token]);
      expect(await subject.snapshot()).toBe(before);
    }
    // Nor does it give older ones anything: within the interval they are reuse as well.
    const third = await refresh(second.body.refresh_token, subject);
    expect((await refresh(first.body.refresh_token, subject)).body).toEqual(used);
    expect((await refresh(third.body.refresh_token, subject)).body).toEqual(used);
  });

  test('a ban refuses, and the token works again when it ends', async () => {
    const first = await confirmedUser(subject);
    const id = first.body.user?.id;
    await subject.rows.autocommit()
      .run`update :schema.users set banned_until = 'infinity' where id = ${id}::uuid`;
    const before = await subject.snapshot();
    expect((await refresh(first.body.refresh_token)).body).toEqual({
      code: 400,
      error_code: 'user_banned',
      msg: 'Invalid Refresh Token: User Banned',
    });
    expect(await subject.snapshot()).toBe(before);
    await subject.rows.autocommit().run`update :schema.users set banned_until = null where id = ${id}::uuid`;
    expect((await refresh(first.body.refresh_token)).status).toBe(200);
  });

  test('a session past its end is over, and nothing changed', async () => {
    const first = await confirmedUser(subject);
    const { session_id: session } = claimsOf(subject, first);
    await subject.rows.autocommit().run`
      update :schema.sessions set not_after = ${subject.clock.now()} where id = ${session}::uuid`;
    const before = await subject.snapshot();
    expect((await refresh(first.body.refresh_token)).body).toEqual({
      code: 400,
      error_code: 'session_expired',
      msg: 'Invalid Refresh Token: Session Expired',
    });
    expect(await subject.snapshot()).toBe(before);
  });

  test.each([undefined, '', 'invalid-refresh-token', 'abcdefghijkl', 'x'.repeat(5000)])(
    '%j is not found',
    async (token) => {
      const before = await subject.snapshot();
      expect((await refresh(token)).body).toEqual({
        code: 400,
        error_code: 'refresh_token_not_found',
        msg: 'Invalid Refresh Token: Refresh Token Not Found',
      });
      expect(await subject.snapshot()).toBe(before);
    },
  );

  test('after a sign-out the token is not found', async () => {
    const first = await confirmedUser(subject);
    await subject.post('/logout', undefined, bearer(first));
    expect((await refresh(first.body.refresh_token)).body).toMatchObject({
      error_code: 'refresh_token_not_found',
    });
  });

  test('the session follows its device', async () => {
    const first = await confirmedUser(subject);
    await subject.post(
      '/token?grant_type=refresh_token',
      { refresh_token: first.body.refresh_token },
      { 'user-agent': 'another browser', 'x-forwarded-for': '203.0.113.9' },
    );
    const session = await subject.rows.autocommit().row<{ user_agent: string; ip: string }>`
      select user_agent, host(ip) as ip from :schema.sessions where id = ${claimsOf(subject, first).session_id}::uuid`;
    expect(session).toEqual({ user_agent: 'another browser', ip: '203.0.113.9' });
  });
});

describe('how often a session is refreshed', () => {
  const start = () => startSubject({ AUTHSVC_RATE_LIMIT_ENABLED: 'true' });
  const refreshes = (subject: Subject, tokens: readonly unknown[], from: string) =>
    Promise.all(
      tokens.map(async (refresh_token) => {
        const headers = { 'x-forwarded-for': from };
        return (await subject.post('/token?grant_type=refresh_token', { refresh_token }, headers)).status;
      }),
    );
  const times = (statuses: readonly number[], status: number) =>
    statuses.filter((one) => one === status).length;

  test('is not limited by who else is behind the same address: clients sign out who is refused', async () => {
    await using subject = await start();
    const email = someone('office');
    await madeUser(subject, { email });
    const tokens: unknown[] = [];
    for (let n = 0; n < 40; n++) {
      const headers = { 'x-forwarded-for': `203.0.113.${n}` };
      const answer = await subject.post('/token?grant_type=password', { email, password: PASSWORD }, headers);
      tokens.push(answer.body.refresh_token);
    }
    expect(times(await refreshes(subject, tokens, '198.51.100.1'), 200)).toBe(40);
    // Nor do they leave less to others there, who guess at passwords or tokens, and are limited as ever.
    const guesses = Array.from({ length: 40 }, () => 'abcdefghijkl');
    expect(times(await refreshes(subject, guesses, '198.51.100.1'), 400)).toBe(30);
  });

  test('is limited for itself, wherever it is used, and a refusal changes nothing', async () => {
    await using subject = await start();
    const session = await confirmedUser(subject);
    const token = session.body.refresh_token;
    const statuses: number[] = [];
    for (let n = 0; n < 30; n++) statuses.push(...(await refreshes(subject, [token], `203.0.113.${n}`)));
    expect(times(statuses, 200)).toBe(30);
    const before = await subject.snapshot();
    expect(await refreshes(subject, [token], '203.0.113.99')).toEqual([429]);
    expect(await subject.snapshot()).toBe(before);
    subject.clock.advance(2000);
    expect(await refreshes(subject, [token], '203.0.113.99')).toEqual([200]);
  });
});
