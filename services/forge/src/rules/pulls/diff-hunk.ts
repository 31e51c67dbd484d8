/** Lines that a comment shows of the change, the one it stands at among them; as many as the reference. */
const LINES = 4;
/** Nobody reads more of a line. */
const MAX_LINE = 1000;

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

interface DiffLine {
  text: string;
  /** Number before and after the change; of an added line the first is that of the next one before it, and the reverse. */
  before: number;
  after: number;
}

/**
 * For each of some lines the end of the hunk that has it, up to it; none for a line that is in no hunk. The diff is gone through
 * once, however many lines are asked for.
 * @param diff unified diff of one file
 * @param lines numbers after the change; below zero, before it
 */
export function cutHunks(diff: string, lines: readonly number[]): Map<number, string> {
  const wanted = new Set(lines);
  const hunks = new Map<number, string>();
  let latest: DiffLine[] = [];
  let [before, after, beforeLeft, afterLeft] = [0, 0, 0, 0];
  for (let start = 0, end = 0; end !== -1 && hunks.size < wanted.size; start = end + 1) {
    end = diff.indexOf('\n', start);
    const text = diff.slice(start, end === -1 ? undefined : end);
    if (beforeLeft <= 0 && afterLeft <= 0) {
      const header = HEADER.exec(text);
      if (header === null) continue;
      const [, from, many = '1', to, manyAfter = '1'] = header;
      [before, after, beforeLeft, afterLeft] = [Number(from), Number(to), Number(many), Number(manyAfter)];
      latest = [];
      continue;
    }
    const sign = text.charAt(0);
    // "\ No newline at end of file"
    if (sign === '\\') continue;
    latest = [...latest.slice(1 - LINES), { text: text.slice(0, MAX_LINE), before, after }];
    const numbers = [...(sign === '-' ? [] : [after]), ...(sign === '+' ? [] : [-before])];
    for (const number of numbers)
      if (wanted.has(number) && !hunks.has(number)) hunks.set(number, show(latest));
    if (sign !== '+') [before, beforeLeft] = [before + 1, beforeLeft - 1];
    if (sign !== '-') [after, afterLeft] = [after + 1, afterLeft - 1];
  }
  return hunks;
}

function show(lines: readonly DiffLine[]): string {
  const count = (sign: string) => lines.filter(({ text }) => !text.startsWith(sign)).length;
  const { before = 0, after = 0 } = lines[0] ?? {};
  const header = `@@ -${before},${count('+')} +${after},${count('-')} @@`;
  return [header, ...lines.map(({ text }) => text)].join('\n');
}
