import { type Answer, ask, objectOf, textOf } from '../answers.ts';
import { type Client, ProviderRefused, type Step } from '../provider.ts';
import { remembered } from '../remembered.ts';

/** Where an OpenID provider is talked to. */
export interface Endpoints {
  issuer: string;
  authorize: string;
  token: string;
  /** The JWK set. */
  keys: string;
}

/**
 * Endpoints as `<base>/.well-known/openid-configuration` tells them; without a base the usual ones.
 * What it tells is another server's word: an address on another host must be https, and `OutgoingHttp` only goes
 * there when the host is public.
 */
export function discover(
  client: Client,
  base: string | undefined,
  usual: Endpoints,
): (step: Step, signal: AbortSignal) => Promise<Endpoints> {
  if (base === undefined) return async () => usual;
  const find = remembered(client.clock, async (signal) => {
    const told = await askDocument(client, base, signal);
    return {
      issuer: issuerIn(told),
      authorize: acceptable(told['authorization_endpoint'], base),
      token: acceptable(told['token_endpoint'], base),
      keys: acceptable(told['jwks_uri'], base),
    };
  });
  return async (step, signal) => {
    try {
      return await find(signal);
    } catch (error) {
      throw error instanceof ProviderRefused ? new ProviderRefused(step, error.message, error) : error;
    }
  };
}

/**
 * Where the keys of an issuer are, of which nothing else is asked (OpenID Connect Discovery §4.3: the document must
 * name the very issuer it was asked about).
 */
export function discoverKeys(client: Client, issuer: string): (signal: AbortSignal) => Promise<string> {
  const base = issuer.replace(/\/$/, '');
  return remembered(client.clock, async (signal) => {
    const told = await askDocument(client, base, signal);
    if (issuerIn(told) !== issuer)
      throw new ProviderRefused('keys', 'the discovery document is of another issuer');
    return acceptable(told['jwks_uri'], base);
  });
}

async function askDocument(client: Client, base: string, signal: AbortSignal): Promise<Answer> {
  return objectOf(await ask(client.http, 'keys', `${base}/.well-known/openid-configuration`, {}, signal));
}

function issuerIn(told: Answer): string {
  const issuer = textOf(told['issuer']);
  if (issuer === '') throw new ProviderRefused('keys', 'the discovery document has no issuer');
  return issuer;
}

function acceptable(told: unknown, base: string): string {
  const url = URL.parse(textOf(told));
  const isAcceptable = url !== null && (url.origin === new URL(base).origin || url.protocol === 'https:');
  if (!isAcceptable || url.username !== '' || url.password !== '') {
    throw new ProviderRefused('keys', 'the discovery document names an endpoint that cannot be used');
  }
  return url.href;
}
