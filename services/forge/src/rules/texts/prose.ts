/** A text in Markdown without its code: what stands there means nothing to us. Lines keep their number. */
export function withoutCode(text: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined && mark !== undefined) {
      fence = mark;
      lines.push('');
    } else if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      lines.push('');
    } else if (/^( {4}|\t)/.test(line)) {
      lines.push('');
    } else {
      lines.push(withoutSpans(line));
    }
  }
  return lines.join('\n');
}

/** Code between as many backticks on both sides. A run that nothing closes is text. */
function withoutSpans(line: string): string {
  if (!line.includes('`')) return line;
  const starts: number[] = [];
  const ends: number[] = [];
  for (let start = line.indexOf('`'); start !== -1; start = line.indexOf('`', ends.at(-1))) {
    let end = start;
    while (line[end] === '`') end++;
    starts.push(start);
    ends.push(end);
  }
  // The next run of the same length, found from behind so that it takes no second look at the line.
  const latest = new Map<number, number>();
  const closing: (number | undefined)[] = Array.from({ length: starts.length });
  for (let index = starts.length - 1; index >= 0; index--) {
    const length = (ends[index] ?? 0) - (starts[index] ?? 0);
    closing[index] = latest.get(length);
    latest.set(length, index);
  }
  const parts: string[] = [];
  let position = 0;
  for (let index = 0; index < starts.length; index++) {
    const close = closing[index];
    if (close === undefined) continue;
    parts.push(line.slice(position, starts[index]));
    position = ends[close] ?? position;
    index = close;
  }
  return [...parts, line.slice(position)].join(' ');
}
