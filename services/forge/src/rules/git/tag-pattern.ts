import { type Expression, readExpression } from './expression.ts';

/**
 * Reads what names the tags of a protection: a glob, or between slashes a regular expression, of which any part of a name may
 * be matched (`/^v\d+/`). Both end up as one, in time in proportion to pattern and name.
 *
 * In a glob `*` and `?` cross slashes, where those of branches stay between them: `*` is to mean every tag, as the reference
 * means it.
 * @returns undefined for what cannot be read
 */
export function readTagPattern(pattern: string): Expression | undefined {
  const [, expression] = /^\/(.*)\/$/s.exec(pattern) ?? [];
  if (expression !== undefined) return readExpression(expression);
  const spelled = spellGlob(pattern);
  return spelled === undefined ? undefined : readExpression(`^(?:${spelled})$`);
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
