import { randomInt } from 'node:crypto';
import { GoTrueClient, type Session, type User } from '@supabase/auth-js';
import { expect } from 'vitest';
import { PASSWORD, someone } from '../harness.ts';
import type { Fleet, Server } from './fleet.ts';
import { noting } from './surface.ts';

export type Flow = 'implicit' | 'pkce';

/** A redirect that was not followed. */
export interface Redirect {
  status: number;
  target: URL;
  fragment: URLSearchParams;
  cookie: string;
}

/** What a test of one method has: clients of one server, and people. */
export interface Here {
  fleet: Fleet;
  server: Server;
  flow: Flow;
  /** A device on which nobody is signed in. */
  auth: GoTrueClient;
  /** A server of the operator's own. */
  admin: GoTrueClient;
  /** A further device. */
  readonly device: () => GoTrueClient;
  /** Somebody with a proven address. */
  readonly person: (fields?: { phone?: string }) => Promise<User & { email: string }>;
  /** Somebody who is signed in on `auth`. */
  readonly signedIn: () => Promise<{ user: User & { email: string }; session: Session }>;
}

/** A test of a method, to be run on every server. */
export type Case = (here: Here) => Promise<void>;
/** Tests by the method they are about. */
export type Cases = Readonly<Record<string, Case>>;

export function makeHere(fleet: Fleet, server: Server, flow: Flow, called: Set<string>): Here {
  const device = (headers?: Record<string, string>): GoTrueClient =>
    noting(
      new GoTrueClient({
        url: server.url,
        flowType: flow,
        autoRefreshToken: false,
        // Nothing is shared with other devices of this process.
        storageKey: `device-${randomInt(2 ** 40)}`,
        experimental: { recoveryCodes: true },
        ...(headers === undefined ? {} : { headers }),
      }),
      called,
    );
  const [auth, admin] = [device(), device({ Authorization: `Bearer ${fleet.serviceToken}` })];
  const person: Here['person'] = async (fields = {}) => {
    const email = someone();
    const made = await admin.admin.createUser({
      email,
      password: PASSWORD,
      email_confirm: true,
      ...(fields.phone === undefined ? {} : { phone: fields.phone, phone_confirm: true }),
    });
    if (made.error !== null) throw made.error;
    return { ...made.data.user, email };
  };
  return {
    fleet,
    server,
    flow,
    auth,
    admin,
    device: () => device(),
    person,
    signedIn: async () => {
      const user = await person();
      const { data, error } = await auth.signInWithPassword({ email: user.email, password: PASSWORD });
      if (error !== null) throw error;
      return { user, session: data.session };
    },
  };
}

/** An answer of the library: it has either an error or what was asked for. */
interface Answered {
  data: unknown;
  error: unknown;
}
type Brought<Answer extends Answered> = NonNullable<Extract<Answer, { error: null }>['data']>;

/** What a call that must succeed brought. */
export function good<Answer extends Answered>(answer: Answer): Brought<Answer> {
  expect(answer.error).toBeNull();
  if (answer.data === null || answer.data === undefined) throw new Error('there is no data');
  return answer.data as Brought<Answer>;
}

/** A refusal as the library shows it. */
export function refused(answer: { error: unknown }, status: number, code: string): void {
  expect(answer.error).toMatchObject({ status, code });
}

/** Opens an address, or sends a form there, as a browser does, up to the redirect. */
export async function open(url: string | URL, cookie = '', form?: URLSearchParams): Promise<Redirect> {
  const answer = await fetch(url, {
    redirect: 'manual',
    ...(cookie === '' ? {} : { headers: { cookie } }),
    ...(form === undefined ? {} : { method: 'POST', body: form }),
  });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`${answer.status} ${await answer.text()}`);
  const target = new URL(location);
  return {
    status: answer.status,
    target,
    fragment: new URLSearchParams(target.hash.slice(1)),
    cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '',
  };
}

/** Signs a device in with what a redirect brought, the way of its flow; nothing else may have come. */
export async function arrive(
  { flow }: Here,
  auth: GoTrueClient,
  { target, fragment }: Redirect,
): Promise<Session> {
  if (flow === 'pkce') {
    expect(fragment.has('access_token')).toBe(false);
    return sessionOf(good(await auth.exchangeCodeForSession(target.searchParams.get('code') ?? '')));
  }
  expect(target.searchParams.has('code')).toBe(false);
  const tokens = {
    access_token: fragment.get('access_token') ?? '',
    refresh_token: fragment.get('refresh_token') ?? '',
  };
  return sessionOf(good(await auth.setSession(tokens)));
}

/** The session of an answer that must have one. */
export function sessionOf(data: { session: Session | null }): Session {
  if (data.session === null) throw new Error('there is no session');
  return data.session;
}

/** A number nobody has, of those that are for stories. */
export function somebodysNumber(): string {
  return `1555${String(randomInt(10_000_000)).padStart(7, '0')}`;
}
