import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { commands, type Model, Person, type Session } from './support/factor-model.ts';

// What becomes of sessions and factors, whatever is asked in whatever order, over HTTP: after each request the tables and
// the answers are held against a model of a few lines.

let subject: Subject;
let origin: string;
beforeAll(async () => {
  subject = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    // Wrong codes are forgotten by waiting; tokens and factors have to outlive that.
    AUTHSVC_JWT_EXP: '1000000000',
    AUTHSVC_MFA_FACTOR_EXPIRY_DURATION: '1000000h',
    AUTHSVC_MFA_MAX_ENROLLED_FACTORS: '4',
  });
  origin = await subject.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => subject[Symbol.asyncDispose]());

const seen = new Map<string, number>();

test('whatever is asked in whatever order, levels and factors are what the model says', async () => {
  const index = fc.nat({ max: 5 });
  const all = commands.map((Kind) =>
    fc.tuple(index, index).map(([session, factor]) => new Kind(session, factor)),
  );
  await fc.assert(
    fc.asyncProperty(fc.commands(all, { maxCommands: 40, size: 'max' }), async (script) => {
      const email = someone();
      const answer = await subject.post('/signup', { email, password: PASSWORD });
      const userId = answer.body.user?.id ?? '';
      const session: Session = {
        access: String(answer.body.access_token),
        refresh: String(answer.body.refresh_token),
        stale: undefined,
        staleAccess: undefined,
        raisedAt: 0,
        raisedBy: undefined,
        revoked: false,
      };
      const setup = () => ({
        model: { factors: [], sessions: [{ ...session }], ended: [] } as Model,
        real: new Person({ subject, origin, seen }, { userId, email }),
      });
      await fc.asyncModelRun(setup, script);
    }),
    // The same each time, because what must have been met is asked for below.
    { numRuns: 60, seed: 7, endOnFailure: true },
  );
  for (const [what, least] of [
    ['POST /factors 200', 40],
    ['POST /factors 403', 5],
    ['POST /factors/:id/verify 200', 40],
    ['POST /factors/:id/verify 422', 20],
    ['DELETE /factors/:id 200', 10],
    ['DELETE /factors/:id 422', 1],
    ['PUT /user 401', 1],
    ['POST /token 200', 40],
    ['POST /token 400', 10],
    ['POST /logout 204', 10],
  ] as const) {
    expect([what, (seen.get(what) ?? 0) >= least]).toEqual([what, true]);
  }
}, 240_000);
