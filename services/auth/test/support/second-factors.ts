import { Secret, TOTP } from 'otpauth';
import { type Answer, bearer, PASSWORD, type Subject, someone } from '../harness.ts';
import { signIn } from './administrators.ts';

/** An authenticator app, by another implementation of TOTP than ours, that goes by the test's clock. */
export function app(subject: Subject, secret: string) {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return {
    code: (steps = 0) => totp.generate({ timestamp: subject.clock.now().getTime() + steps * 30_000 }),
    /** A code that is none of those that count. */
    wrong: () => {
      const right = [-1, 0, 1].map((steps) =>
        totp.generate({ timestamp: subject.clock.now().getTime() + steps * 30_000 }),
      );
      return ['000000', '111111', '222222', '333333'].find((code) => !right.includes(code)) ?? '';
    },
  };
}

/** A factor as the test's own user has it. */
export interface TestFactor {
  id: string;
  secret: string;
  code: (steps?: number) => string;
  wrong: () => string;
}

/** Sends a request with a body as the bearer of a session. */
export function as(subject: Subject, session: Answer) {
  return asBearer(subject, bearer(session));
}

/** The same with the headers of any token. */
export function asBearer(subject: Subject, headers: Record<string, string>) {
  return {
    post: (path: string, body: unknown = {}) => subject.post(path, body, headers),
    get: (path: string) => subject.get(path, headers),
    put: (path: string, body: unknown) => subject.send('PUT', path, JSON.stringify(body), headers),
    delete: (path: string) => subject.send('DELETE', path, undefined, headers),
  };
}

/** Somebody who has signed up, by a service that confirms addresses by itself. */
export async function signedUp(subject: Subject): Promise<{ email: string; session: Answer }> {
  const email = someone();
  return { email, session: succeeded(await subject.post('/signup', { email, password: PASSWORD })) };
}

/** Begins a TOTP factor. */
export async function enrolled(subject: Subject, session: Answer, name = ''): Promise<TestFactor> {
  const body = { factor_type: 'totp', friendly_name: name };
  const answer = succeeded(await as(subject, session).post('/factors', body));
  const { secret } = answer.body['totp'] as { secret: string };
  return { id: String(answer.body.id), secret, ...app(subject, secret) };
}

/** Asks for a challenge. */
export async function challenged(subject: Subject, session: Answer, factorId: string): Promise<string> {
  return String(succeeded(await as(subject, session).post(`/factors/${factorId}/challenge`)).body.id);
}

/** Answers a challenge that was just asked for. */
export async function verified(
  subject: Subject,
  session: Answer,
  factorId: string,
  code: string,
): Promise<Answer> {
  const challengeId = await challenged(subject, session, factorId);
  return await as(subject, session).post(`/factors/${factorId}/verify`, { challenge_id: challengeId, code });
}

/** Somebody with a proven TOTP factor, the session that showed it, and one that did not. */
export async function guarded(
  subject: Subject,
): Promise<{ email: string; factor: TestFactor; high: Answer; low: Answer }> {
  const { email, session } = await signedUp(subject);
  const factor = await enrolled(subject, session);
  const high = succeeded(await verified(subject, session, factor.id, factor.code()));
  // The next code counts from now on.
  subject.clock.advance(30_000);
  return { email, factor, high, low: succeeded(await signIn(subject, email)) };
}

/** The test's own steps must succeed. */
export function succeeded(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`a step of the test itself failed: ${answer.text}`);
  return answer;
}
