import { GoTrueClient, type Session, type User } from '@supabase/auth-js';
import { expect } from 'vitest';
import { PASSWORD, someone } from '../support/people.ts';
import type { Server } from './fleet.ts';
import type { Outside } from './outside.ts';
import { noting } from './surface.ts';

// Everything here and in the cases runs in Node and in a browser.

/** The ways a session comes back to the application, each run through by every test. */
export const flows = ['implicit', 'pkce'] as const;
export type Flow = (typeof flows)[number];

/** What a test is run with; as data, to be handed to a browser. */
export interface Circumstances {
  server: Server;
  flow: Flow;
  /** Where links of mails and providers lead to. */
  app: string;
  serviceToken: string;
  /** See `hiddenNames`. */
  hidden: readonly string[];
}

/** What a test of one method has: clients of one server, and people. */
export interface Here {
  server: Server;
  flow: Flow;
  app: string;
  outside: Outside;
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

/** Sets a test up; the methods it calls are noted. */
export function makeHere(
  { server, flow, app, serviceToken, hidden }: Circumstances,
  outside: Outside,
  called: Set<string>,
): Here {
  const device = (headers?: Record<string, string>): GoTrueClient =>
    noting(
      new GoTrueClient({
        url: server.url,
        flowType: flow,
        autoRefreshToken: false,
        // Nothing is shared with other devices of this process or page.
        storageKey: `device-${crypto.randomUUID()}`,
        experimental: { recoveryCodes: true },
        ...(headers === undefined ? {} : { headers }),
      }),
      hidden,
      called,
    );
  const [auth, admin] = [device(), device({ Authorization: `Bearer ${serviceToken}` })];
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
    server,
    flow,
    app,
    outside,
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

/** What stands behind the `#` of an address. */
export function fragmentOf(target: URL): URLSearchParams {
  return new URLSearchParams(target.hash.slice(1));
}

/** Signs a device in with what a redirect brought, the way of its flow; nothing else may have come. */
export async function arrive({ flow }: Here, auth: GoTrueClient, target: URL): Promise<Session> {
  const fragment = fragmentOf(target);
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
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `1555${String(random % 10_000_000).padStart(7, '0')}`;
}

/** A text as parts of tokens are written. */
export function base64url(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** What was written so. */
export function bytesOf(encoded: string): Uint8Array {
  const text = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
