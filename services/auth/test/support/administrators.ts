import { accessTokens } from '@croft/access-token';
import type { Answer, Subject } from '../harness.ts';
import { JWT_SECRET, PASSWORD, someone } from '../harness.ts';

/** The header of a token made by hand, as people make them for their servers. */
export function bearerOf(subject: Subject, claims: object): Record<string, string> {
  const nowMs = subject.clock.now().getTime();
  const exp = Math.floor(nowMs / 1000) + 600;
  const token = accessTokens(JWT_SECRET, () => nowMs).sign({ exp, ...claims });
  return { authorization: `Bearer ${token}` };
}

/** The header of a `service_role` token without a user. */
export function serviceRole(subject: Subject): Record<string, string> {
  return bearerOf(subject, { role: 'service_role' });
}

/** A user an administrator made, who can sign in. */
export async function madeUser(subject: Subject, fields: object = {}): Promise<Answer> {
  const wanted = { email: someone(), password: PASSWORD, email_confirm: true, ...fields };
  const answer = await subject.post('/admin/users', wanted, serviceRole(subject));
  if (answer.status !== 200) throw new Error(`the test's own user could not be made: ${answer.text}`);
  return answer;
}

/** Signs in with the password of every test. */
export function signIn(subject: Subject, email: unknown, password = PASSWORD): Promise<Answer> {
  return subject.post('/token?grant_type=password', { email, password });
}
