import { createHash } from 'node:crypto';
import * as failures from '../../failures.ts';

/** What comes with an ID token, and what it must be meant for. */
export interface Presentation {
  /** What the token's nonce is the hash of; the empty text when there is none. */
  nonce: string;
  /** The token of the provider that was issued along with it; the empty text when there is none. */
  accessToken: string;
  clientIds: readonly string[];
  /** Whether the issuer lets no client ask for tokens that are meant for somebody else's. */
  vouchesForParty: boolean;
  checksNonce: boolean;
}

/** A token whose signature, issuer and times are good. */
export interface GoodToken {
  claims: Readonly<Record<string, unknown>>;
  /** The hash that goes with the way it is signed. */
  hash: string;
}

/** However late it expires: what leaks after a day is worth nothing. */
const MAX_AGE_SECONDS = 24 * 3600;

/**
 * Whether an ID token that an application got by itself lets its bearer in (OpenID Connect Core §3.1.3.7): it must be
 * made for one of our clients, not long ago, and for whoever knows the nonce, which only its hash shows.
 * @throws Failure for the first check that fails
 */
export function checkPresented({ claims, hash }: GoodToken, presentation: Presentation, now: Date): void {
  const { sub, iat, at_hash: accessTokenHash } = claims;
  if (typeof sub !== 'string' || sub === '') throw failures.idTokenSubjectMissing();
  checkAudience(claims, presentation);
  if (presentation.checksNonce) checkNonce(claims['nonce'], presentation.nonce);
  if (typeof iat !== 'number' || iat <= now.getTime() / 1000 - MAX_AGE_SECONDS)
    throw failures.idTokenBad('it was issued too long ago');
  const { accessToken } = presentation;
  if (accessToken !== '' && accessTokenHash !== undefined && accessTokenHash !== halfHash(hash, accessToken))
    throw failures.idTokenBad('it was issued with another access token');
}

function checkAudience({ aud, azp }: GoodToken['claims'], presentation: Presentation): void {
  const { clientIds, vouchesForParty } = presentation;
  const audience = [aud].flat().filter((one) => typeof one === 'string');
  const isMeantForUs = audience.some((one) => clientIds.includes(one));
  if (!isMeantForUs) throw failures.idTokenAudience(audience);
  // Who asked for the token is one of ours as well: another client has it too, and could sign in with it here.
  const party = typeof azp === 'string' ? azp : '';
  const mattersWho = audience.length > 1 || (azp !== undefined && !vouchesForParty);
  if (mattersWho && !clientIds.includes(party))
    throw failures.idTokenAudience(party === '' ? audience : [party]);
}

function checkNonce(inToken: unknown, given: string): void {
  const has = typeof inToken === 'string' && inToken !== '';
  if (has !== (given !== '')) throw failures.idTokenNonceMissing();
  if (has && inToken !== createHash('sha256').update(given).digest('hex'))
    throw failures.idTokenNonceDiffers();
}

/** The left half of the hash (OpenID Connect Core §3.2.2.9). */
function halfHash(hash: string, text: string): string {
  const whole = createHash(hash).update(text).digest();
  return whole.subarray(0, whole.length / 2).toString('base64url');
}
