import { unacceptable } from '../../failures.ts';

/** What rules know of a label. */
export interface LabelLike {
  id: number;
  name: string;
  exclusive: boolean;
}

/** Longest name of a label or title of a milestone. */
export const MAX_NAME = 255;

/** More on one issue is noise. */
export const MAX_LABELS = 100;

/**
 * A colour as it is kept: six hexadecimal digits; with `#` or without, three of them for six.
 * @throws 422
 */
export function readColor(text: string): string {
  const digits = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim())?.[1]?.toLowerCase();
  if (digits === undefined) throw unacceptable(`bad color value: ${text.slice(0, 20)}`);
  return digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits;
}

/** What stands before the last `/` of a name; labels of one scope that are exclusive take each other's place. */
export function scopeOf(name: string): string | undefined {
  const end = name.lastIndexOf('/');
  return end > 0 && end < name.length - 1 ? name.slice(0, end).toLowerCase() : undefined;
}

const exclusiveScopeOf = ({ name, exclusive }: LabelLike) => (exclusive ? scopeOf(name) : undefined);

/** What has to be done for an issue to have other labels. */
export interface LabelPlan<Label> {
  result: Label[];
  added: Label[];
  removed: Label[];
}

/** Adds labels to those an issue has, or replaces them, where of an exclusive scope the last one stays; or takes some away, and no others. */
export function planLabels<Label extends LabelLike>(
  current: readonly Label[],
  wanted: readonly Label[],
  how: 'add' | 'replace' | 'remove',
): LabelPlan<Label> {
  if (how === 'remove') {
    const kept = without(current, wanted);
    return { result: kept, added: [], removed: without(current, kept) };
  }
  const result = new Map((how === 'add' ? current : []).map((label) => [label.id, label]));
  // A request can name as many as there are: each is looked at once.
  const holders = Map.groupBy(result.values(), exclusiveScopeOf);
  for (const label of wanted) {
    if (result.has(label.id)) continue;
    const scope = exclusiveScopeOf(label);
    if (scope !== undefined) {
      for (const other of holders.get(scope) ?? []) result.delete(other.id);
      holders.set(scope, [label]);
    }
    result.set(label.id, label);
  }
  if (result.size > MAX_LABELS) throw unacceptable(`[Labels]: MaxSize(${MAX_LABELS})`);
  const labels = [...result.values()];
  return { result: labels, added: without(labels, current), removed: without(current, labels) };
}

/** Labels in the order in which a request names them, by id or name: each by the first of its names. */
export function sortAsNamed<Label extends LabelLike>(
  names: readonly (number | string)[],
  labels: readonly Label[],
): Label[] {
  // A request can name hundreds of thousands: they are gone through once.
  const places = new Map<number | string, number>();
  for (const [place, name] of names.entries()) {
    const key = typeof name === 'string' ? name.toLowerCase() : name;
    if (!places.has(key)) places.set(key, place);
  }
  const placeOf = ({ id, name }: Label) =>
    Math.min(places.get(id) ?? names.length, places.get(name.toLowerCase()) ?? names.length);
  return labels.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function without<Label extends LabelLike>(all: readonly Label[], some: readonly Label[]): Label[] {
  const ids = new Set(some.map(({ id }) => id));
  return all.filter(({ id }) => !ids.has(id));
}
