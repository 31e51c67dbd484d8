import { createHash, randomBytes } from 'node:crypto';
import type { ProviderId } from '../../src/rules/external/provider-ids.ts';
import { type Answer, bearer, type Subject } from '../harness.ts';
import { comeBack, type Redirected, redirected } from './external-flow.ts';
import type { BroughtBack, ProviderEmulator } from './provider-emulator.ts';

/** A verifier and its challenge, as a client makes them. */
export function pkce(): { verifier: string; challenge: Record<string, string> } {
  const verifier = randomBytes(32).toString('hex');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, challenge: { code_challenge, code_challenge_method: 's256' } };
}

/** Begins to link as somebody, following the redirect as a browser does. */
export async function leaveLinking(
  subject: Subject,
  session: Answer,
  provider: ProviderId,
  parameters: Record<string, string> = {},
): Promise<Redirected> {
  const query = new URLSearchParams({ provider, ...parameters });
  const url = `/user/identities/authorize?${query.toString()}`;
  const answer = redirected(await subject.app.inject({ method: 'GET', url, headers: bearer(session) }));
  if (answer.status !== 302)
    throw new Error(`GET /user/identities/authorize: ${answer.status} ${answer.body}`);
  return answer;
}

/** Links an account of a provider, in one browser. */
export async function link(
  subject: Subject,
  emulator: ProviderEmulator,
  session: Answer,
  provider: ProviderId,
): Promise<Redirected> {
  const left = await leaveLinking(subject, session, provider);
  return await comeBack(subject, emulator.agree(left.location), left.cookie);
}

/** The page that asks before it links, as a browser sees it. */
export interface Asked {
  html: string;
  policy: string;
  cookie: string;
  setCookie: string;
  /** What its button sends. */
  fields: Record<string, string>;
}

/** Comes back without the cookie of the flow, to be asked. */
export async function comeBackUnknown(subject: Subject, back: BroughtBack): Promise<Asked> {
  const query = new URLSearchParams(back.fields).toString();
  const answer =
    back.method === 'GET'
      ? await subject.app.inject({ method: 'GET', url: `/callback?${query}` })
      : await subject.app.inject({
          method: 'POST',
          url: '/callback',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          payload: query,
        });
  if (answer.statusCode !== 200)
    throw new Error(`/callback: ${answer.statusCode} ${answer.headers.location}`);
  const setCookie = String(answer.headers['set-cookie']);
  const inputs = [...answer.body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return {
    html: answer.body,
    policy: String(answer.headers['content-security-policy']),
    cookie: setCookie.split(';')[0] ?? '',
    setCookie,
    fields: Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, unescaped(value)])),
  };
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Presses the button of the page, and goes on with the browser. */
export async function press(
  subject: Subject,
  fields: Record<string, string>,
  cookie: string,
): Promise<Redirected> {
  const answer = await comeBack(subject, { method: 'POST', fields }, cookie);
  const onward = onwardOf(answer.body);
  if (onward === undefined) return answer;
  return redirected({
    statusCode: answer.status,
    headers: { 'set-cookie': answer.setCookie, location: onward },
    body: answer.body,
  });
}

/** Where a page leads by itself. */
export function onwardOf(html: string): string | undefined {
  const target = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(html)?.[1];
  return target === undefined ? undefined : unescaped(target);
}

/** The identities of whoever is signed in, by their provider. */
export async function identitiesOf(subject: Subject, session: Answer): Promise<Record<string, string>> {
  const { identities } = (await subject.get('/user', bearer(session))).body;
  const list = identities as { provider: string; identity_id: string }[];
  return Object.fromEntries(list.map(({ provider, identity_id: id }) => [provider, id]));
}

/** Unlinks one. */
export function unlink(subject: Subject, session: Answer, identityId: string): Promise<Answer> {
  return subject.send('DELETE', `/user/identities/${identityId}`, undefined, bearer(session));
}
