/** The known name with the smallest edit distance, if it is near enough to be a slip of the finger. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  // Of a name of two letters one may be wrong: two others would be another name.
  let bestDistance = Math.min(Math.max(2, Math.floor(name.length / 4)) + 1, name.length);
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      next[j] = Math.min(
        (row[j] as number) + 1,
        (next[j - 1] as number) + 1,
        (row[j - 1] as number) + change,
      );
    }
    row = next;
  }
  return row[b.length] as number;
}
