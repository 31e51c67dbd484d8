import { isStorableNumber, jsonbBytes } from '../users/jsonb-bytes.ts';

/** Claims that are kept of a provider's profile (as in GoTrue); whatever else it sends is not. */
const KEPT = (
  'iss sub name family_name given_name middle_name nickname preferred_username profile picture website gender ' +
  'birthdate zoneinfo locale updated_at full_name avatar_url slug provider_id user_name'
).split(' ');

/** User metadata is repeated in every access token, which travels in a header. */
const MAX_TEXT_CHARACTERS = 2048;
const MAX_CUSTOM_BYTES = 8192;
const MAX_DEPTH = 8;

/**
 * What is stored of a profile as the identity's data and merged into the user's metadata. The provider chooses the
 * values, never the names, so it can no more make somebody an administrator than the person can.
 * @param email the address the identity is known by, if it has one
 */
export function externalMetadata(
  claims: Readonly<Record<string, unknown>>,
  email: { address: string; verified: boolean } | undefined,
): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of KEPT) {
    const value = plain(claims[name]);
    if (value !== undefined) kept[name] = value;
  }
  const custom = storable(claims['custom_claims'], MAX_DEPTH);
  if (isFilled(custom) && jsonbBytes(custom) <= MAX_CUSTOM_BYTES) {
    kept['custom_claims'] = custom;
  }
  return {
    ...kept,
    ...(email === undefined ? {} : { email: email.address }),
    email_verified: email?.verified ?? false,
    phone_verified: false,
  };
}

/** A text or number that says something and that the database can keep. */
function plain(value: unknown): string | number | undefined {
  if (typeof value === 'number') return isStorableNumber(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > MAX_TEXT_CHARACTERS) return undefined;
  const text = storableText(value);
  return text === '' ? undefined : text;
}

/** jsonb knows neither U+0000 nor lone surrogates. */
function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}

/** A copy without what the database cannot keep and without members that say nothing. */
function storable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value === 'number') return isStorableNumber(value) ? value : undefined;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  if (Array.isArray(value)) {
    return value.map((item) => storable(item, depth - 1)).filter((item) => item !== undefined);
  }
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, item]) => [storableText(name), storable(item, depth - 1)] as const)
      .filter(([name, item]) => item !== undefined && item !== '' && name !== '__proto__'),
  );
}

function isFilled(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
