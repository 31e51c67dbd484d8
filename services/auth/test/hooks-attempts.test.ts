import type { ServerResponse } from 'node:http';
import { fixedClock } from '@croft/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { judgeMfaAttempt, type MfaAttempt } from '../src/hooks/judge-mfa-attempt.ts';
import * as users from '../src/store/users.ts';
import {
  type Answer,
  bearer,
  confirmedUser,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { type HookEmulator, hookEmulator, type Question } from './support/hook-emulator.ts';

// The hooks that judge attempts to show who somebody is: password_verification_attempt and mfa_verification_attempt.

let emulator: HookEmulator;
let subject: Subject;
beforeEach(async () => {
  emulator = await hookEmulator(() => fixedClock().now());
  subject = await startSubject({
    ...emulator.settings('PASSWORD_VERIFICATION_ATTEMPT'),
    ...emulator.settings('MFA_VERIFICATION_ATTEMPT'),
    AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
  });
});
afterEach(async () => {
  await subject[Symbol.asyncDispose]();
  await emulator[Symbol.asyncDispose]();
});

const signIn = (email: string, password = PASSWORD): Promise<Answer> =>
  subject.post('/token?grant_type=password', { email, password });
const sessions = async (): Promise<unknown[]> =>
  await subject.rows.autocommit().rows`
    select session_id from :schema.refresh_tokens where revoked_at is null`;

describe('a password', () => {
  test('is judged right or wrong', async () => {
    const session = await confirmedUser(subject);
    const email = String(session.body.user?.email);
    expect((await signIn(email)).status).toBe(200);
    expect((await signIn(email, 'wrong')).body).toMatchObject({ error_code: 'invalid_credentials' });
    const { id } = session.body.user ?? {};
    expect(emulator.questions.map(({ body }) => body)).toMatchObject([
      { user_id: id, valid: true, metadata: { name: 'password-verification', ip_address: '127.0.0.1' } },
      { user_id: id, valid: false },
    ]);
  });

  test('of an address nobody has is judged as well, under an id that stays and is no user', async () => {
    const email = someone();
    for (const typed of [email, email.toUpperCase(), someone()]) {
      const answer = await signIn(typed);
      expect(answer.body).toEqual({
        code: 400,
        error_code: 'invalid_credentials',
        msg: 'Invalid login credentials',
      });
    }
    for (const phone of ['+1 4155552671', '14155552671'])
      await subject.post('/token?grant_type=password', { phone, password: PASSWORD });
    const ids = emulator.questions.map(({ body }) => body['user_id']);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids[1]).toBe(ids[0]);
    // However a number is typed, as for those that somebody has: a hook counts by the id.
    expect(ids[4]).toBe(ids[3]);
    expect(new Set(ids).size).toBe(3);
    expect(emulator.questions.every(({ body }) => body['valid'] === false)).toBe(true);
  });

  test('attack: what a hook rejects or fails with tells no address apart', async () => {
    const session = await confirmedUser(subject);
    const before = await subject.snapshot();
    const answers: HookEmulator['answer'][] = [
      { decision: 'reject' },
      { decision: 'reject', message: 'Come back tomorrow', should_logout_user: false },
      { error: { http_code: 429, message: 'slow down' } },
      (response: ServerResponse) => void response.writeHead(500).end(),
      (response: ServerResponse) => void response.writeHead(200).end(),
    ];
    for (const answer of answers) {
      emulator.answer = answer;
      const known = await signIn(String(session.body.user?.email), 'wrong');
      const unknown = await signIn(someone());
      expect(known.status).toBeGreaterThanOrEqual(400);
      expect({ ...unknown.body, error_id: '' }).toEqual({ ...known.body, error_id: '' });
    }
    expect(await subject.snapshot()).toBe(before);
  });

  test.each([
    [{ decision: 'reject' }, 'Further password verification attempts will be rejected.'],
    [{ decision: 'reject', message: 'Come back tomorrow' }, 'Come back tomorrow'],
  ])('that is right is rejected, and other sessions stay: %j', async (answer, msg) => {
    const session = await confirmedUser(subject);
    const before = await subject.snapshot();
    emulator.answer = answer;
    const refused = await signIn(String(session.body.user?.email));
    expect(refused.body).toEqual({ code: 400, error_code: 'invalid_credentials', msg });
    expect(await subject.snapshot()).toBe(before);
  });

  test('that is rejected can end every session of its user, and of nobody else', async () => {
    const session = await confirmedUser(subject);
    const other = await confirmedUser(subject);
    emulator.answer = { decision: 'reject', should_logout_user: true };
    await signIn(String(session.body.user?.email), 'wrong');
    await signIn(someone());
    expect(await sessions()).toHaveLength(1);
    expect((await subject.get('/user', bearer(other))).status).toBe(200);
    expect((await subject.get('/user', bearer(session))).body).toMatchObject({
      error_code: 'session_not_found',
    });
  });

  test.each([[{}], [{ decision: 'continue' }], [{ decision: 'REJECT' }], [{ decision: 7 }]])(
    'is what it is when the hook says %j',
    async (answer) => {
      const session = await confirmedUser(subject);
      emulator.answer = answer;
      expect((await signIn(String(session.body.user?.email))).status).toBe(200);
      expect((await signIn(String(session.body.user?.email), 'wrong')).status).toBe(400);
    },
  );

  test('that a hook hangs on takes no place from others who sign in', async () => {
    const session = await confirmedUser(subject);
    emulator.answer = () => undefined;
    const hanging = Array.from({ length: 6 }, () => signIn(String(session.body.user?.email)));
    await expect.poll(() => emulator.questions.length).toBe(6);
    emulator.answer = {};
    const startedAt = performance.now();
    expect((await signIn(String(session.body.user?.email))).status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await emulator[Symbol.asyncDispose]();
    for (const answer of await Promise.all(hanging)) expect(answer.status).toBe(422);
  });
});

describe('a factor', () => {
  async function attempt(change: Partial<MfaAttempt> = {}): Promise<MfaAttempt> {
    const session = await confirmedUser(subject);
    const person = await users.findById(subject.rows.autocommit(), session.body.user?.id ?? '');
    if (person === undefined) throw new Error('there is no user');
    const origin = { ip: '192.0.2.7', userAgent: '', audience: undefined };
    return { user: person.user, factorId: 'f', factorType: 'totp', valid: true, origin, ...change };
  }

  test('is judged', async () => {
    const wanted = await attempt({ valid: false });
    await judgeMfaAttempt(subject.context, wanted);
    expect(emulator.questions.map(({ body }: Question) => body)).toMatchObject([
      {
        metadata: { name: 'mfa-verification', ip_address: '192.0.2.7' },
        user_id: wanted.user.id,
        factor_id: 'f',
        factor_type: 'totp',
        valid: false,
      },
    ]);
    expect(await sessions()).toHaveLength(1);
  });

  test.each([
    [{ decision: 'reject' }, 'Further MFA verification attempts will be rejected.'],
    [{ decision: 'reject', message: 'No' }, 'No'],
  ])('is rejected, and its user signed out everywhere: %j', async (answer, message) => {
    const wanted = await attempt();
    emulator.answer = answer;
    await expect(judgeMfaAttempt(subject.context, wanted)).rejects.toMatchObject({
      kind: 'forbidden',
      code: 'mfa_verification_rejected',
      message,
    });
    expect(await sessions()).toHaveLength(0);
    expect(await subject.audit()).toContain('logout');
  });

  test('is not let through by a hook that fails', async () => {
    const wanted = await attempt();
    emulator.answer = (response) => void response.writeHead(500).end();
    await expect(judgeMfaAttempt(subject.context, wanted)).rejects.toMatchObject({
      code: 'unexpected_failure',
    });
    expect(await sessions()).toHaveLength(1);
  });
});
