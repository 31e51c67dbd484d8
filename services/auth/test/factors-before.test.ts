import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, claimsOf, type Subject, startSubject } from './harness.ts';
import { bearerOf } from './support/administrators.ts';
import { as, asBearer, enrolled, signedUp, succeeded, verified } from './support/second-factors.ts';

// What was issued or begun before the owner had a second factor: it is worth no more than what it showed then.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  });
});
afterAll(() => subject[Symbol.asyncDispose]());

const said = ({ status, body }: Answer) => [status, body['error_code']];
async function refusedWithoutTrace(request: () => Promise<Answer>): Promise<unknown[]> {
  const before = await subject.snapshot();
  const answer = await request();
  expect(await subject.snapshot()).toBe(before);
  return said(answer);
}

test('an access token of before the proof stays at aal1, though its session shows two factors now', async () => {
  const { session } = await signedUp(subject);
  const factor = await enrolled(subject, session);
  const high = succeeded(await verified(subject, session, factor.id, factor.code()));
  expect(claimsOf(subject, high)['session_id']).toBe(claimsOf(subject, session)['session_id']);
  succeeded(await as(subject, high).post('/factors/recovery-codes'));
  const stolen = as(subject, session);
  const unclaiming = { ...claimsOf(subject, high), aal: undefined };
  const odd = { ...claimsOf(subject, high), aal: 'zzz' };
  for (const [who, name] of [
    [stolen, 'stolen'],
    [asBearer(subject, bearerOf(subject, unclaiming)), 'without a claim'],
    [asBearer(subject, bearerOf(subject, odd)), 'with a claim that is none'],
  ] as const) {
    const refused = async (request: () => Promise<Answer>) => [name, ...(await refusedWithoutTrace(request))];
    expect(await refused(() => who.delete(`/factors/${factor.id}`))).toEqual([name, 422, 'insufficient_aal']);
    expect(await refused(() => who.delete('/factors/recovery-codes'))).toEqual([
      name,
      422,
      'insufficient_aal',
    ]);
    for (const change of [{ password: 'the thief’s' }, { email: 'thief@example.com' }]) {
      expect(await refused(() => who.put('/user', change))).toEqual([name, 401, 'insufficient_aal']);
    }
    for (const path of ['/factors/recovery-codes', '/factors/recovery-codes/regenerate']) {
      expect(await refused(() => who.post(path))).toEqual([name, 403, 'insufficient_aal']);
    }
    expect(await refused(() => who.post('/factors', { factor_type: 'totp' }))).toEqual([
      name,
      403,
      'insufficient_aal',
    ]);
    expect(await refused(() => who.get('/user/identities/authorize?provider=github'))).toEqual([
      name,
      401,
      'insufficient_aal',
    ]);
    expect(await refused(() => who.delete(`/user/identities/${randomUUID()}`))).toEqual([
      name,
      401,
      'insufficient_aal',
    ]);
  }
  // The tokens of the proof itself may do all of it.
  expect((await as(subject, high).put('/user', { password: 'the owner’s' })).status).toBe(200);
});
