import { isListed, type Pusher } from './protection.ts';

/** What names tags, ready to be asked. */
export interface TagPattern {
  matches: (tag: string) => boolean;
  /** Steps of its program: a character of a name costs each of them once at most. */
  size: number;
}

/** Who makes, moves and deletes the tags that a pattern names. */
export interface TagProtection extends TagPattern {
  userIds: readonly number[];
  teamIds: readonly number[];
}

/**
 * Whether somebody may make, move or delete a tag. Of several protections that name it one that lists him is enough, as in the
 * reference: so a narrow pattern opens what a wide one closes. Owners and site administrators are held to it too: they may
 * change the protection, not overlook it.
 * @returns why not, in the words of the reference; undefined when he may
 */
export function refuseTag(
  protections: readonly TagProtection[],
  tag: string,
  pusher: Pusher,
): string | undefined {
  const naming = protections.filter(({ matches }) => matches(tag));
  const mayMove =
    naming.length === 0 || naming.some(({ userIds, teamIds }) => isListed(pusher, userIds, teamIds));
  return mayMove ? undefined : `Tag ${tag} is protected`;
}

/**
 * Whether there are more tags to be held against protections than the time of one request is for. Each takes no longer than
 * its name and the patterns are long, but a push brings as many as it likes.
 */
export function areTooMany(protections: readonly TagProtection[], tags: readonly string[]): boolean {
  const size = protections.reduce((sum, protection) => sum + protection.size, 0);
  const length = tags.reduce((sum, tag) => sum + tag.length + 1, 0);
  return size * length > MAX_COMPARISONS;
}

/** One to two seconds at worst, at 80 ns each; most patterns take a hundredth of that. */
const MAX_COMPARISONS = 20_000_000;
