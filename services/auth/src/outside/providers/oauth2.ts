import { createHash, randomBytes } from 'node:crypto';
import type { ProviderId } from '../../rules/external/provider-ids.ts';
import { type Answer, ask, objectOf, textOf, tokenOf } from './answers.ts';
import { type Client, type ExternalPerson, type Kept, type Provider, ProviderRefused } from './provider.ts';

/** What the person function of a provider works with: the tokens, and requests made with them. */
export interface Visit {
  accessToken: string;
  /** The whole answer of the token endpoint. */
  tokens: Answer;
  /** What the browser brought besides the code. */
  form: Readonly<Record<string, string>>;
  kept: Kept;
  /** Asks for JSON with the access token. @throws ProviderRefused */
  get: (url: string, headers?: Readonly<Record<string, string>>) => Promise<unknown>;
  signal: AbortSignal;
}

/** What is special about a provider that speaks OAuth 2. */
export interface OAuth2 {
  /** Both may have to be asked for; @throws ProviderRefused */
  endpoints(
    signal: AbortSignal,
  ): Promise<{ authorize: string; token: string }> | { authorize: string; token: string };
  scopes: readonly string[];
  /** Whether the application may ask for more. */
  fixedScopes?: boolean;
  /** Where the token endpoint wants id and secret. */
  secretIn: 'header' | 'body';
  /** The secret, if it is not simply the configured one. */
  secret?: () => string;
  /** Whether the provider knows PKCE (RFC 7636); others ignore it at best. */
  pkce?: boolean;
  /** Whether it repeats a nonce in its id_token. */
  nonce?: boolean;
  answersBy?: 'redirect' | 'form';
  /** Parameters of the authorize request besides those of OAuth. */
  parameters?: Readonly<Record<string, string>>;
  /** What of the application's own parameters is passed on; everything by default. */
  passOn?: (given: ReadonlyMap<string, string>) => ReadonlyMap<string, string>;
  person(visit: Visit): Promise<Omit<ExternalPerson, 'tokens'>>;
}

/** The code flow of OAuth 2 (RFC 6749 §4.1) with a provider. */
export function oauth2(id: ProviderId, emailOptional: boolean, client: Client, special: OAuth2): Provider {
  return {
    id,
    emailOptional,
    answersBy: special.answersBy ?? 'redirect',
    async begin({ state, scopes, passthrough }, signal) {
      const { authorize } = await special.endpoints(signal);
      const kept: Record<string, string> = {};
      const query = new URLSearchParams([...(special.passOn?.(passthrough) ?? passthrough)]);
      if (special.nonce === true) {
        const nonce = query.get('nonce') || randomBytes(16).toString('base64url');
        query.set('nonce', nonce);
        kept['nonce'] = nonce;
      }
      if (special.pkce === true) {
        const verifier = randomBytes(32).toString('base64url');
        query.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'));
        query.set('code_challenge_method', 'S256');
        kept['verifier'] = verifier;
      }
      const asked = new Set([...special.scopes, ...(special.fixedScopes === true ? [] : scopes)]);
      if (asked.size > 0) query.set('scope', [...asked].join(' '));
      const own = {
        ...special.parameters,
        response_type: 'code',
        client_id: client.id,
        redirect_uri: client.redirectUri,
        state,
      };
      for (const [name, value] of Object.entries(own)) query.set(name, value);
      const url = new URL(authorize);
      // Written once: each `set` of an address writes all of it anew.
      url.search = new URLSearchParams([
        ...[...url.searchParams].filter(([name]) => !query.has(name)),
        ...query,
      ]).toString();
      return { url: url.href, kept };
    },
    async finish({ code, form, kept }, signal) {
      const { token } = await special.endpoints(signal);
      const tokens = objectOf(
        await ask(client.http, 'exchange', token, tokenRequest(client, special, code, kept), signal),
      );
      const accessToken = tokenOf(tokens['access_token'], 'exchange');
      // Several providers answer a refusal with status 200.
      if (accessToken === '') throw new ProviderRefused('exchange', refusalIn(tokens));
      const get: Visit['get'] = (url, headers = {}) =>
        ask(
          client.http,
          'profile',
          url,
          { headers: { ...headers, authorization: `Bearer ${accessToken}` } },
          signal,
        );
      const person = await special.person({ accessToken, tokens, form, kept, get, signal });
      const refresh = tokenOf(tokens['refresh_token'], 'exchange');
      return { ...person, tokens: { access: accessToken, refresh: refresh === '' ? undefined : refresh } };
    },
  };
}

function tokenRequest(client: Client, special: OAuth2, code: string, kept: Kept) {
  const verifier = kept['verifier'];
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    ...(verifier === undefined ? {} : { code_verifier: verifier }),
  };
  const secret = special.secret?.() ?? client.secret;
  if (special.secretIn === 'body') return { form: { ...form, client_id: client.id, client_secret: secret } };
  return { form, basic: { user: formEncoded(client.id), password: formEncoded(secret) } };
}

/** In the header both are encoded like a form's values (RFC 6749 §2.3.1). */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

function refusalIn(tokens: Answer): string {
  const error = textOf(tokens['error']).slice(0, 64);
  return error === '' ? 'the answer has no access token' : `the provider refused the code: ${error}`;
}
