/** What a template function gets and gives; nothing here throws, because arguments hold what strangers typed. */
type TemplateFunction = (...args: readonly unknown[]) => unknown;

/** Functions of Go's templates that take all their arguments at once; `and` and `or` are in `evaluate.ts`. */
export const templateFunctions: Readonly<Record<string, TemplateFunction>> = {
  not: (value) => !isTrue(value),
  eq: (first, ...others) => others.some((other) => isSame(first, other)),
  ne: (first, second) => !isSame(first, second),
  lt: (first, second) => order(first, second, (sign) => sign < 0),
  le: (first, second) => order(first, second, (sign) => sign <= 0),
  gt: (first, second) => order(first, second, (sign) => sign > 0),
  ge: (first, second) => order(first, second, (sign) => sign >= 0),
  len: lengthOf,
  index: (value, ...keys) => keys.reduce(member, value),
  slice: (value, from = 0, to) =>
    typeof value === 'string' || Array.isArray(value)
      ? value.slice(natural(from), to === undefined ? undefined : natural(to))
      : undefined,
  print: (...values) => values.map(textOf).join(''),
  printf,
  urlquery: (...values) => encodeURIComponent(values.map(textOf).join('').toWellFormed()),
  // Every value is escaped for the place where it stands, so this has nothing left to do.
  html: (...values) => values.map(textOf).join(''),
};

/** Names an action may begin with. */
export const functionNames: ReadonlySet<string> = new Set([...Object.keys(templateFunctions), 'and', 'or']);

/** Go's truth: false, 0, nil and everything empty are false. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return lengthOf(value) > 0;
  return Boolean(value);
}

/** A member by its own name only: what a prototype has is not data. */
export function member(value: unknown, key: unknown): unknown {
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined;
  if (typeof value !== 'object' || value === null || typeof key !== 'string') return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

/** How a value is printed: nothing for a missing one, JSON for what has members. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function isSame(first: unknown, second: unknown): boolean {
  return (first ?? undefined) === (second ?? undefined);
}

function order(first: unknown, second: unknown, holds: (sign: number) => boolean): boolean {
  if (typeof first === 'number' && typeof second === 'number') return holds(first - second);
  if (typeof first !== 'string' || typeof second !== 'string') return false;
  return holds(first < second ? -1 : first > second ? 1 : 0);
}

function natural(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : 0;
}

/** `%s`, `%v`, `%d`, `%q` and `%%`, without widths. */
function printf(format: unknown, ...values: readonly unknown[]): string {
  let next = 0;
  return textOf(format).replace(/%([svdq%])/g, (_, verb: string) => {
    if (verb === '%') return '%';
    const text = textOf(values[next++]);
    return verb === 'q' ? JSON.stringify(text) : text;
  });
}
