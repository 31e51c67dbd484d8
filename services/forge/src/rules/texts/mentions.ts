import { withoutCode } from './prose.ts';

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
