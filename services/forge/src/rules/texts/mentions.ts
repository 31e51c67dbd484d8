/** A text that names more calls nobody in particular. */
const MAX_MENTIONS = 50;

/**
 * The accounts a text names with `@name`, in lower case. What stands in code, or is part of an address, names nobody.
 */
export function readMentions(text: string): string[] {
  const prose = withoutCode(text);
  const names = new Set<string>();
  for (const [, name = ''] of prose.matchAll(/(?<![\w@/.`-])@([a-z0-9][a-z0-9_.-]{0,99})/gi)) {
    // A sentence may end behind a name.
    names.add(name.replace(/[.-]+$/, '').toLowerCase());
    if (names.size >= MAX_MENTIONS) break;
  }
  return [...names];
}

/** Fences first: line by line, for a fence that is never closed lasts to the end. */
function withoutCode(text: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence !== undefined && mark?.startsWith(fence)) fence = undefined;
    else if (fence === undefined) lines.push(line.replace(/`[^`]*`/g, ' '));
  }
  return lines.join('\n');
}
