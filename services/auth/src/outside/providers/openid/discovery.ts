import { ask, objectOf, textOf } from '../answers.ts';
import { type Client, ProviderRefused, type Step } from '../provider.ts';

/** Where an OpenID provider is talked to. */
export interface Endpoints {
  issuer: string;
  authorize: string;
  token: string;
  /** The JWK set. */
  keys: string;
}

const LIFE_MS = 3_600_000;

/**
 * Endpoints as `<base>/.well-known/openid-configuration` tells them, kept for an hour; without a base the usual ones.
 * What it tells is another server's word: an address on another host must be https, and `OutgoingHttp` only goes
 * there when the host is public.
 */
export function discover(
  client: Client,
  base: string | undefined,
  usual: Endpoints,
): (step: Step, signal: AbortSignal) => Promise<Endpoints> {
  let found: { endpoints: Endpoints; at: number } | undefined;
  return async (step, signal) => {
    if (base === undefined) return usual;
    const now = client.clock.now().getTime();
    if (found !== undefined && now - found.at < LIFE_MS) return found.endpoints;
    const url = `${base}/.well-known/openid-configuration`;
    const told = objectOf(await ask(client.http, step, url, {}, signal));
    const endpoints = {
      issuer: textOf(told['issuer']),
      authorize: acceptable(told['authorization_endpoint'], base, step),
      token: acceptable(told['token_endpoint'], base, step),
      keys: acceptable(told['jwks_uri'], base, step),
    };
    if (endpoints.issuer === '') throw new ProviderRefused(step, 'the discovery document has no issuer');
    found = { endpoints, at: now };
    return endpoints;
  };
}

function acceptable(told: unknown, base: string, step: Step): string {
  const url = URL.parse(textOf(told));
  const isAcceptable = url !== null && (url.origin === new URL(base).origin || url.protocol === 'https:');
  if (!isAcceptable || url.username !== '' || url.password !== '') {
    throw new ProviderRefused(step, 'the discovery document names an endpoint that cannot be used');
  }
  return url.href;
}
