/** More alternatives in braces than anybody writes down by hand. */
const MAX_ALTERNATIVES = 64;
/** What they may come to all together: as much as a list of patterns without any. */
const MAX_STEPS = 4096;

/** How many steps may still be tried, each some 35 ns. Below zero there was no time to look, and the answer is no. */
export interface Work {
  left: number;
}

/** Whether a text is taken. */
export type Glob = (text: string, work?: Work) => boolean;

/** One step of a pattern: it takes a character, and one that `stays` any number of them. */
interface Step {
  stays: boolean;
  takes: (character: string) => boolean;
  /** How much work that is. */
  weight: number;
}

/** Whether a text has characters that mean something in a pattern. */
export const isPattern = (text: string): boolean => /[*?[{\\]/.test(text);

/**
 * Reads a glob: `*` and `?` stay between slashes, `**` crosses them, `[a-z]`, `[!a-z]`, `{one,other}` and `\` as usual.
 * People write these patterns and others the names, so matching takes time in proportion to both lengths, whatever
 * they are: an expression that backtracks could be made to run for ever. Who holds many texts against one says how much
 * work it may be, the reading included.
 * @returns undefined when a bracket or brace is left open, or the braces multiply to more than 64 alternatives, or to very long
 *   ones
 */
export function readGlob(pattern: string, work: Work = { left: Number.POSITIVE_INFINITY }): Glob | undefined {
  const alternatives = expandBraces(pattern)?.map(readSteps);
  work.left -= pattern.length * (alternatives?.length ?? MAX_ALTERNATIVES);
  if (alternatives === undefined) return undefined;
  const complete = alternatives.filter((steps) => steps !== undefined);
  const steps = complete.reduce((sum, one) => sum + one.length, 0);
  if (complete.length < alternatives.length || (complete.length > 1 && steps > MAX_STEPS)) return undefined;
  return (text, work = { left: Number.POSITIVE_INFINITY }) =>
    complete.some((one) => work.left >= 0 && takesAll(one, text, work));
}

function readSteps(pattern: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === '*') {
      const crosses = pattern.charAt(at + 1) === '*';
      while (crosses && pattern.charAt(at + 1) === '*') at++;
      steps.push({ stays: true, takes: (one) => crosses || one !== '/', weight: 1 });
    } else if (character === '?') {
      steps.push({ stays: false, takes: (one) => one !== '/', weight: 1 });
    } else if (character === '[') {
      const end = pattern.indexOf(']', at + 2);
      if (end === -1) return undefined;
      steps.push({ stays: false, takes: readClass(pattern.slice(at + 1, end)), weight: end - at });
      at = end;
    } else {
      const literal = character === '\\' && at + 1 < pattern.length ? pattern.charAt(++at) : character;
      steps.push({ stays: false, takes: (one) => one === literal, weight: 1 });
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
function takesAll(steps: readonly Step[], text: string, work: Work): boolean {
  let ahead = new Uint8Array(steps.length + 1);
  let next = new Uint8Array(steps.length + 1);
  ahead[0] = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    let goesOn = false;
    // To find the ways that are open.
    work.left -= steps.length / 32;
    for (let done = 0; done <= steps.length; done++) {
      if (ahead[done] !== 1) continue;
      ahead[done] = 0;
      const step = steps[done];
      if (step === undefined) continue;
      work.left -= step.weight;
      // It may take none.
      if (step.stays) ahead[done + 1] = 1;
      if (!step.takes(character)) continue;
      next[step.stays ? done : done + 1] = 1;
      goesOn = true;
    }
    if (!goesOn || work.left < 0) return false;
    [ahead, next] = [next, ahead];
  }
  const last = steps.findLastIndex(({ stays }) => !stays) + 1;
  return ahead.subarray(last).includes(1);
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
