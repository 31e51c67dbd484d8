import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PASSWORD, type Subject, startSubject } from './harness.ts';

// Services outside that hang while a request waits for them: it is answered with what failed, before it would be 504.

let outside: Server;
let url: string;
let answer: ((response: ServerResponse) => void) | undefined;
let subject: Subject;
beforeEach(async () => {
  answer = undefined;
  outside = createServer((request, response) => {
    request.resume();
    answer?.(response);
  });
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  url = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
});
afterEach(async () => {
  outside.closeAllConnections();
  outside.close();
  await subject[Symbol.asyncDispose]();
});
const inJson =
  (status: number, body: object) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

test('the service for CAPTCHA', async () => {
  subject = await startSubject({
    AUTHSVC_API_MAX_REQUEST_DURATION: '1s',
    AUTHSVC_SECURITY_CAPTCHA_ENABLED: 'true',
    AUTHSVC_SECURITY_CAPTCHA_SECRET: 'secret',
    AUTHSVC_SECURITY_CAPTCHA_URL: url,
  });
  const before = await subject.snapshot();
  const signUp = { email: 'a@example.com', password: PASSWORD, gotrue_meta_security: { captcha_token: 'x' } };
  const refused = await subject.post('/signup', signUp);
  expect(refused.body).toMatchObject({ code: 500, msg: 'captcha verification process failed' });
  expect(await subject.snapshot()).toBe(before);
});

test('the service for leaked passwords', async () => {
  subject = await startSubject({
    AUTHSVC_API_MAX_REQUEST_DURATION: '1s',
    AUTHSVC_PASSWORD_HIBP_ENABLED: 'true',
    AUTHSVC_PASSWORD_HIBP_FAIL_CLOSED: 'true',
    AUTHSVC_PASSWORD_HIBP_URL: url,
  });
  const before = await subject.snapshot();
  const refused = await subject.post('/signup', { email: 'a@example.com', password: PASSWORD });
  expect(refused.body).toMatchObject({ code: 503, error_code: 'hibp_unavailable' });
  expect(await subject.snapshot()).toBe(before);
});

test.each([
  ['hangs', undefined],
  ['is broken', inJson(500, {})],
  ['does not let us in', inJson(401, { code: 20003, message: 'Authenticate' })],
])('the provider that knows the code %s', async (_name, misbehave) => {
  subject = await startSubject({
    AUTHSVC_API_MAX_REQUEST_DURATION: '1s',
    AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
    AUTHSVC_SMS_PROVIDER: 'twilio_verify',
    AUTHSVC_SMS_URL: url,
    AUTHSVC_SMS_TWILIO_VERIFY_ACCOUNT_SID: 'AC1',
    AUTHSVC_SMS_TWILIO_VERIFY_AUTH_TOKEN: 'token',
    AUTHSVC_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: 'VA1',
  });
  const phone = '14155552671';
  expect((await subject.post('/signup', { phone, password: PASSWORD })).status).toBe(200);
  // The attempt counts, whatever comes of it: else the provider's limit would be used up by those who guess.
  const snapshot = async () => (await subject.snapshot()).replace(/"wrong_guesses": \d+/g, '');
  const before = await snapshot();
  answer = misbehave;
  const refused = await subject.post('/verify', { type: 'sms', phone, token: '123456' });
  expect(refused.body).toMatchObject({
    code: 503,
    error_code: 'sms_provider_unavailable',
    msg: 'The code cannot be verified at the moment, please retry after a moment.',
  });
  expect(refused.headers['retry-after']).toBe('5');
  expect(await snapshot()).toBe(before);
  answer = inJson(200, { status: 'approved', valid: true });
  expect((await subject.post('/verify', { type: 'sms', phone, token: '123456' })).status).toBe(200);
});
