import { badPolicy } from '../../failures.ts';

/** How many states are kept of a stretch of time. */
interface KeepRule {
  readonly name: string;
  /** So many stretches of so many days each, one after the other. */
  readonly buckets: number;
  readonly days: number;
  /** States that are kept of each. */
  readonly keep: number;
}

/** What garbage collection keeps, and how large the boot menu may be. */
export interface Policy {
  readonly keep: {
    /** Everything of so many days, today included. */
    readonly days: number;
    /** The newest, whenever they were made. */
    readonly newest: number;
    /** For what is older: from the newest stretch to the oldest; what is older still goes. */
    readonly rules: readonly KeepRule[];
  };
  readonly menu: { readonly states: number; readonly entries: number };
}

/** Everything of today and yesterday and the newest 20; then 3 for a day, 1 a day for 5 days, 1 a week for 4 weeks. */
export const DEFAULT_POLICY: Policy = {
  keep: {
    days: 2,
    newest: 20,
    rules: [
      { name: 'the day before', buckets: 1, days: 1, keep: 3 },
      { name: 'days', buckets: 5, days: 1, keep: 1 },
      { name: 'weeks', buckets: 4, days: 7, keep: 1 },
    ],
  },
  menu: { states: 20, entries: 60 },
};

/** A value of a policy file with the line it stands in. */
export interface Located {
  readonly line: number;
  readonly value: string | number | boolean | null | readonly Located[] | ReadonlyMap<string, Located>;
}

const MAX_COUNT = 10_000;
const MAX_DAYS = 3_650;
const MAX_RULES = 50;

/**
 * A policy of what a file says; what it does not say is as in {@link DEFAULT_POLICY}. All problems are told at once.
 * @param file for messages
 * @throws INVALID_ARGUMENT with the lines
 */
export function readPolicy(root: Located, file: string): Policy {
  const problems: Problem[] = [];
  const read = new Reader(problems);
  const { keep, menu } = DEFAULT_POLICY;
  const top = read.fields(root, 'the policy', ['keep', 'menu']);
  const kept = read.fields(top.get('keep'), 'keep', ['days', 'newest', 'rules']);
  const shown = read.fields(top.get('menu'), 'menu', ['states', 'entries']);
  const policy: Policy = {
    keep: {
      days: read.count(kept.get('days'), 'keep.days', MAX_DAYS, keep.days),
      newest: read.count(kept.get('newest'), 'keep.newest', MAX_COUNT, keep.newest),
      rules:
        read.list(kept.get('rules'), 'keep.rules')?.map((item, at) => rule(read, item, at)) ?? keep.rules,
    },
    menu: {
      states: read.count(shown.get('states'), 'menu.states', MAX_COUNT, menu.states),
      entries: read.count(shown.get('entries'), 'menu.entries', MAX_COUNT, menu.entries),
    },
  };
  if (problems.length > 0) {
    problems.sort((a, b) => a.line - b.line);
    throw badPolicy(
      file,
      problems.map(({ line, what }) => `line ${line}: ${what}`),
    );
  }
  return policy;
}

function rule(read: Reader, item: Located, at: number): KeepRule {
  const where = `keep.rules[${at}]`;
  const fields = read.fields(item, where, ['name', 'buckets', 'days', 'keep']);
  const name = fields.get('name');
  return {
    name: name === undefined ? `rule ${at + 1}` : read.text(name, `${where}.name`),
    buckets: read.count(fields.get('buckets'), `${where}.buckets`, MAX_DAYS, 1, 1),
    days: read.count(fields.get('days'), `${where}.days`, MAX_DAYS, 1, 1),
    keep: read.count(fields.get('keep') ?? read.missing(item, where, 'keep'), `${where}.keep`, MAX_COUNT, 1),
  };
}

/** What is wrong and where. */
interface Problem {
  readonly line: number;
  readonly what: string;
}

/** Takes values out of what was parsed, and notes what is wrong with them. */
class Reader {
  readonly #problems: Problem[];

  constructor(problems: Problem[]) {
    this.#problems = problems;
  }

  fields(from: Located | undefined, what: string, known: readonly string[]): ReadonlyMap<string, Located> {
    const none = new Map<string, Located>();
    // An empty file, or a heading with nothing under it.
    if (from === undefined || from.value === null) return none;
    if (!(from.value instanceof Map)) {
      this.#problem(from, `${what} holds names and values`);
      return none;
    }
    for (const [name, value] of from.value as ReadonlyMap<string, Located>) {
      if (!known.includes(name))
        this.#problem(value, `${what} has no ${JSON.stringify(name)}, only ${known.join(', ')}`);
    }
    return from.value as ReadonlyMap<string, Located>;
  }

  list(from: Located | undefined, what: string): readonly Located[] | undefined {
    if (from === undefined) return undefined;
    const items = from.value === null ? [] : from.value;
    if (!Array.isArray(items)) {
      this.#problem(from, `${what} is a list`);
      return [];
    }
    if (items.length > MAX_RULES) this.#problem(from, `${what} has at most ${MAX_RULES} entries`);
    return items as readonly Located[];
  }

  count(from: Located | undefined, what: string, max: number, otherwise: number, min = 0): number {
    if (from === undefined) return otherwise;
    const { value } = from;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    this.#problem(from, `${what} is a whole number from ${min} to ${max}`);
    return otherwise;
  }

  text(from: Located, what: string): string {
    if (typeof from.value === 'string' && from.value.length <= 100) return from.value;
    this.#problem(from, `${what} is a text of at most 100 characters`);
    return '';
  }

  missing(from: Located, what: string, name: string): undefined {
    if (from.value instanceof Map) this.#problem(from, `${what} needs ${name}`);
    return undefined;
  }

  #problem({ line }: Located, what: string): void {
    this.#problems.push({ line, what });
  }
}
