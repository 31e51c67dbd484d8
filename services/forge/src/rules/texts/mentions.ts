import { withoutCode } from './prose.ts';

/** A text that names more calls nobody in particular. */
export const MAX_MENTIONS = 50;
/** Of a longer text only the beginning is looked at. */
const MAX_LENGTH = 256 * 1024;

/**
 * The accounts a text names with `@name`, in lower case. What stands in code, or is part of an address, names nobody.
 */
export function readMentions(text: string): string[] {
  const prose = withoutCode(text.slice(0, MAX_LENGTH));
  const names = new Set<string>();
  for (const [, name = ''] of prose.matchAll(/(?<![\w@/.`-])@([a-z0-9][a-z0-9_.-]{0,99})/gi)) {
    // A sentence may end behind a name.
    names.add(name.replace(/[.-]+$/, '').toLowerCase());
    if (names.size >= MAX_MENTIONS) break;
  }
  return [...names];
}
