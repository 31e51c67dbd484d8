import type { Answer } from '../answers.ts';

/** Claims that have a place of their own in a profile, or say nothing of the person. */
const STANDARD =
  'iss sub aud iat exp nbf nonce at_hash c_hash azp sid jti typ acr auth_time session_state ' +
  'name family_name given_name middle_name nickname preferred_username profile picture website gender birthdate ' +
  'zoneinfo locale updated_at email email_verified phone_number phone_number_verified';

/** What somebody's claims tell besides what every profile has: `custom_claims`. */
export function otherClaims(claims: Answer, others: readonly string[] = []): Record<string, unknown> {
  const known = new Set([...STANDARD.split(' '), ...others]);
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !known.has(name)));
}
