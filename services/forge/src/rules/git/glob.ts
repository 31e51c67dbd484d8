/** More alternatives in braces than anybody writes down by hand. */
const MAX_ALTERNATIVES = 64;

/** One step of a pattern; `any` and `everything` stand for any number of characters, `everything` also for `/`. */
type Step = { kind: 'any' | 'everything' } | { kind: 'one'; takes: (character: string) => boolean };

/** Whether a text has characters that mean something in a pattern. */
export const isPattern = (text: string): boolean => /[*?[{\\]/.test(text);

/**
 * Reads a glob: `*` and `?` stay between slashes, `**` crosses them, `[a-z]`, `[!a-z]`, `{one,other}` and `\` as usual.
 * People write these patterns and others the names, so matching takes time in proportion to both lengths, whatever
 * they are: an expression that backtracks could be made to run for ever.
 * @returns undefined when a bracket or brace is left open, or the braces multiply to more than 64 alternatives
 */
export function readGlob(pattern: string): ((text: string) => boolean) | undefined {
  const alternatives = expandBraces(pattern)?.map(readSteps);
  if (alternatives === undefined) return undefined;
  const complete = alternatives.filter((steps) => steps !== undefined);
  return complete.length < alternatives.length
    ? undefined
    : (text) => complete.some((steps) => takesAll(steps, text));
}

function readSteps(pattern: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === '*') {
      const crosses = pattern.charAt(at + 1) === '*';
      while (crosses && pattern.charAt(at + 1) === '*') at++;
      steps.push({ kind: crosses ? 'everything' : 'any' });
    } else if (character === '?') {
      steps.push({ kind: 'one', takes: (one) => one !== '/' });
    } else if (character === '[') {
      const end = pattern.indexOf(']', at + 2);
      if (end === -1) return undefined;
      steps.push({ kind: 'one', takes: readClass(pattern.slice(at + 1, end)) });
      at = end;
    } else {
      const literal = character === '\\' && at + 1 < pattern.length ? pattern.charAt(++at) : character;
      steps.push({ kind: 'one', takes: (one) => one === literal });
    }
  }
  return steps;
}

function readClass(inside: string): (character: string) => boolean {
  const negated = /^[!^]/.test(inside);
  const members = negated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members.charAt(at);
    const isRange = members.charAt(at + 1) === '-' && at + 2 < members.length;
    ranges.push([from, isRange ? members.charAt(at + 2) : from]);
    if (isRange) at += 2;
  }
  return (one) => one !== '/' && negated !== ranges.some(([from, to]) => from <= one && one <= to);
}

/** Follows all ways through the steps at once: `ahead[n]` says that the first n of them took the text so far. */
function takesAll(steps: readonly Step[], text: string): boolean {
  let ahead = reach(steps, [0]);
  for (let at = 0; at < text.length && ahead.size > 0; at++) {
    const character = text.charAt(at);
    const next: number[] = [];
    for (const done of ahead) {
      const step = steps[done];
      if (step === undefined) continue;
      if (step.kind === 'one') {
        if (step.takes(character)) next.push(done + 1);
      } else if (step.kind === 'everything' || character !== '/') {
        next.push(done);
      }
    }
    ahead = reach(steps, next);
  }
  return ahead.has(steps.length);
}

/** Steps that take any number of characters may take none. */
function reach(steps: readonly Step[], from: readonly number[]): Set<number> {
  const reached = new Set<number>();
  for (const start of from) {
    let done = start;
    while (!reached.has(done)) {
      reached.add(done);
      const kind = steps[done]?.kind;
      if (kind !== 'any' && kind !== 'everything') break;
      done++;
    }
  }
  return reached;
}

/** `a{b,c}d` as `abd` and `acd`; undefined when a brace is left open or there are too many. */
function expandBraces(pattern: string): string[] | undefined {
  let done = [''];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    let choices = [character];
    if (character === '\\') choices = [pattern.slice(at, ++at + 1)];
    if (character === '[') {
      const end = pattern.indexOf(']', at + 2);
      if (end === -1) return undefined;
      choices = [pattern.slice(at, end + 1)];
      at = end;
    }
    if (character === '{') {
      const end = endOfBrace(pattern, at);
      const inside = end === undefined ? undefined : splitChoices(pattern.slice(at + 1, end));
      const expanded = inside?.map(expandBraces);
      if (end === undefined || expanded === undefined) return undefined;
      choices = expanded.flatMap((some) => some ?? []);
      if (expanded.includes(undefined)) return undefined;
      at = end;
    }
    if (done.length * choices.length > MAX_ALTERNATIVES) return undefined;
    done = done.flatMap((start) => choices.map((choice) => start + choice));
  }
  return done;
}

function endOfBrace(pattern: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === '\\') at++;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at;
  }
  return undefined;
}

function splitChoices(inside: string): string[] {
  const choices = [''];
  let depth = 0;
  for (let at = 0; at < inside.length; at++) {
    let character = inside.charAt(at);
    if (character === '\\') character += inside.charAt(++at);
    else if (character === '{') depth++;
    else if (character === '}') depth--;
    if (character === ',' && depth === 0) choices.push('');
    else choices.push((choices.pop() ?? '') + character);
  }
  return choices;
}
