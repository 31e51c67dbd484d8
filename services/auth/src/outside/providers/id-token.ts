import { type Answer, objectOf, textOf } from './answers.ts';
import type { Described } from './profile.ts';
import { type Client, ProviderRefused } from './provider.ts';
import type { Keys } from './remote-keys.ts';
import { isAccepted, isSignedBy } from './signature-algorithms.ts';

/** Whose id_tokens are believed. */
export interface Trusted {
  /** Whether a token may come from this issuer; some name the tenant, which another claim tells. */
  isIssuer(issuer: string, claims: Answer): boolean;
  keys: Keys;
}

/** The id_tokens of one provider. */
export interface IdTokens {
  /** @throws ProviderRefused when the provider has to be asked for it and does not tell */
  trusted(signal: AbortSignal): Promise<Trusted> | Trusted;
  /** Who their claims speak of. @throws ProviderRefused when that is nobody */
  describe(claims: Answer): Described;
}

/** A token whose signature is good. */
export interface ReadToken {
  claims: Answer;
  alg: unknown;
}

/** Two clocks may differ by so much. */
const LEEWAY_SECONDS = 60;
const MAX_TOKEN_CHARACTERS = 32 * 1024;

/**
 * The claims of an id_token of the code flow (OpenID Connect Core §3.1.3.7), meant for this client.
 * @param nonce what was sent along with the authorize request; undefined where PKCE binds the code instead
 * @throws ProviderRefused saying which check failed
 */
export async function verifyIdToken(
  token: unknown,
  client: Client,
  trusted: Trusted,
  nonce: string | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const { claims } = await readIdToken(token, client, trusted, signal);
  const audience: unknown[] = Array.isArray(claims['aud']) ? claims['aud'] : [claims['aud']];
  if (!audience.includes(client.id)) throw refused('is meant for another client');
  if (audience.length > 1 && claims['azp'] !== client.id) throw refused('was issued to another client');
  if (!client.skipNonceCheck && nonce !== undefined && claims['nonce'] !== nonce)
    throw refused('has another nonce');
  return claims;
}

/**
 * Reads an id_token, whoever it is meant for: its signature, issuer and times. The key decides which algorithm is
 * possible, never the token alone: a public key is no HMAC secret, and `none` is no algorithm.
 * @throws ProviderRefused saying which check failed
 */
export async function readIdToken(
  token: unknown,
  { clock }: Pick<Client, 'clock'>,
  trusted: Trusted,
  signal: AbortSignal,
): Promise<ReadToken> {
  const text = textOf(token);
  const [head = '', body = '', signature = '', ...more] = text.slice(0, MAX_TOKEN_CHARACTERS + 1).split('.');
  if (text.length > MAX_TOKEN_CHARACTERS || signature === '' || more.length > 0)
    throw refused('is missing or malformed');
  const { alg, crit, kid } = jsonPart(head);
  if (!isAccepted(alg)) throw refused('is signed with an algorithm we do not accept');
  if (crit !== undefined) throw refused('has a critical extension');
  const claims = jsonPart(body);
  // Before its keys are asked for: tokens of strangers lead to no request.
  if (!trusted.isIssuer(textOf(claims['iss']), claims)) throw refused('has another issuer');
  const key = await trusted.keys.find(textOf(kid), alg, signal);
  if (key === undefined) throw refused('is signed with an unknown key');
  if (!isSignedBy(key, alg, `${head}.${body}`, Buffer.from(signature, 'base64url')))
    throw refused('has a wrong signature');
  checkTimes(claims, clock.now().getTime() / 1000);
  return { claims, alg };
}

function checkTimes({ exp, iat, nbf }: Answer, now: number): void {
  if (typeof exp !== 'number' || exp <= now - LEEWAY_SECONDS) throw refused('has expired');
  if (typeof iat === 'number' && iat > now + LEEWAY_SECONDS) throw refused('is from the future');
  if (typeof nbf === 'number' && nbf > now + LEEWAY_SECONDS) throw refused('is not valid yet');
}

function jsonPart(part: string): Answer {
  try {
    return objectOf(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  } catch {
    throw refused('is malformed');
  }
}

function refused(reason: string): ProviderRefused {
  return new ProviderRefused('profile', `the id_token ${reason}`);
}
