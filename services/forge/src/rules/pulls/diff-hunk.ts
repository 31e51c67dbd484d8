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
 * The end of the hunk that has a line, up to it.
 * @param diff unified diff of one file
 * @param line number after the change; below zero, before it
 * @returns undefined when the line is in no hunk
 */
export function cutHunk(diff: string, line: number): string | undefined {
  let hunk: DiffLine[] = [];
  let [before, after, beforeLeft, afterLeft] = [0, 0, 0, 0];
  for (const text of diff.split('\n')) {
    if (beforeLeft <= 0 && afterLeft <= 0) {
      const header = HEADER.exec(text);
      if (header === null) continue;
      const [, from, many = '1', to, manyAfter = '1'] = header;
      [before, after, beforeLeft, afterLeft] = [Number(from), Number(to), Number(many), Number(manyAfter)];
      hunk = [];
      continue;
    }
    const sign = text.charAt(0);
    // "\ No newline at end of file"
    if (sign === '\\') continue;
    hunk.push({ text: text.slice(0, MAX_LINE), before, after });
    const isThere = line > 0 ? sign !== '-' && after === line : sign !== '+' && before === -line;
    if (isThere) return show(hunk.slice(-LINES));
    if (sign !== '+') [before, beforeLeft] = [before + 1, beforeLeft - 1];
    if (sign !== '-') [after, afterLeft] = [after + 1, afterLeft - 1];
  }
  return undefined;
}

function show(lines: readonly DiffLine[]): string {
  const count = (sign: string) => lines.filter(({ text }) => !text.startsWith(sign)).length;
  const { before = 0, after = 0 } = lines[0] ?? {};
  const header = `@@ -${before},${count('+')} +${after},${count('-')} @@`;
  return [header, ...lines.map(({ text }) => text)].join('\n');
}
