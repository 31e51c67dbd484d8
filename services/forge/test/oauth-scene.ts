import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { type Person, type Reply, request, type Scene } from './forge.ts';

/** A program to which people sign in. */
export interface Program {
  id: number;
  client_id: string;
  client_secret: string;
  redirectUri: string;
}

/** What a program asks for, by the names of RFC 6749. */
export type Asked = Record<string, string>;

/** Tokens, or why there are none. */
export interface TokenReply {
  status: number;
  headers: Headers;
  body: Record<string, string>;
}

/** Steps of signing in to a program, as browsers and programs take them. */
export function oauthSteps(scene: Scene) {
  const at = (path: string) => `${scene.address}/login/oauth/${path}`;
  const form = (fields: Asked) => new URLSearchParams(fields).toString();
  const send = (path: string, fields: Asked, headers: Record<string, string> = {}) =>
    fetch(at(path), {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: form(fields),
    });

  const steps = {
    /** Registers a program of somebody's. */
    async program(owner: Person, wish: object = {}): Promise<Program> {
      const redirectUri = 'https://ci.example/authorize';
      const body = { name: 'CI', confidential_client: true, redirect_uris: [redirectUri], ...wish };
      const made = await owner.call('POST', '/user/applications/oauth2', body);
      expect(made.status).toBe(201);
      return { ...(made.body as unknown as Omit<Program, 'redirectUri'>), redirectUri };
    },
    question: (program: Program, more: Asked = {}): Asked => ({
      client_id: program.client_id,
      redirect_uri: program.redirectUri,
      response_type: 'code',
      state: 'of mine',
      ...more,
    }),
    /** What a browser shows. */
    open: (asked: Asked) => fetch(`${at('authorize')}?${form(asked)}`, { redirect: 'manual' }),
    /** A person presses a button. */
    press: (
      asked: Asked,
      who: { user_name: string; password: string },
      decision = 'allow',
      headers: Record<string, string> = {},
    ) => send('grant', { ...asked, ...who, decision }, headers),
    /** The code that somebody gives. */
    async code(asked: Asked, person: Person): Promise<string> {
      const answer = await steps.press(asked, { user_name: person.name, password: person.token });
      expect(answer.status).toBe(200);
      return (await onwardOf(answer))?.searchParams.get('code') ?? '';
    },
    /** What a program gets for what it presents. */
    async exchange(fields: Asked, headers: Record<string, string> = {}): Promise<TokenReply> {
      const answer = await send('access_token', fields, headers);
      return {
        status: answer.status,
        headers: answer.headers,
        body: (await answer.json()) as Record<string, string>,
      };
    },
    /** The fields with which a program presents a code. */
    presented: (program: Program, code: string): Asked => ({
      grant_type: 'authorization_code',
      client_id: program.client_id,
      client_secret: program.client_secret,
      redirect_uri: program.redirectUri,
      code,
    }),
    /** From the question to the tokens. */
    async signIn(program: Program, person: Person, more: Asked = {}): Promise<Record<string, string>> {
      const code = await steps.code(steps.question(program, more), person);
      const { status, body } = await steps.exchange(steps.presented(program, code));
      expect(status).toBe(200);
      return body;
    },
    refresh: (program: Program, token: string | undefined, scope = '') =>
      steps.exchange({
        grant_type: 'refresh_token',
        client_id: program.client_id,
        client_secret: program.client_secret,
        refresh_token: token ?? '',
        scope,
      }),
    /** Whom a token belongs to. */
    whoIs: (token: string | undefined): Promise<Reply> =>
      request(`${scene.address}/api/v1/user`, 'GET', undefined, { authorization: `Bearer ${token}` }),
  };
  return steps;
}

/** Where a page leads by itself. */
export async function onwardOf(answer: Response): Promise<URL | undefined> {
  const html = await answer.text();
  const [, target] = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(html) ?? [];
  return target === undefined ? undefined : new URL(target.replaceAll('&amp;', '&'));
}

/** A verifier and the challenge that is made of it (RFC 7636). */
export function pkce(): { verifier: string; asked: Asked } {
  const verifier = randomBytes(48).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, asked: { code_challenge: challenge, code_challenge_method: 'S256' } };
}
