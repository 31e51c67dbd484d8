/**
 * The two names of `base...head` or `base..head`; undefined for anything else. No name has two dots in a row, so there
 * is one way to read it; an empty one is the default branch.
 */
export function splitComparison(text: string): [base: string, head: string] | undefined {
  const parts = text.split(/\.{2,3}/);
  const [base, head] = parts;
  return parts.length === 2 && base !== undefined && head !== undefined && base + head !== ''
    ? [base, head]
    : undefined;
}
