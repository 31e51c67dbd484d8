import { storageRefused } from '../../../failures.ts';

/** A property of a dataset or snapshot, as `zfs get` tells it. */
export interface Property {
  readonly value: string;
  /** `local`, `default`, `received`, `inherited from …`, or `-`. */
  readonly source: string;
}

/** Properties by name. What is not set is not in it. */
export type Properties = ReadonlyMap<string, Property>;

/** What everything has, and nobody but zfs says what it is. */
const LAST = 'guid';

/**
 * The properties to ask for, so that {@link readProperties} can trust the answer: values may hold line breaks, so whoever may
 * set a property can write lines of his own into the answer. After them there is always one that he did not write.
 */
export function askedFor(properties: readonly string[]): readonly string[] {
  return [...new Set(properties.filter((property) => property !== LAST)), LAST];
}

/**
 * Reads what `zfs get -H -o name,property,value,source` wrote: of each name every property, once, in the order they were asked
 * for. A line too many anywhere makes the rest come out of step, so nothing is believed then.
 * @param asked by {@link askedFor} @returns by name, without names that are not there
 * @throws FAILED_PRECONDITION
 */
export function readProperties(
  text: string,
  names: ReadonlySet<string>,
  asked: readonly string[],
): Map<string, Properties> {
  const found = new Map<string, Properties>();
  const lines = text.split('\n');
  if (lines.pop() !== '') throw outOfStep(lines.at(-1));
  for (let at = 0; at < lines.length; at += asked.length) {
    const name = lines[at]?.split('\t', 1)[0] as string;
    if (!names.has(name) || found.has(name)) throw outOfStep(lines[at - 1]);
    found.set(name, propertiesOf(name, lines.slice(at, at + asked.length), asked));
  }
  return found;
}

function propertiesOf(name: string, lines: readonly string[], asked: readonly string[]): Properties {
  const properties = new Map<string, Property>();
  asked.forEach((property, at) => {
    // Only a value can have tabs in it.
    const [whose, which, ...rest] = lines[at]?.split('\t') ?? [];
    if (whose !== name || which !== property || rest.length < 2) throw outOfStep(name);
    const [value, source] = [rest.slice(0, -1).join('\t'), rest.at(-1) as string];
    // `-` from nowhere is how a property of ours is shown that is not set; of zfs's own it may be a value.
    if (value !== '-' || source !== '-') properties.set(property, { value, source });
  });
  return properties;
}

function outOfStep(near: string | undefined): Error {
  const name = near?.split('\t', 1)[0] ?? '';
  return storageRefused(
    `the properties of ${name || 'the pools'} cannot be read`,
    'one has a line break in its value ("zfs get all" shows it, "zfs inherit" removes it), or zfs was interrupted',
  );
}
