import { unacceptable } from '../../failures.ts';

/** Who may know of an account. */
export const VISIBILITIES = ['public', 'limited', 'private'] as const;

/** One of them. */
export type Visibility = (typeof VISIBILITIES)[number];

/** What people say about themselves and their organizations; what is absent is not said. */
export interface Profile {
  fullName?: string | undefined;
  email?: string | undefined;
  description?: string | undefined;
  website?: string | undefined;
  location?: string | undefined;
}

/** Longest texts, in characters, with the names that messages give them; as in the reference. */
const LIMITS: readonly (readonly [keyof Profile, string, number])[] = [
  ['fullName', 'FullName', 100],
  ['email', 'Email', 254],
  ['description', 'Description', 255],
  ['website', 'Website', 255],
  ['location', 'Location', 50],
];

/**
 * Refuses texts that are too long, and addresses that are none.
 * @throws 422
 */
export function checkProfile(profile: Profile): void {
  for (const [key, name, limit] of LIMITS) {
    if ((profile[key] ?? '').length > limit) throw unacceptable(`[${name}]: MaxSize(${limit})`);
  }
  if (profile.website && !isWebAddress(profile.website)) throw unacceptable('[Website]: ValidUrl');
  if (profile.email && !/^[^\s@<>]+@[^\s@<>]+$/.test(profile.email)) throw unacceptable('[Email]: Email');
}

/** Others follow it as a link: nothing but the two protocols of the web. */
function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/**
 * Reads a visibility; an empty one means the fallback.
 * @throws 422 for words that are none
 */
export function readVisibility(text: string | null | undefined, fallback: Visibility): Visibility {
  if (text === undefined || text === null || text === '') return fallback;
  const known = VISIBILITIES.find((visibility) => visibility === text);
  if (known === undefined) throw unacceptable(`[Visibility]: In(${VISIBILITIES.join(',')})`);
  return known;
}
