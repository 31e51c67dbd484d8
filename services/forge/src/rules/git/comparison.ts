/**
 * The two names of `base...head` or `base..head`, or of `head` alone; undefined for anything else. No name has two dots in
 * a row, so there is one way to read it; an empty one is the default branch.
 */
export function splitComparison(text: string): [base: string, head: string] | undefined {
  const parts = text.split(/\.{2,3}/);
  const [base, head] = parts.length === 1 ? ['', ...parts] : parts;
  return parts.length <= 2 && base !== undefined && head !== undefined && base + head !== ''
    ? [base, head]
    : undefined;
}

/**
 * The head of a comparison: a name of the repository itself, or one of another repository of its network, such as
 * `owner:name` or `owner/repo:name`. No name in git has a colon.
 */
export function splitHead(text: string): { owner?: string; repo?: string; name: string } {
  const [place, name] = text.split(':', 2);
  if (place === undefined || name === undefined) return { name: text };
  const [owner = '', repo] = place.split('/', 2);
  return { owner, ...(repo === undefined ? {} : { repo }), name };
}
