import { expect } from 'vitest';
import type { ProviderId } from '../../src/rules/external/provider-ids.ts';
import type { Subject } from '../harness.ts';
import type { BroughtBack, ProviderEmulator } from './provider-emulator.ts';

/** An answer that sends a browser on. */
export interface Redirected {
  status: number;
  location: string;
  /** `name=value` of the cookie it set, without attributes. */
  cookie: string;
  setCookie: string;
  body: string;
  query: URLSearchParams;
  fragment: URLSearchParams;
}

/** Opens GET /authorize. */
export async function leave(
  subject: Subject,
  provider: ProviderId,
  parameters: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Redirected> {
  const query = new URLSearchParams({ provider, ...parameters });
  const answer = await subject.app.inject({ method: 'GET', url: `/authorize?${query.toString()}`, headers });
  return redirected(answer);
}

/** Comes back to /callback, with or without the cookie. */
export async function comeBack(subject: Subject, back: BroughtBack, cookie: string): Promise<Redirected> {
  const fields = new URLSearchParams(back.fields).toString();
  const headers = cookie === '' ? {} : { cookie };
  const answer =
    back.method === 'GET'
      ? await subject.app.inject({ method: 'GET', url: `/callback?${fields}`, headers })
      : await subject.app.inject({
          method: 'POST',
          url: '/callback',
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
          payload: fields,
        });
  return redirected(answer);
}

/** A whole sign-in. */
export async function signInWith(
  subject: Subject,
  emulator: ProviderEmulator,
  provider: ProviderId,
  parameters: Record<string, string> = {},
): Promise<Redirected> {
  const left = await leave(subject, provider, parameters);
  if (left.status !== 302) throw new Error(`GET /authorize: ${left.status} ${left.body}`);
  return await comeBack(subject, emulator.agree(left.location), left.cookie);
}

export function redirected(answer: {
  statusCode: number;
  headers: Record<string, unknown>;
  body: string;
}): Redirected {
  const location = textIn(answer.headers['location']);
  const setCookie = textIn(answer.headers['set-cookie']);
  const [address = '', ...fragments] = location.split('#');
  return {
    status: answer.statusCode,
    location,
    setCookie,
    cookie: setCookie.split(';')[0] ?? '',
    body: answer.body,
    query: new URLSearchParams(address.split('?')[1] ?? ''),
    fragment: new URLSearchParams(fragments.at(-1) ?? ''),
  };
}

function textIn(header: unknown): string {
  return typeof header === 'string' ? header : '';
}

/** The browser is at the site and told why, in the query as in the fragment. */
export function isRefused(answer: Redirected, error: string, code: string, description: string): void {
  const told = { error, error_code: code, error_description: description };
  expect(Object.fromEntries(answer.query)).toEqual(told);
  expect(Object.fromEntries(answer.fragment)).toEqual({ ...told, sb: '' });
}

/** Who did what last, without what every entry has. */
export async function lastAuditOf(subject: Subject, count: number): Promise<object[]> {
  const rows = await subject.rows.autocommit().rows<{ entry: object }>`
    select jsonb_build_object('action', payload ->> 'action', 'traits', payload -> 'traits') as entry
    from :schema.audit_log_entries order by age(xmin), ctid desc limit ${count}`;
  return rows.map(({ entry }) => entry).toReversed();
}
