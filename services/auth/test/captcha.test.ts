import { accessTokens } from '@croft/access-token';
import { createApp } from '@croft/http';
import { silentLog } from '@croft/runtime';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { grantNeedsCaptcha, requireCaptcha } from '../src/caller/check-captcha.ts';
import { recogniseClients } from '../src/caller/origin.ts';
import { errorDialect } from '../src/error-json.ts';
import { lenientBody, queryText, textField } from '../src/requests.ts';
import { type Answer, JWT_SECRET, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { type CaptchaEmulator, captchaEmulator } from './support/captcha-emulator.ts';

const PROVIDERS = ['hcaptcha', 'turnstile'] as const;

async function start(emulator: CaptchaEmulator, more: Record<string, string> = {}) {
  const subject = await startSubject({ ...emulator.environment, ...more });
  return subject;
}

const meta = (token: unknown) => ({ gotrue_meta_security: { captcha_token: token } });

/** Asks for a recovery mail: what needs a token, and writes when it has one. */
function recover(subject: Subject, extra: object, headers?: Record<string, string>): Promise<Answer> {
  return subject.post('/recover', { email: someone(), ...extra }, headers);
}

/** Sends with a body that must be refused, and proves that nothing came of it. */
async function refused(subject: Subject, extra: object, headers?: Record<string, string>): Promise<Answer> {
  const before = await subject.snapshot();
  const answer = await recover(subject, extra, headers);
  expect(await subject.snapshot()).toBe(before);
  return answer;
}

const failed = (reason: string) => ({
  code: 400,
  error_code: 'captcha_failed',
  msg: `captcha protection: request disallowed (${reason})`,
});

describe.each(PROVIDERS)('%s', (provider) => {
  it('is asked with the secret, the token and the address of the client', async () => {
    await using emulator = await captchaEmulator(provider);
    await using subject = await start(emulator);
    const token = emulator.solve();
    const answer = await recover(subject, meta(token), { 'x-forwarded-for': '203.0.113.9' });
    expect(answer.status).toBe(200);
    expect(emulator.requests).toHaveLength(1);
    expect(Object.fromEntries(emulator.requests[0]?.form ?? [])).toEqual({
      secret: 'captcha-secret',
      response: token,
      remoteip: '203.0.113.9',
    });
  });

  it('takes the token in either place, clients first', async () => {
    await using emulator = await captchaEmulator(provider);
    await using subject = await start(emulator);
    for (const place of [
      (token: string) => ({ captcha_token: token }),
      (token: string) => meta(token),
      (token: string) => ({ ...meta(token), captcha_token: 'not this one' }),
      (token: string) => ({ ...meta(''), captcha_token: token }),
      (token: string) => ({ GOTRUE_Meta_Security: { Captcha_Token: ` ${token}\n` } }),
    ]) {
      expect((await recover(subject, place(emulator.solve()))).status).toBe(200);
    }
    expect(emulator.requests).toHaveLength(5);
  });

  it.each([
    {},
    { captcha_token: '' },
    { captcha_token: '  ' },
    meta(''),
    meta(null),
    meta(5),
    meta({}),
    { gotrue_meta_security: 'x' },
  ])('is not asked without a token: %j', async (extra) => {
    await using emulator = await captchaEmulator(provider);
    await using subject = await start(emulator);
    const answer = await refused(subject, extra);
    expect([answer.status, answer.body]).toEqual([400, failed('no captcha_token found')]);
    expect(emulator.requests).toHaveLength(0);
  });

  it('has its refusals passed on: wrong and used tokens, a wrong secret', async () => {
    await using emulator = await captchaEmulator(provider);
    await using subject = await start(emulator);
    expect((await refused(subject, meta('guessed'))).body).toEqual(failed('invalid-input-response'));
    const token = emulator.solve();
    expect((await recover(subject, meta(token))).status).toBe(200);
    expect((await refused(subject, meta(token))).body).toEqual(failed('timeout-or-duplicate'));
    const codes = ['bad-request', 'invalid-input-secret'];
    emulator.answerNext(
      { status: 400, body: { success: false, 'error-codes': codes } },
      { status: 200, body: { success: false } },
    );
    expect((await refused(subject, meta('x'))).body).toEqual(failed('bad-request, invalid-input-secret'));
    expect((await refused(subject, meta('x'))).body).toEqual(failed(''));
  });

  it('that gives no verdict lets nobody in', async () => {
    await using emulator = await captchaEmulator(provider);
    await using subject = await start(emulator, { AUTHSVC_SECURITY_CAPTCHA_TIMEOUT: '150ms' });
    for (const answer of [
      'hang-up',
      'silence',
      { status: 500, body: 'Internal Server Error' },
      { status: 200, body: 'true' },
      { status: 200, body: { success: 'true' } },
      { status: 200, body: { success: 1 } },
      { status: 200, body: [] },
      { status: 200, body: `{"success":true,"padding":"${'x'.repeat(70_000)}"}` },
    ] as const) {
      emulator.answerNext(answer);
      const { status, body } = await refused(subject, meta(emulator.solve()));
      expect([status, body['error_code'], body['msg']]).toEqual([
        500,
        'unexpected_failure',
        'captcha verification process failed',
      ]);
    }
    expect((await recover(subject, meta(emulator.solve()))).status).toBe(200);
  });
});

describe('a token that is asked for', () => {
  it('is needed once a request: of 8 at once with one token one gets through', async () => {
    await using emulator = await captchaEmulator('hcaptcha');
    await using subject = await start(emulator);
    const token = emulator.solve();
    const answers = await Promise.all(Array.from({ length: 8 }, () => recover(subject, meta(token))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(7);
  });

  it('is not sent on when it is too long to be one', async () => {
    await using emulator = await captchaEmulator('hcaptcha');
    await using subject = await start(emulator);
    expect((await refused(subject, meta('x'.repeat(16_385)))).body).toEqual(failed('invalid-input-response'));
    expect(emulator.requests).toHaveLength(0);
  });

  it('cannot change what else is asked', async () => {
    await using emulator = await captchaEmulator('hcaptcha');
    await using subject = await start(emulator);
    await refused(subject, meta('x&secret=mine&remoteip=1.1.1.1'));
    expect(emulator.requests[0]?.form?.getAll('secret')).toEqual(['captcha-secret']);
  });

  it('is not needed by administrators, but by those who only say so', async () => {
    await using emulator = await captchaEmulator('turnstile');
    await using subject = await start(emulator);
    const now = Math.floor(subject.clock.now().getTime() / 1000);
    const claims = { role: 'service_role', aud: '', sub: '', iat: now, exp: now + 60 };
    const bearer = (secret: string, role: string) => ({
      authorization: `Bearer ${accessTokens({ secret }, () => now * 1000).sign({ ...claims, role })}`,
    });
    expect((await recover(subject, {}, bearer(JWT_SECRET, 'service_role'))).status).toBe(200);
    for (const headers of [
      bearer(JWT_SECRET, 'authenticated'),
      bearer('another-secret-that-is-long-enough-too', 'service_role'),
      { authorization: 'Bearer service_role' },
      { authorization: '' },
    ]) {
      expect((await refused(subject, {}, headers)).body).toEqual(failed('no captcha_token found'));
    }
    expect(emulator.requests).toHaveLength(0);
  });

  it('is not needed where nobody asks for one', async () => {
    await using emulator = await captchaEmulator('hcaptcha');
    await using subject = await start(emulator, { AUTHSVC_SECURITY_CAPTCHA_ENABLED: 'false' });
    expect((await recover(subject, {})).status).toBe(200);
    expect(emulator.requests).toHaveLength(0);
  });

  it('is needed where something is sent or guessed, and nowhere else', async () => {
    await using emulator = await captchaEmulator('hcaptcha');
    await using subject = await start(emulator);
    const email = someone();
    for (const [path, body] of [
      ['/signup', { email, password: PASSWORD }],
      ['/signup', {}],
      ['/recover', { email }],
      ['/resend', { type: 'signup', email }],
      ['/magiclink', { email }],
      ['/otp', { email }],
      ['/otp', { phone: '14155552671' }],
      ['/token?grant_type=password', { email, password: PASSWORD }],
      ['/token?grant_type=web3', {}],
      ['/token', {}],
      ['/token?grant_type=password&grant_type=refresh_token', {}],
      // The route reads the name as it is written, so the other one must not count.
      ['/token?grant_type=password&GRANT_TYPE=refresh_token', { email, password: PASSWORD }],
    ] as const) {
      const before = await subject.snapshot();
      const answer = await subject.post(path, body);
      expect(answer.body['error_code'], path).toBe('captcha_failed');
      expect(await subject.snapshot()).toBe(before);
    }
    for (const [path, body] of [
      ['/token?grant_type=refresh_token', { refresh_token: 'x' }],
      ['/verify', { type: 'signup', token: '123456', email }],
    ] as const) {
      expect((await subject.post(path, body)).body['error_code'], path).not.toBe('captcha_failed');
    }
    expect((await subject.get('/settings')).status).toBe(200);
    expect(emulator.requests).toHaveLength(0);
  });
});

describe('the hook', () => {
  it('finds the grant as the route does', async () => {
    await using emulator = await captchaEmulator('hcaptcha');
    await using subject = await start(emulator);
    const app = await createApp({
      api: { title: 'x', description: 'x', version: '0' },
      log: silentLog,
      errors: errorDialect,
      handlerTimeoutMs: 5_000,
    });
    recogniseClients(app, subject.context.settings);
    requireCaptcha(app, subject.context);
    const schema = {
      summary: 'x',
      tags: ['x'],
      querystring: z.object({ grant_type: queryText }),
      body: lenientBody({ grant_type: textField }),
      response: { 200: z.object({ grant: z.string() }) },
    };
    app.post('/t', { config: { captcha: grantNeedsCaptcha }, schema }, (request) => ({
      grant: request.body.grant_type === '' ? (request.query.grant_type ?? '') : request.body.grant_type,
    }));
    const grantOf = async (query: string, body: object) => {
      const answer = await app.inject({ method: 'POST', url: `/t${query}`, payload: body });
      return answer.statusCode === 200 ? answer.json().grant : answer.json().error_code;
    };
    expect(await grantOf('?grant_type=refresh_token', {})).toBe('refresh_token');
    expect(await grantOf('', { grant_type: 'refresh_token' })).toBe('refresh_token');
    expect(await grantOf('?grant_type=refresh_token', { grant_type: 'password' })).toBe('captcha_failed');
    expect(await grantOf('?grant_type=password', { Grant_Type: 'refresh_token' })).toBe('refresh_token');
    expect(
      await grantOf('?grant_type=refresh_token', { grant_type: 'refresh_token', GRANT_TYPE: 'password' }),
    ).toBe('captcha_failed');
    expect(await grantOf('?grant_type=password&grant_type=refresh_token', {})).toBe('captcha_failed');
    expect(await grantOf('?grant_type=refresh_token', { grant_type: null })).toBe('refresh_token');
    expect(await grantOf('?grant_type=refresh_token', { grant_type: ['password'] })).toBe('captcha_failed');
    await app.close();
  });
});
