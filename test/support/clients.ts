import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endpoint, toFetch } from '@croft/endpoint';
import { capturedMails } from '@croft/testing';
import type { Croft, Place } from './croft.ts';

/** An answer of any of the HTTP services. */
export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed when it is JSON, otherwise the text. */
  body: unknown;
}

/** Calls auth the way its clients do: a path, a JSON body, perhaps a token. */
export async function auth(
  croft: Croft,
  method: string,
  path: string,
  body?: object,
  token?: string,
): Promise<Answer> {
  const response = await fetch(croft.auth + path, {
    method,
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return await read(response);
}

/** Calls forge through our own request builder. */
export function forgeClient(croft: Croft, authorization?: string) {
  const build = endpoint.defaults({
    baseUrl: `${croft.forge}/api/v1`,
    ...(authorization === undefined ? {} : { headers: { authorization } }),
  });
  return async (route: string, parameters: Record<string, unknown> = {}): Promise<Answer> => {
    const [url, init] = toFetch(build(route, parameters));
    return await read(await fetch(url, init));
  };
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as unknown) : text,
  };
}

/** The session a signed-in user holds. */
export interface Session {
  access_token: string;
  refresh_token: string;
}

/** Signs up with an address, opens the link of the captured mail, and signs in. */
export async function signUpByMail(
  croft: Croft,
  place: Place,
  email: string,
  password: string,
): Promise<Session> {
  const signedUp = await auth(croft, 'POST', '/signup', { email, password });
  if (signedUp.status !== 200)
    throw new Error(`sign-up answered ${signedUp.status}: ${JSON.stringify(signedUp.body)}`);
  const link = await confirmationLink(place, email);
  const verified = await fetch(link, { redirect: 'manual' });
  if (verified.status !== 303)
    throw new Error(`the link answered ${verified.status}: ${await verified.text()}`);
  const signedIn = await auth(croft, 'POST', '/token?grant_type=password', { email, password });
  if (signedIn.status !== 200)
    throw new Error(`sign-in answered ${signedIn.status}: ${JSON.stringify(signedIn.body)}`);
  return signedIn.body as Session;
}

/** The link in the newest mail to an address; mail leaves after the request, so it may take a moment. */
export async function confirmationLink(place: Place, email: string): Promise<string> {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(25)) {
    const mail = (await capturedMails(join(place.data, 'mail'))).findLast(({ headers }) =>
      headers.get('to')?.includes(email),
    );
    const link = mail === undefined ? null : /https?:\/\/\S*\/verify\?[^\s"<>]+/.exec(mail.text);
    if (link !== null) return link[0].replaceAll('&amp;', '&');
  }
  throw new Error(`no mail to ${email} arrived`);
}
