import { type FileSystem, markOf } from '../filesystem.ts';
import { isOurs } from './save-record.ts';

/** What a value of a property holds with room to spare. */
const MAX_BYTES = 8000;

/**
 * What snapshots of another manager that are members of states are called after `@`. They keep their names, so that whoever made
 * them finds them as well; all others are not looked at.
 */
export function adoptedNames(systems: readonly FileSystem[]): ReadonlySet<string> {
  const marks = new Set(systems.map((system) => markOf(system, 'croft:adopted')));
  return new Set([...marks].flatMap((mark) => mark.split(',')).filter((name) => name !== ''));
}

/** Whether a snapshot has the name of one of a save, ours or adopted. */
export function isOfAnySave(snapshot: string, adopted: ReadonlySet<string>): boolean {
  return isOurs(snapshot) || adopted.has(snapshot.slice(snapshot.indexOf('@') + 1));
}

/** The mark for a machine's roots. */
export function adoptedMark(names: Iterable<string>): string {
  return [...names].sort().join(',');
}

/** Whether so many names have room in a mark. */
export function hasRoom(names: Iterable<string>): boolean {
  return adoptedMark(names).length <= MAX_BYTES;
}
