import { expect } from 'vitest';
import type { Answer, Subject } from '../harness.ts';
import { claimsOf } from '../harness.ts';
import { serviceRole, signIn } from './administrators.ts';
import type { Expected, ModelSession, SessionModel } from './session-model.ts';

// What people and administrators do with sessions, each in the service and in the model.

/** The person of a run. */
export interface Person {
  subject: Subject;
  id: string;
  email: string;
  /** What refreshes came to in all runs: one that never happened was not tested. */
  met: Set<Expected>;
}
/** Done in the service and in the model, and compared. */
export type Step = (model: SessionModel, person: Person) => Promise<void>;

const bearerOf = (session: ModelSession) => ({ authorization: `Bearer ${session.accessToken}` });
const refreshWith = ({ subject }: Person, token: string) =>
  subject.post('/token?grant_type=refresh_token', { refresh_token: token });

/** A request with an access token: what it does, or the refusal of one that opens nothing. */
async function asOwner(
  model: SessionModel,
  session: ModelSession,
  request: () => Promise<Answer>,
  done: (answer: Answer) => void,
): Promise<void> {
  const answer = await request();
  if (model.admits(session)) return done(answer);
  expect(answer).toMatchObject({
    status: 403,
    body: { error_code: session.gone ? 'session_not_found' : 'user_banned' },
  });
}

/** Signs in with the password of the moment. */
export const enter: Step = async (model, { subject, email }) => {
  const answer = await signIn(subject, email, model.password);
  if (model.banned) return expect(answer.body['error_code']).toBe('user_banned');
  expect(answer.status).toBe(200);
  const { access_token: accessToken = '', refresh_token: token = '' } = answer.body;
  model.begin(claimsOf(subject, answer).session_id ?? '', accessToken, token);
};

/** So many times at once, with the token of so many generations ago. */
export const refresh =
  (number: number, generationsAgo: number, times: number): Step =>
  async (model, person) => {
    const session = model.pick(number);
    const presented = session?.tokens.at(-1 - generationsAgo);
    if (session === undefined || presented === undefined) return;
    const expected = model.expectRefresh(session, generationsAgo);
    person.met.add(expected);
    const answers = await Promise.all(Array.from({ length: times }, () => refreshWith(person, presented)));
    if (expected === 'rotates' || expected === 'repeats') {
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      const children = new Set(answers.map(({ body }) => body.refresh_token ?? ''));
      expect(children.size).toBe(1);
      const [child = ''] = children;
      if (expected === 'repeats') return expect(child).toBe(session.tokens.at(-1));
      expect(session.tokens).not.toContain(child);
      session.tokens.push(child);
      session.refreshedAt = model.now;
      session.accessToken = answers[0]?.body.access_token ?? '';
      return;
    }
    const code = expected === 'reuse' ? 'refresh_token_already_used' : expected.slice('refused as '.length);
    for (const answer of answers) expect([answer.status, answer.body['error_code']]).toEqual([400, code]);
    if (expected === 'reuse') session.revoked = true;
  };

/** Signs out with the access token of a session. */
export const logOut =
  (number: number, scope: 'local' | 'others' | 'global'): Step =>
  async (model, { subject }) => {
    const session = model.pick(number);
    if (session === undefined) return;
    const ask = () => subject.post(`/logout?scope=${scope}`, undefined, bearerOf(session));
    await asOwner(model, session, ask, ({ status }) => {
      expect(status).toBe(204);
      if (scope === 'local') session.gone = true;
      else model.endAll(scope === 'others' ? session : undefined);
    });
  };

/** Ends the session of that place in the list somebody is shown. */
export const revoke =
  (number: number, place: number): Step =>
  async (model, { subject }) => {
    const session = model.pick(number);
    if (session === undefined) return;
    const headers = bearerOf(session);
    let victim: ModelSession | undefined;
    await asOwner(
      model,
      session,
      () => subject.get('/user/sessions', headers),
      ({ body }) => {
        const shown = (body['sessions'] as { id: string }[]).map(({ id }) => id);
        const living = model.living();
        expect(new Set(shown)).toEqual(new Set(living.map(({ id }) => id)));
        victim = living[place % Math.max(1, living.length)];
      },
    );
    if (victim === undefined) return;
    const answer = await subject.send('DELETE', `/user/sessions/${victim.id}`, undefined, headers);
    expect(answer.status).toBe(204);
    victim.gone = true;
  };

/** Takes another password: every other session ends. */
export const changePassword =
  (number: number): Step =>
  async (model, { subject }) => {
    const session = model.pick(number);
    if (session === undefined) return;
    const password = model.nextPassword();
    const ask = () => subject.send('PUT', '/user', JSON.stringify({ password }), bearerOf(session));
    await asOwner(model, session, ask, ({ status }) => {
      expect(status).toBe(200);
      model.password = password;
      model.endAll(session);
    });
  };

/** Bans, or lifts the ban with 0. */
export const ban =
  (minutes: number): Step =>
  async (model, { subject, id }) => {
    const duration = minutes === 0 ? 'none' : `${minutes}m`;
    const body = JSON.stringify({ ban_duration: duration });
    const answer = await subject.send('PUT', `/admin/users/${id}`, body, serviceRole(subject));
    expect(answer.status).toBe(200);
    model.bannedUntil = model.now + minutes * 60_000;
  };

/** Time passes. */
export const wait =
  (minutes: number): Step =>
  async (model, { subject }) => {
    subject.clock.advance(minutes * 60_000);
    model.now += minutes * 60_000;
  };

/** What the tables say: a row for each session that was not signed out, one family each, and which of them ended. */
export async function compare(model: SessionModel, { subject, id }: Person): Promise<void> {
  const rows = await subject.rows.autocommit().rows<{ id: string; families: number; revoked: boolean }>`
    select s.id, count(t.session_id) as families, coalesce(bool_or(t.revoked_at is not null), false) as revoked
    from :schema.sessions s left join :schema.refresh_tokens t on t.session_id = s.id
    where s.user_id = ${id}::uuid group by s.id`;
  const told = model.sessions
    .filter(({ gone }) => !gone)
    .map((one) => ({ id: one.id, families: 1, revoked: one.revoked }));
  expect(new Set(rows)).toEqual(new Set(told));
}

/** At the end every token there ever was does what it must, and nothing that ended came back. */
export async function tryEverything(model: SessionModel, person: Person): Promise<void> {
  for (const session of model.sessions) {
    const ended = session.gone || session.revoked || model.isOver(session) || model.banned;
    if (ended) {
      for (const token of session.tokens) expect((await refreshWith(person, token)).status).toBe(400);
    }
    const admitted = (await person.subject.get('/user', bearerOf(session))).status;
    expect(admitted).toBe(model.admits(session) ? 200 : 403);
  }
  await compare(model, person);
}
