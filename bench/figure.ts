/** One measured figure: ours against a peer's or a limit, in the same run. */
export interface Figure {
  bench: string;
  figure: string;
  /** How many times better ours is: above 1 is better than the peer or within the limit. */
  ratio: number;
  ours: number;
  theirs: number;
  unit: string;
  /** The ratio the project promises, as a text such as `≥ 20`. */
  limit?: string;
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
