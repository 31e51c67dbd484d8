import { createHash, timingSafeEqual } from 'node:crypto';
import { invalidValue } from '../../failures.ts';
import type { CodeChallenge } from '../../rows.ts';

/**
 * The challenge of a request, if it has one (as in GoTrue).
 * @throws Failure `validation_failed` when it is half there or malformed
 */
export function readChallenge(fields: {
  code_challenge?: string | undefined;
  code_challenge_method?: string | undefined;
}): CodeChallenge | undefined {
  const { code_challenge: challenge = '', code_challenge_method: given = '' } = fields;
  if (challenge === '' && given === '') return undefined;
  if (challenge === '' || given === '')
    throw invalidValue('PKCE flow requires code_challenge_method and code_challenge');
  const method = given.toLowerCase();
  if (method !== 's256' && method !== 'plain') throw invalidValue('Invalid code_challenge_method');
  if (challenge.length < 43 || challenge.length > 128)
    throw invalidValue('code challenge has to be between 43 and 128 characters');
  if (!/^[A-Za-z0-9._~-]+$/.test(challenge))
    throw invalidValue(
      'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
    );
  return { challenge, method };
}

/** Whether a verifier is the one that the challenge was made of (RFC 7636 §4.6). */
export function fits(verifier: string, { challenge, method }: CodeChallenge): boolean {
  const made = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
  // Of equal length, as the comparison wants them.
  const [one, other] = [made, challenge].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

const PREFIX = 'pkce_';

/** How the token of a link says that it ends in a code; clients and servers tell it by that. */
export const bindToken = (token: string): string => PREFIX + token;

/** Whether a link was asked for with a challenge. */
export const isBoundToken = (token: string): boolean => token.startsWith(PREFIX);
