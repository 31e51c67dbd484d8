import { ignoreCase, readClass, readEscape, type Takes } from './expression-class.ts';

/**
 * A step of an expression: takes a character, holds at a place between two, or goes on at any of several others, counted
 * from itself. What is past the last step has matched.
 */
type Step =
  | { kind: 'take'; takes: Takes; cost: number }
  | { kind: 'at'; holds: (before: string | undefined, after: string | undefined) => boolean }
  | { kind: 'fork'; to: readonly number[] };

/** An expression that was read. */
export interface Expression {
  /** Whether any part of a text matches. */
  matches: (text: string) => boolean;
  /** How many comparisons one character may cost at most. */
  size: number;
}

/** More than anybody writes down by hand. */
const MAX_SIZE = 300;

/** What is wrong with an expression; never leaves this file. */
class Unreadable extends Error {}

/**
 * Reads a regular expression as the reference's language has them, RE2. People write these and others the texts, so all ways
 * through it are followed at once: time in proportion to both lengths, whatever they are, where one that tries way after way
 * could be made to run for ever.
 *
 * What cannot be had that way is not read: look-around and back references, which RE2 has not either; nor are categories of
 * characters (`\pL`) and quotes (`\Q…\E`), which it has. Of flags only `i` matters: a text of one line has no use for others.
 * @returns undefined for what cannot be read, and for a size of more than 300, repetitions written out
 */
export function readExpression(source: string): Expression | undefined {
  try {
    const steps = new Reader(source).read();
    return { matches: (text) => matchesAnywhere(steps, text), size: sizeOf(steps) };
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Reader {
  readonly #characters: readonly string[];
  #at = 0;
  #ignoresCase = false;

  constructor(source: string) {
    this.#characters = Array.from(source);
  }

  read(): Step[] {
    const steps = this.#readAlternatives();
    if (this.#at < this.#characters.length) throw new Unreadable();
    return steps;
  }

  #readAlternatives(): Step[] {
    const ignoredCase = this.#ignoresCase;
    let steps = this.#readSequence();
    while (this.#skip('|')) {
      const other = this.#readSequence();
      steps = bounded([fork(1, steps.length + 2), ...steps, fork(other.length + 1), ...other]);
    }
    this.#ignoresCase = ignoredCase;
    return steps;
  }

  #readSequence(): Step[] {
    let steps: Step[] = [];
    for (;;) {
      const next = this.#characters[this.#at];
      if (next === undefined || next === '|' || next === ')') return steps;
      steps = bounded([...steps, ...this.#readRepeated()]);
    }
  }

  #readRepeated(): Step[] {
    // There is nothing yet to repeat.
    if (this.#readTimes() !== undefined) throw new Unreadable();
    const once = this.#readOnce();
    const times = this.#readTimes();
    if (times === undefined) return once;
    if (this.#readTimes() !== undefined) throw new Unreadable();
    return repeat(once, times);
  }

  #readOnce(): Step[] {
    const character = this.#characters[this.#at++] ?? '';
    switch (character) {
      case '(':
        return this.#readGroup();
      case '[': {
        const { takes, cost, end } = readClass(this.#characters, this.#at, this.#ignoresCase) ?? fail();
        this.#at = end;
        return [{ kind: 'take', takes, cost }];
      }
      case '^':
        return [START];
      case '$':
        return [END];
      case '.':
        return [this.#take((one) => one !== '\n')];
      case '\\':
        return [this.#readEscaped()];
      default:
        return [this.#take((one) => one === character)];
    }
  }

  #readEscaped(): Step {
    const place = PLACES.get(this.#characters[this.#at] ?? '');
    if (place !== undefined) {
      this.#at++;
      return place;
    }
    const { takes, end } = readEscape(this.#characters, this.#at) ?? fail();
    this.#at = end;
    return this.#take(takes);
  }

  /** `(…)`, `(?:…)`, `(?<name>…)`, `(?i:…)`, and `(?i)` for the rest of the group around it. */
  #readGroup(): Step[] {
    const ignoredCase = this.#ignoresCase;
    const rest = this.#characters.slice(this.#at).join('');
    const [named] = /^\?P?<\w+>/.exec(rest) ?? [];
    const [flags, on = '', off = '', ends] = /^\?([ismU]*)(?:-([ismU]+))?([:)])/.exec(rest) ?? [];
    this.#at += (named ?? flags ?? '').length;
    if (on.includes('i')) this.#ignoresCase = true;
    if (off.includes('i')) this.#ignoresCase = false;
    if (ends === ')') return [];
    const steps = this.#readAlternatives();
    if (!this.#skip(')')) throw new Unreadable();
    this.#ignoresCase = ignoredCase;
    return steps;
  }

  /** `*`, `+`, `?`, `{2}`, `{2,}`, `{2,3}`; a `?` behind it says which of several matches counts, and here any does. */
  #readTimes(): { least: number; most: number } | undefined {
    const rest = this.#characters.slice(this.#at, this.#at + MAX_TIMES_LENGTH).join('');
    const [all, sign = '', from = '', more, to = ''] =
      /^(?:([*+?])|\{(\d{1,4})(?:(,)(\d{1,4})?)?\})\??/.exec(rest) ?? [];
    if (all === undefined) return undefined;
    this.#at += all.length;
    if (sign !== '')
      return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    const least = Number(from);
    const most = more === undefined ? least : to === '' ? Number.POSITIVE_INFINITY : Number(to);
    if (most < least) throw new Unreadable();
    return { least, most };
  }

  #take(takes: Takes): Step {
    return this.#ignoresCase
      ? { kind: 'take', takes: ignoreCase(takes), cost: 3 }
      : { kind: 'take', takes, cost: 1 };
  }

  #skip(character: string): boolean {
    if (this.#characters[this.#at] !== character) return false;
    this.#at++;
    return true;
  }
}

/** Of `{1000,1000}?`. */
const MAX_TIMES_LENGTH = 12;

const fork = (...to: number[]): Step => ({ kind: 'fork', to });
const START: Step = { kind: 'at', holds: (before) => before === undefined };
const END: Step = { kind: 'at', holds: (_, after) => after === undefined };
const isWord = (one: string | undefined) => one !== undefined && /^\w$/.test(one);

/** What a letter behind `\` says of a place. */
const PLACES: ReadonlyMap<string, Step> = new Map([
  ['A', START],
  ['z', END],
  ['b', { kind: 'at', holds: (before, after) => isWord(before) !== isWord(after) }],
  ['B', { kind: 'at', holds: (before, after) => isWord(before) === isWord(after) }],
]);

function fail(): never {
  throw new Unreadable();
}

const sizeOf = (steps: readonly Step[]) =>
  steps.reduce((size, step) => size + (step.kind === 'take' ? step.cost : 1), 1);

function bounded(steps: Step[]): Step[] {
  if (sizeOf(steps) > MAX_SIZE) throw new Unreadable();
  return steps;
}

/** Steps count from themselves, so the same ones may stand several times behind each other. */
function repeat(once: readonly Step[], { least, most }: { least: number; most: number }): Step[] {
  const times = most === Number.POSITIVE_INFINITY ? least + 1 : most;
  // Asked before anything is written out, also of what is empty.
  if (times * sizeOf(once) > MAX_SIZE) throw new Unreadable();
  const perhaps = [fork(1, once.length + 1), ...once];
  const forever = [fork(1, once.length + 2), ...once, fork(-once.length - 1)];
  const all = Array.from({ length: least }, () => once).flat();
  return bounded([
    ...all,
    ...(most === Number.POSITIVE_INFINITY
      ? forever
      : Array.from({ length: most - least }, () => perhaps).flat()),
  ]);
}

/** Follows all ways at once; each step is looked at once for each place, so a loop that takes nothing ends. */
function matchesAnywhere(steps: readonly Step[], text: string): boolean {
  const characters = Array.from(text);
  const seenAt = new Int32Array(steps.length + 1).fill(-1);
  let waiting: number[] = [];
  for (let at = 0; at <= characters.length; at++) {
    const before = characters[at - 1];
    const after = characters[at];
    // A match may begin at every place.
    const open = waiting;
    open.push(0);
    waiting = [];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (seenAt[place] === at) continue;
      seenAt[place] = at;
      const step = steps[place];
      if (step === undefined) return true;
      if (step.kind === 'fork') for (const by of step.to) open.push(place + by);
      else if (step.kind === 'at') {
        if (step.holds(before, after)) open.push(place + 1);
      } else if (after !== undefined && step.takes(after)) waiting.push(place + 1);
    }
  }
  return false;
}
