import { accessTokens } from '@croft/access-token';
import type fc from 'fast-check';
import { expect } from 'vitest';
import { JWT_SECRET, PASSWORD, type Subject } from '../harness.ts';
import { app as authenticator } from './second-factors.ts';

// Sessions and factors of one person in a few lines, and what each request does to them.

const DAY_MS = 86_400_000;
/** So long a refresh token that a proof replaced is late, and no reuse. */
const LATE_MS = 30_000;

/** A factor as its owner has it. */
export interface Factor {
  id: string;
  secret: string;
  verified: boolean;
  /** The code that was accepted last. */
  used: string | undefined;
}
/** A session as its client has it. */
export interface Session {
  access: string;
  refresh: string;
  /** Tokens of before it was raised. */
  stale: string | undefined;
  staleAccess: string | undefined;
  raisedAt: number;
  raisedBy: Factor | undefined;
  revoked: boolean;
}
/** What there should be. */
export interface Model {
  factors: Factor[];
  sessions: Session[];
  /** Sessions that ended; their tokens are tried as well. */
  ended: Session[];
}
/** The service, and somebody who uses it. */
export class Person {
  readonly subject: Subject;
  readonly origin: string;
  readonly userId: string;
  readonly email: string;
  /** What was answered and how often: a run that met nothing of interest must fail. */
  readonly seen: Map<string, number>;
  constructor(
    service: { subject: Subject; origin: string; seen: Map<string, number> },
    user: { userId: string; email: string },
  ) {
    this.subject = service.subject;
    this.origin = service.origin;
    this.seen = service.seen;
    this.userId = user.userId;
    this.email = user.email;
  }

  async request(method: string, path: string, body?: unknown, token?: string) {
    const answer = await fetch(this.origin + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const place = path.replace(/[0-9a-f-]{36}/, ':id').replace(/\?.*/, '');
    const what = `${method} ${place} ${answer.status}`;
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  }

  claims(token: string) {
    return accessTokens(JWT_SECRET, () => this.subject.clock.now().getTime()).verify(token);
  }
}

const isGuarded = (model: Model) => model.factors.some(({ verified }) => verified);
const end = (model: Model, isOver: (session: Session) => boolean) => {
  model.ended.push(...model.sessions.filter(isOver));
  model.sessions = model.sessions.filter((session) => !isOver(session));
};

/** Whom a command means: somebody of those there are, by a number. */
function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)];
}
const anySession = (model: Model, index: number) => pick([...model.sessions, ...model.ended], index);

function mustAnswer(answer: { status: number }, status: number): void {
  expect(answer.status).toBe(status);
}

function mustShow(person: Person, token: string, aal: string): void {
  expect(person.claims(token)['aal']).toBe(aal);
}

/** What the tables say must be what the model says. */
async function compare(model: Model, person: Person): Promise<void> {
  const rows = await person.subject.rows.autocommit().row<{
    factors: object;
    shown: object;
    sessions: object;
    odd: number;
  }>`
    select (select coalesce(jsonb_object_agg(f.id, f.status), '{}') from :schema.mfa_factors f where f.user_id = u.id) as factors,
      (select coalesce(jsonb_object_agg(one ->> 'id', one ->> 'status'), '{}') from jsonb_array_elements(u.factors) one) as shown,
      (select coalesce(jsonb_object_agg(s.id, s.aal), '{}') from :schema.sessions s where s.user_id = u.id) as sessions,
      -- A level that nothing supports: no proven factor, or no claim of how it was reached.
      (select count(*) from :schema.sessions s where s.user_id = u.id and (s.aal = 'aal2') is distinct from (
        exists (select from :schema.mfa_factors f where f.id = s.factor_id and f.status = 'verified')
        and exists (select from :schema.mfa_amr_claims c where c.session_id = s.id and c.authentication_method = 'totp'))) as odd
    from :schema.users u where u.id = ${person.userId}::uuid`;
  const status = ({ verified }: Factor) => (verified ? 'verified' : 'unverified');
  const factors = Object.fromEntries(model.factors.map((one) => [one.id, status(one)]));
  const sessions = Object.fromEntries(
    model.sessions.map((one) => [person.claims(one.access)['session_id'], one.raisedBy ? 'aal2' : 'aal1']),
  );
  expect(rows).toEqual({ factors, shown: factors, sessions, odd: 0 });
}

abstract class Command implements fc.AsyncCommand<Model, Person> {
  readonly session: number;
  readonly factor: number;
  constructor(session: number, factor: number) {
    this.session = session;
    this.factor = factor;
  }
  check(): boolean {
    return true;
  }
  async run(model: Model, person: Person): Promise<void> {
    await this.act(model, person);
    await compare(model, person);
  }
  abstract act(model: Model, person: Person): Promise<void>;
  toString(): string {
    return `${this.constructor.name}(${this.session}, ${this.factor})`;
  }
}

class SignIn extends Command {
  async act(model: Model, person: Person): Promise<void> {
    const answer = await person.request('POST', '/token?grant_type=password', {
      email: person.email,
      password: PASSWORD,
    });
    mustAnswer(answer, 200);
    const access = String(answer.body['access_token']);
    mustShow(person, access, 'aal1');
    const refresh = String(answer.body['refresh_token']);
    const unused = {
      stale: undefined,
      staleAccess: undefined,
      raisedAt: 0,
      raisedBy: undefined,
      revoked: false,
    };
    model.sessions.push({ access, refresh, ...unused });
  }
}

class Enrol extends Command {
  async act(model: Model, person: Person): Promise<void> {
    const session = anySession(model, this.session);
    if (session === undefined) return;
    const answer = await person.request('POST', '/factors', { factor_type: 'totp' }, session.access);
    if (!model.sessions.includes(session) || (isGuarded(model) && !session.raisedBy)) {
      return mustAnswer(answer, 403);
    }
    if (model.factors.length === 4) return mustAnswer(answer, 422);
    mustAnswer(answer, 200);
    const { secret } = answer.body['totp'] as { secret: string };
    model.factors.push({ id: String(answer.body['id']), secret, verified: false, used: undefined });
  }
}

/** Proves a factor with a code that is right, wrong or was used before. */
class Prove extends Command {
  kind: 'right' | 'wrong' | 'used' = 'right';
  async act(model: Model, person: Person): Promise<void> {
    const [session, factor] = [anySession(model, this.session), pick(model.factors, this.factor)];
    if (session === undefined || factor === undefined) return;
    const path = `/factors/${factor.id}`;
    const challenge = await person.request('POST', `${path}/challenge`, {}, session.access);
    if (!model.sessions.includes(session)) return mustAnswer(challenge, 403);
    mustAnswer(challenge, 200);
    const code = this.code(factor, person.subject);
    const body = { challenge_id: challenge.body['id'], code };
    const answer = await person.request('POST', `${path}/verify`, body, session.access);
    const isForeign = !factor.verified && isGuarded(model) && !session.raisedBy;
    if (isForeign) return mustAnswer(answer, 403);
    if (this.kind !== 'right' || session.revoked) {
      mustAnswer(answer, 422);
      return person.subject.clock.advance(DAY_MS);
    }
    mustAnswer(answer, 200);
    factor.verified = true;
    factor.used = code;
    if (person.claims(session.access)['aal'] === 'aal1') session.staleAccess = session.access;
    session.raisedBy = factor;
    session.raisedAt = person.subject.clock.now().getTime();
    session.stale = session.refresh;
    session.access = String(answer.body['access_token']);
    session.refresh = String(answer.body['refresh_token']);
    mustShow(person, session.access, 'aal2');
    model.factors = model.factors.filter(({ verified }) => verified);
    end(model, (one) => one.raisedBy === undefined);
  }
  code(factor: Factor, subject: Subject): string {
    if (this.kind === 'wrong') return authenticator(subject, factor.secret).wrong();
    if (this.kind === 'used') return factor.used ?? 'none';
    // The next step: codes of this one may have been used.
    subject.clock.advance(60_000);
    return authenticator(subject, factor.secret).code();
  }
}
class ProveWrong extends Prove {
  override kind = 'wrong' as const;
}
class ProveUsed extends Prove {
  override kind = 'used' as const;
}

class Unenrol extends Command {
  async act(model: Model, person: Person): Promise<void> {
    const [session, factor] = [anySession(model, this.session), pick(model.factors, this.factor)];
    if (session === undefined || factor === undefined) return;
    const answer = await person.request('DELETE', `/factors/${factor.id}`, undefined, session.access);
    if (!model.sessions.includes(session)) return mustAnswer(answer, 403);
    if (factor.verified && !session.raisedBy) return mustAnswer(answer, 422);
    mustAnswer(answer, 200);
    model.factors = model.factors.filter((one) => one !== factor);
    for (const one of model.sessions) if (one.raisedBy === factor) one.raisedBy = undefined;
  }
}

class Refresh extends Command {
  async act(model: Model, person: Person): Promise<void> {
    const session = anySession(model, this.session);
    if (session === undefined) return;
    const body = { refresh_token: session.refresh };
    const answer = await person.request('POST', '/token?grant_type=refresh_token', body);
    if (!model.sessions.includes(session) || session.revoked) return mustAnswer(answer, 400);
    mustAnswer(answer, 200);
    session.access = String(answer.body['access_token']);
    session.refresh = String(answer.body['refresh_token']);
    mustShow(person, session.access, session.raisedBy ? 'aal2' : 'aal1');
  }
}

/** A thief of the refresh token of before, or a client that did not hear of the proof yet. */
class RefreshStale extends Command {
  async act(model: Model, person: Person): Promise<void> {
    const session = anySession(model, this.session);
    if (session?.stale === undefined) return;
    const answer = await person.request('POST', '/token?grant_type=refresh_token', {
      refresh_token: session.stale,
    });
    mustAnswer(answer, 400);
    if (person.subject.clock.now().getTime() - session.raisedAt >= LATE_MS) session.revoked = true;
  }
}

class ChangePassword extends Command {
  async act(model: Model, person: Person): Promise<void> {
    const session = anySession(model, this.session);
    const token = session?.raisedBy ? session.staleAccess : session?.access;
    if (session === undefined || token === undefined || !isGuarded(model)) return;
    const answer = await person.request('PUT', '/user', { password: 'the thief’s own' }, token);
    mustAnswer(answer, model.sessions.includes(session) ? 401 : 403);
  }
}

class LogOut extends Command {
  async act(model: Model, person: Person): Promise<void> {
    const session = anySession(model, this.session);
    if (session === undefined) return;
    const scope = (['local', 'others', 'global'] as const)[this.factor % 3];
    const answer = await person.request('POST', `/logout?scope=${scope}`, {}, session.access);
    if (!model.sessions.includes(session)) return mustAnswer(answer, 403);
    mustAnswer(answer, 204);
    end(model, (one) => scope === 'global' || (one === session) === (scope === 'local'));
  }
}

/** What somebody may do, the interesting things more often. */
export const commands = [
  SignIn,
  Enrol,
  Enrol,
  Prove,
  Prove,
  Prove,
  ProveWrong,
  ProveUsed,
  Unenrol,
  Refresh,
  RefreshStale,
  ChangePassword,
  LogOut,
];
