import type { ServerResponse } from 'node:http';
import { countOutbox } from '@croft/sql';
import { fixedClock } from '@croft/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { confirmedUser, PASSWORD, someone, startSubject } from './harness.ts';
import { signInWith } from './support/external-flow.ts';
import { type HookEmulator, hookEmulator, type Question } from './support/hook-emulator.ts';
import { startProviderEmulator } from './support/provider-emulator.ts';
import { smsEmulator } from './support/sms-emulators.ts';

// What others say that we ask goes to places that do not take everything: a column, an address, a token.

const WORDS = `No\0 way\ud800${'!'.repeat(100_000)}`;
/** As much of it as is kept, and as can be. */
const KEPT = /^No way\ufffd!{400,600}$/;

let hook: HookEmulator;
beforeEach(async () => {
  hook = await hookEmulator(() => fixedClock().now());
});
afterEach(() => hook[Symbol.asyncDispose]());

describe('a refusal in words of the outside', () => {
  test.each([
    [400, 'parked'],
    [429, 'waiting'],
  ] as const)('of an SMS provider, %i: the message is %s', async (status, state) => {
    await using emulator = await smsEmulator('twilio');
    await using subject = await startSubject({
      ...emulator.environment,
      AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
    });
    emulator.answerNext({ status, body: { code: 21610, message: WORDS } });
    expect((await subject.post('/otp', { phone: '14155552671' })).status).toBe(200);
    await (await subject.outbox()).drain();
    expect(await countOutbox(subject.rows.autocommit())).toMatchObject({ [state]: 1 });
    const row = await subject.rows.autocommit().row<{ reason: string }>`
      select last_error as reason from :schema.outbox`;
    expect(row?.reason.replace(/^.*?: /, '')).toMatch(KEPT);
  });

  test('of a hook that sends the mails: it is tried again', async () => {
    await using subject = await startSubject(hook.settings('SEND_EMAIL'));
    hook.answer = { error: { http_code: 503, message: WORDS } };
    expect((await subject.post('/signup', { email: someone(), password: PASSWORD })).status).toBe(200);
    await (await subject.outbox()).drain();
    const row = await subject.rows.autocommit().row<{ reason: string }>`
      select last_error as reason from :schema.outbox`;
    expect(row?.reason).toMatch(KEPT);
  });

  test('of a hook that is asked about new people: the browser is back with it', async () => {
    await using emulator = await startProviderEmulator();
    await using subject = await startSubject({
      ...emulator.settings('github'),
      ...hook.settings('BEFORE_USER_CREATED'),
    });
    hook.answer = { error: { http_code: 403, message: WORDS } };
    const before = await subject.snapshot();
    const back = await signInWith(subject, emulator, 'github');
    expect([back.status, back.query.get('error')]).toEqual([302, 'access_denied']);
    expect(back.query.get('error_description')).toMatch(KEPT);
    expect(back.location.length).toBeLessThan(4_000);
    expect(await subject.snapshot()).toBe(before);
  });

  test('of a hook that judges passwords', async () => {
    await using subject = await startSubject(hook.settings('PASSWORD_VERIFICATION_ATTEMPT'));
    const { body } = await confirmedUser(subject);
    hook.answer = { decision: 'reject', message: WORDS };
    const answer = await subject.post('/token?grant_type=password', {
      email: body.user?.email,
      password: PASSWORD,
    });
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'invalid_credentials']);
    expect(answer.body['msg']).toMatch(KEPT);
  });
});

describe('claims of a hook that no token carries', () => {
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const adding = (member: string) => (response: ServerResponse, question: Question) => {
    const claims = JSON.stringify(question.body['claims']).replace(/\}$/, `,"more":${member}}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"claims":${claims}}`);
  };

  test('nested without end: refused in words of ours, and the session goes on once the hook is mended', async () => {
    await using subject = await startSubject(hook.settings('CUSTOM_ACCESS_TOKEN'));
    hook.answer = adding(deep(50));
    const session = await confirmedUser(subject);
    hook.answer = adding(deep(20_000));
    const refresh = () =>
      subject.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token });
    expect((await refresh()).body).toMatchObject({
      error_code: 'unexpected_failure',
      msg: 'output claims are nested too deeply',
    });
    hook.answer = adding('1');
    expect((await refresh()).status).toBe(200);
  });
});
