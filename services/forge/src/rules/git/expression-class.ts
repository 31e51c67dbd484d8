/** Whether a character is one of those that are meant. */
export type Takes = (character: string) => boolean;

/** What was read, and where what is behind it begins. */
interface Read {
  takes: Takes;
  end: number;
}

/** The same of what is between brackets. */
interface ReadClass extends Read {
  /** How many comparisons a character may cost. */
  cost: number;
}

/** Letters behind `\` that stand for one kind of characters; in capitals for all others. */
const KINDS: ReadonlyMap<string, RegExp> = new Map([
  ['d', /^[0-9]$/],
  ['w', /^[0-9A-Za-z_]$/],
  ['s', /^[\t\n\f\r ]$/],
]);

/** Names between `[:` and `:]`. */
const NAMED_KINDS: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /^[0-9A-Za-z]$/],
  ['alpha', /^[A-Za-z]$/],
  ['ascii', /^[\0-\x7f]$/],
  ['blank', /^[\t ]$/],
  ['cntrl', /^[\0-\x1f\x7f]$/],
  ['digit', /^[0-9]$/],
  ['graph', /^[!-~]$/],
  ['lower', /^[a-z]$/],
  ['print', /^[ -~]$/],
  ['punct', /^[!-/:-@[-`{-~]$/],
  ['space', /^[\t\n\v\f\r ]$/],
  ['upper', /^[A-Z]$/],
  ['word', /^[0-9A-Za-z_]$/],
  ['xdigit', /^[0-9A-Fa-f]$/],
]);

const CONTROLS: Readonly<Record<string, string>> = {
  a: '\x07',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Reads what is behind `\` and means characters; undefined for what means none. */
export function readEscape(characters: readonly string[], at: number): Read | undefined {
  const letter = characters[at] ?? '';
  const kind = KINDS.get(letter.toLowerCase());
  if (kind !== undefined) {
    const isNegated = letter !== letter.toLowerCase();
    return { takes: (one) => kind.test(one) !== isNegated, end: at + 1 };
  }
  const literal = readLiteral(characters, at);
  return literal && { takes: (one) => one === literal.character, end: literal.end };
}

/** The same, in capitals or not. */
export function ignoreCase(takes: Takes): Takes {
  return (one) => takes(one) || takes(one.toLowerCase()) || takes(one.toUpperCase());
}

/** Reads what is between brackets, from behind the first; undefined when that cannot be done. */
export function readClass(
  characters: readonly string[],
  from: number,
  ignoresCase: boolean,
): ReadClass | undefined {
  const isNegated = characters[from] === '^';
  const start = isNegated ? from + 1 : from;
  const members: Takes[] = [];
  let at = start;
  // A bracket in the first place is one of the characters.
  while (characters[at] !== ']' || at === start) {
    const member = readKind(characters, at) ?? readRange(characters, at);
    if (member === undefined) return undefined;
    members.push(member.takes);
    at = member.end;
  }
  const isMember = (one: string) => members.some((takes) => takes(one));
  // Before it is negated: what is not `a` is not `A` either.
  const isMeant = ignoresCase ? ignoreCase(isMember) : isMember;
  const cost = members.length * (ignoresCase ? 3 : 1);
  return { takes: (one) => isMeant(one) !== isNegated, cost, end: at + 1 };
}

/** `[:alpha:]` or `\d`, which begin no range. */
function readKind(characters: readonly string[], at: number): Read | undefined {
  if (characters[at] === '[' && characters[at + 1] === ':') {
    const [all = '', name = ''] = /^\[:(\w+):\]/.exec(characters.slice(at, at + 12).join('')) ?? [];
    const kind = NAMED_KINDS.get(name);
    return kind && { takes: (one) => kind.test(one), end: at + all.length };
  }
  if (characters[at] !== '\\' || !KINDS.has(characters[at + 1]?.toLowerCase() ?? '')) return undefined;
  const read = readEscape(characters, at + 1);
  // As in `[\d-z]`, which nobody can know the meaning of.
  const beginsRange = read !== undefined && characters[read.end] === '-' && characters[read.end + 1] !== ']';
  return beginsRange ? undefined : read;
}

/** `a` or `a-z`. */
function readRange(characters: readonly string[], at: number): Read | undefined {
  const first = readMember(characters, at);
  if (first === undefined) return undefined;
  if (characters[first.end] !== '-' || characters[first.end + 1] === ']')
    return { takes: (one) => one === first.character, end: first.end };
  const last = readMember(characters, first.end + 1);
  if (last === undefined) return undefined;
  const [low, high] = [first, last].map(({ character }) => character.codePointAt(0) ?? 0) as [number, number];
  if (high < low) return undefined;
  const takes = (one: string) => {
    const code = one.codePointAt(0) ?? 0;
    return low <= code && code <= high;
  };
  return { takes, end: last.end };
}

interface Literal {
  character: string;
  end: number;
}

function readMember(characters: readonly string[], at: number): Literal | undefined {
  const character = characters[at];
  if (character === '\\') return readLiteral(characters, at + 1);
  const isNamedKind = character === '[' && characters[at + 1] === ':';
  return character === undefined || isNamedKind ? undefined : { character, end: at + 1 };
}

/** One character behind `\`: what is no letter and no digit stands for itself. */
function readLiteral(characters: readonly string[], at: number): Literal | undefined {
  const letter = characters[at];
  if (letter === undefined) return undefined;
  const control = CONTROLS[letter];
  if (control !== undefined) return { character: control, end: at + 1 };
  if (letter === 'x') {
    const rest = characters.slice(at + 1, at + 9).join('');
    const [all = '', short, long] = /^(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/.exec(rest) ?? [];
    const code = Number.parseInt(short ?? long ?? '', 16);
    if (!(code <= 0x10_ff_ff)) return undefined;
    return { character: String.fromCodePoint(code), end: at + 1 + all.length };
  }
  return /^[0-9A-Za-z]$/.test(letter) ? undefined : { character: letter, end: at + 1 };
}
