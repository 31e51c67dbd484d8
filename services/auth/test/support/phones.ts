import { expect } from 'vitest';
import * as users from '../../src/store/users.ts';
import { type Answer, bearer, PASSWORD, type Subject, startSubject } from '../harness.ts';
import { lastCode } from './captured-sms.ts';

export const MINUTE = 60_000;

export const start = (environment: Record<string, string> = {}) =>
  startSubject({ AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true', ...environment });

let given = 0;
/** A number nobody has yet. */
export function somePhone(): string {
  given += 1;
  return `1415555${String(given).padStart(4, '0')}`;
}

export const signUp = (subject: Subject, phone: string, extra: object = {}) =>
  subject.post('/signup', { phone, password: PASSWORD, ...extra });
export const verify = (subject: Subject, phone: string, token: string, type = 'sms') =>
  subject.post('/verify', { type, phone, token });
export const signIn = (subject: Subject, phone: string, password = PASSWORD) =>
  subject.post('/token?grant_type=password', { phone, password });

/** Signs up, types the code and returns the session. */
export async function confirmedPhone(subject: Subject, phone: string, extra: object = {}): Promise<Answer> {
  await signUp(subject, phone, extra);
  const answer = await verify(subject, phone, await lastCode(subject, phone));
  if (answer.status !== 200) throw new Error(`the test's own sign-up failed: ${answer.text}`);
  subject.clock.advance(MINUTE);
  return answer;
}

/** Sends what must be refused, and proves that nothing came of it. */
export async function refused(subject: Subject, send: () => Promise<Answer>): Promise<unknown[]> {
  const before = await subject.snapshot();
  const { status, body } = await send();
  expect(await subject.snapshot()).toBe(before);
  return [status, body['error_code'], body['msg']];
}

export const INVALID_CODE = [403, 'otp_expired', 'Token has expired or is invalid'];
export const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

export async function personOf(subject: Subject, answer: Answer) {
  const id = answer.body.user?.id ?? answer.body.id ?? '';
  const person = await users.findById(subject.context.database.autocommit(), id);
  if (person === undefined) throw new Error('the test lost its user');
  return person;
}

/** PUT /user with a number: the present and the wanted one, or why not. */
export async function changePhone(subject: Subject, session: Answer, phone: string): Promise<string> {
  const { status, body } = await subject.send('PUT', '/user', JSON.stringify({ phone }), bearer(session));
  const { phone: present, new_phone: wanted = '', error_code: code } = body as Record<string, string>;
  return status === 200 ? `${present} → ${wanted}` : `${code}`;
}
