/** Longer ones are no paths of a repository that anybody can check out. */
const MAX_LENGTH = 4096;

/**
 * A path in a repository as git spells it: without slashes around it, empty for the root. Undefined for what can be in
 * no tree, so that nothing else than a name ever reaches git.
 */
export function readTreePath(text: string): string | undefined {
  // Of many slashes only the first is tried: else texts of nothing else would take the square of their length.
  const path = text.replace(/^\/+|(?<!\/)\/+$/g, '');
  if (path === '') return '';
  if (path.length > MAX_LENGTH || path.includes('\0')) return undefined;
  const parts = path.split('/');
  return parts.some((part) => part === '' || part === '.' || part === '..') ? undefined : path;
}
