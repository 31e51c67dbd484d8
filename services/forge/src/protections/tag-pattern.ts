import { LRUCache } from 'lru-cache';
import { RE2JS, RE2JSException } from 're2js';
import type { TagPattern, TagProtection } from '../rules/git/tag-protection.ts';

/** More than anybody writes down by hand. */
const MAX_SIZE = 1000;

/** A push asks the same ones again and again. */
const known = new LRUCache<string, TagPattern>({ max: 1000 });

/**
 * Reads what names the tags of a protection: a glob, or between slashes a regular expression, of which any part of a name may
 * be matched (`/^v\d+/`). People write these and others the names, so all ways through one are followed at once: time in proportion
 * to pattern and name, whatever they are. The expressions are the reference's own, RE2, which has no look-around and no back references.
 *
 * In a glob `*` and `?` cross slashes, where those of branches stay between them: `*` is to mean every tag, as the reference
 * means it.
 * @returns undefined for what cannot be read, and for what is too long with its repetitions written out
 */
export function readTagPattern(pattern: string): TagPattern | undefined {
  const before = known.get(pattern);
  if (before !== undefined) return before;
  const read = readAnew(pattern);
  if (read !== undefined) known.set(pattern, read);
  return read;
}

function readAnew(pattern: string): TagPattern | undefined {
  const [, expression] = /^\/(.*)\/$/s.exec(pattern) ?? [];
  const glob = expression === undefined ? spellGlob(pattern) : undefined;
  const spelled = expression ?? (glob && `^(?:${glob})$`);
  if (spelled === undefined) return undefined;
  try {
    const program = RE2JS.compile(spelled);
    const size = program.programSize();
    return size > MAX_SIZE ? undefined : { matches: (tag) => program.test(tag), size };
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

/** Reads a protection; a pattern that cannot be read any more protects every tag. */
export function readTagProtection(rule: {
  name_pattern: string;
  user_ids: readonly number[];
  team_ids: readonly number[];
}): TagProtection {
  const pattern = readTagPattern(rule.name_pattern) ?? { matches: () => true, size: 1 };
  return { ...pattern, userIds: rule.user_ids, teamIds: rule.team_ids };
}

/** A glob as an expression: `*`, `?`, `[a-z]`, `[!a-z]`, `{one,other}`, `\`; undefined when a bracket or brace is left open. */
function spellGlob(glob: string): string | undefined {
  let spelled = '';
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const character = glob.charAt(at);
    if (character === '*') {
      while (glob.charAt(at + 1) === '*') at++;
      spelled += '.*';
    } else if (character === '?') {
      spelled += '.';
    } else if (character === '[') {
      const end = glob.indexOf(']', at + 2);
      if (end === -1) return undefined;
      spelled += spellClass(glob.slice(at + 1, end));
      at = end;
    } else if (character === '{') {
      depth++;
      spelled += '(?:';
    } else if (character === ',' && depth > 0) {
      spelled += '|';
    } else if (character === '}' && depth > 0) {
      depth--;
      spelled += ')';
    } else if (character === '\\' && at + 1 < glob.length) {
      spelled += spellLiteral(glob.charAt(++at));
    } else {
      spelled += spellLiteral(character);
    }
  }
  return depth === 0 ? spelled : undefined;
}

function spellClass(inside: string): string {
  const isNegated = /^[!^]/.test(inside);
  return `[${isNegated ? '^' : ''}${inside.slice(isNegated ? 1 : 0).replace(/[\\[\]^]/g, '\\$&')}]`;
}

const spellLiteral = (character: string) =>
  /[\\^$.|?*+()[\]{}]/.test(character) ? `\\${character}` : character;
