/**
 * Globs for `URI_ALLOW_LIST`, matched by following all possibilities at once: the time is the product of the two
 * lengths whatever the pattern, so no pattern and no address can stall the service (a regular expression could).
 *
 * `*` any run without `.` and `/` · `**` any run · `?` one character but those · `[abc]` `[!abc]` `[a-z]` ·
 * `{a,b}` alternatives, which may nest · `\` takes the next character literally. The whole text has to match.
 */
export type Glob = (text: string) => boolean;

/** One state: either consumes a character, or goes on to all of `next` without one. */
interface State {
  accepts?: (character: string) => boolean;
  next: number[];
}

const isSeparator = (character: string): boolean => character === '.' || character === '/';

/** @throws Error saying what is wrong with the pattern */
export function compileGlob(pattern: string): Glob {
  const states = new Compiler(pattern).compile();
  return (text) => {
    let current = closure(states, [0]);
    for (const character of text) {
      const reached: number[] = [];
      for (const index of current) {
        const state = states[index] as State;
        if (state.accepts?.(character) === true) reached.push(...state.next);
      }
      current = closure(states, reached);
      if (current.size === 0) return false;
    }
    return current.has(states.length - 1);
  };
}

/** All states reachable without consuming a character. */
function closure(states: readonly State[], from: readonly number[]): Set<number> {
  const reached = new Set<number>();
  const pending = [...from];
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    if (reached.has(index)) continue;
    reached.add(index);
    const state = states[index] as State;
    if (state.accepts === undefined) pending.push(...state.next);
  }
  return reached;
}

/** Turns a pattern into states; the last one is where a match ends. */
class Compiler {
  readonly #characters: readonly string[];
  readonly #states: State[] = [];
  #at = 0;

  constructor(pattern: string) {
    this.#characters = Array.from(pattern);
  }

  compile(): readonly State[] {
    this.#sequence(0);
    this.#states.push({ next: [] });
    return this.#states;
  }

  /** Adds states up to the end, or to the `,` or `}` that ends an alternative. */
  #sequence(depth: number): void {
    for (;;) {
      const character = this.#characters[this.#at];
      if (character === undefined) {
        if (depth > 0) throw new Error('expected a } in the pattern');
        return;
      }
      if (depth > 0 && (character === ',' || character === '}')) return;
      this.#at++;
      if (character === '*') this.#run();
      else if (character === '?') this.#one((candidate) => !isSeparator(candidate));
      else if (character === '[') this.#one(this.#set());
      else if (character === '{') this.#alternatives(depth);
      else if (character === '\\') this.#literal(this.#take('a character after the backslash'));
      else this.#literal(character);
    }
  }

  #run(): void {
    let everything = false;
    while (this.#characters[this.#at] === '*') {
      this.#at++;
      everything = true;
    }
    const loop = this.#states.length;
    this.#states.push({ next: [loop + 1, loop + 2] });
    this.#states.push({ accepts: (candidate) => everything || !isSeparator(candidate), next: [loop] });
  }

  #literal(character: string): void {
    this.#one((candidate) => candidate === character);
  }

  #one(accepts: (character: string) => boolean): void {
    this.#states.push({ accepts, next: [this.#states.length + 1] });
  }

  #alternatives(depth: number): void {
    const fork: State = { next: [] };
    const ends: State[] = [];
    this.#states.push(fork);
    for (;;) {
      fork.next.push(this.#states.length);
      this.#sequence(depth + 1);
      const end: State = { next: [] };
      this.#states.push(end);
      ends.push(end);
      if (this.#take('a }') === '}') break;
    }
    for (const end of ends) end.next.push(this.#states.length);
  }

  #set(): (character: string) => boolean {
    const negated = this.#characters[this.#at] === '!';
    if (negated) this.#at++;
    const ranges: [string, string][] = [];
    for (;;) {
      let first = this.#take('a ] in the pattern');
      if (first === ']' && ranges.length > 0) break;
      if (first === '\\') first = this.#take('a character after the backslash');
      let last = first;
      if (this.#characters[this.#at] === '-' && this.#characters[this.#at + 1] !== ']') {
        this.#at++;
        last = this.#take('the end of a range');
      }
      ranges.push([first, last]);
    }
    return (candidate) => ranges.some(([from, to]) => from <= candidate && candidate <= to) !== negated;
  }

  #take(expected: string): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new Error(`expected ${expected}`);
    return character;
  }
}

/** Splits a list at its commas, except those between braces. */
export function splitPatterns(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of list) {
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === ',' && depth <= 0) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part].map((one) => one.trim()).filter((one) => one !== '');
}
