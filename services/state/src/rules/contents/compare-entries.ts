import type { Entry } from '../../model/entry.ts';
import type { DiffChange } from '../../wire-extras.ts';

/** What is the same in two entries of one path, and what is not. */
export type Difference = Omit<DiffChange, 'path' | 'kind'>;

/** How two files' content compares: the facts tell, or somebody has to read them. */
export type ContentVerdict = 'same' | 'changed' | 'unknown' | 'read';

/**
 * Whether the content of two entries of one path and type differs, by what is known without reading it. Files of one size and
 * time (to the nanosecond) are taken for the same, as a save does.
 */
export function compareContent(one: Entry, other: Entry): ContentVerdict {
  if (one.type === 'folder') return isClosed(one) === isClosed(other) ? 'same' : 'unknown';
  if (one.rdev !== other.rdev) return 'changed';
  if (one.type !== 'file') return 'same';
  if (one.hash !== undefined && other.hash !== undefined) return one.hash === other.hash ? 'same' : 'changed';
  if (one.size !== undefined && other.size !== undefined && one.size !== other.size) return 'changed';
  if (one.mtimeNs === other.mtimeNs) return 'same';
  return one.unreadable === undefined && other.unreadable === undefined ? 'read' : 'unknown';
}

/**
 * What differs in two entries of one path.
 * @param content of what {@link compareContent} says, with what reading came to
 * @param counts whether modification times do, and extended attributes: only where both trees had theirs read
 * @returns undefined when nothing does
 */
export function compareEntries(
  one: Entry,
  other: Entry,
  content: Exclude<ContentVerdict, 'read'>,
  counts: { readonly times: boolean; readonly attributes: boolean },
): Difference | undefined {
  const isOther = one.type !== other.type;
  // What is mounted has facts of its own, which may not even be known.
  const isMount = one.leftOut !== undefined || other.leftOut !== undefined;
  const found = {
    content: !isOther && content === 'changed',
    unknown: !isOther && content === 'unknown',
    // A link has no permissions that count.
    mode: !isMount && !(one.type === 'link' && other.type === 'link') && one.mode !== other.mode,
    owner: !isMount && (one.uid !== other.uid || one.gid !== other.gid),
    target: !isOther && one.target !== other.target,
    // Node sets times to the microsecond, so what came back from a state differs in what is below.
    time: counts.times && !isMount && one.mtimeNs.slice(0, -3) !== other.mtimeNs.slice(0, -3),
    attributes: counts.attributes && !sameAttributes(one, other),
  };
  if (!isOther && !Object.values(found).includes(true)) return undefined;
  return { type: other.type, oldType: isOther ? one.type : '', ...found };
}

/** Whether two entries have the same extended attributes, as far as is known; each is held in the order of its names. */
export function sameAttributes(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one?.bare === true || other?.bare === true) return true;
  return JSON.stringify(one?.attributes ?? {}) === JSON.stringify(other?.attributes ?? {});
}

/** What is in a folder is not known: it could not be read, or was left out on purpose. */
export function isClosed(entry: Entry): boolean {
  return entry.type === 'folder' && (entry.unreadable !== undefined || entry.leftOut !== undefined);
}
