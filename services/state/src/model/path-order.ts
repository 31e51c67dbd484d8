import { pathBytes } from './path-text.ts';

/**
 * Which of two entries of a tree comes first: names by their bytes, a folder before what is in it, and all that is in it
 * before its neighbours. That is the order of a walk that looks into folders as it meets them, so two of them can be read
 * side by side.
 * @param one path text below the tree @returns negative, zero or positive
 */
export function comparePaths(one: string, other: string): number {
  if (one === other) return 0;
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

/** Zero is in no name, so a name ends before any that goes on. */
function keyOf(path: string): string {
  return path === '.' ? '' : pathBytes(path).replaceAll('/', '\0');
}
