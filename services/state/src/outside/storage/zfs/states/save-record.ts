import type { Member, State } from '../../../../model/model.ts';
import type { Properties } from '../read-properties.ts';

/** Values of properties have at most 8,191 bytes; zfs-fuse 0.7 takes as much. */
const CHUNK_BYTES = 8000;
const MAX_CHUNKS = 8;
const PREFIX = 'croft_';

/** A tree of datasets that was saved as one: the machine's root, a boot file system, or a home. */
export interface SavedTree {
  readonly role: Member['role'];
  readonly user?: string;
  /** Its root when it was saved; promotion may have given the snapshots to another dataset since. */
  readonly root: string;
}

/** One dataset as it was saved, and what a clone of it needs to lie where it lay. */
export interface SavedDataset {
  /** Which of the trees. */
  readonly tree: number;
  /** The rest of its name below the tree's root: empty, or `/var/log`. */
  readonly below: string;
  /** Where it was mounted, or `none`. */
  readonly path: string;
  /** Its own mountpoint; undefined when it inherited one. */
  readonly mountpoint?: string;
  readonly canmount: string;
}

/** What is written with the snapshots of a save: `croft:state`. */
export interface Outline {
  readonly version: 1;
  readonly id: string;
  readonly trees: readonly SavedTree[];
  readonly datasets: readonly SavedDataset[];
}

/** What the completion mark says: the states without their members, and of each dataset's snapshot who it is. */
export interface Completion {
  readonly version: 1;
  readonly states: readonly Omit<State, 'members'>[];
  /** The first one is that of the first state. */
  readonly snapshots: readonly (Pick<Member, 'dataset' | 'guid' | 'bytes'> &
    // Of what was imported: what could not be read where it was saved.
    Partial<Pick<Member, 'unreadable' | 'torn'>>)[];
}

/** Something of a state that is written down later: `croft:note`, on the first snapshot of that state. */
export type Note = Partial<Pick<State, 'pinned' | 'description'>>;

/** What does not fit into the first property lies in one of two slots, so that a record is replaced as a whole. */
export type Slot = '' | 'b';

/** Names of the properties that a text may be spread over. */
export function chunkNames(property: string): string[] {
  return [property, ...slotNames(property, '')];
}

/** Those of a record that was replaced, which are seldom there; reading them all the time takes as long as all others. */
export function secondNames(property: string): string[] {
  return slotNames(property, 'b');
}

/** Whether a record has parts under its second names. */
export function hasSecond(property: string, properties: Properties): boolean {
  return /^[2-9]b:/.test(properties.get(property)?.value ?? '');
}

function slotNames(property: string, slot: Slot): string[] {
  return Array.from({ length: MAX_CHUNKS - 1 }, (_, at) => `${property}.${slot}${at + 1}`);
}

/** The slot that a record does not lie in. */
export function freeSlot(property: string, properties: Properties | undefined): Slot {
  return /^\d+b:/.test(properties?.get(property)?.value ?? '') ? '' : 'b';
}

/**
 * A record as values of properties, the last one that is to be written first in the list: it says how many belong to it, and
 * where they are.
 * @returns undefined when it is too long
 */
export function chunksOf(property: string, record: object, slot: Slot = ''): [string, string][] | undefined {
  const text = JSON.stringify(record).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const count = Math.ceil(text.length / CHUNK_BYTES);
  if (count > MAX_CHUNKS) return undefined;
  const chunks = [property, ...slotNames(property, slot)]
    .slice(0, count)
    .map((name, at): [string, string] => [name, text.slice(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES)]);
  return chunks.map(([name, chunk], at) => [name, at === 0 ? `${count}${slot}:${chunk}` : chunk]);
}

/**
 * A record from properties; undefined when there is none, it is not whole, or of another version. Only what was set here counts:
 * a received copy carries the marks of what it is a copy of.
 */
export function recordOf<T extends { version: 1 }>(property: string, properties: Properties): T | undefined {
  const localValue = (name: string) => {
    const found = properties.get(name);
    return found?.source === 'local' ? found.value : '';
  };
  const [, count, slot, first = ''] = /^(\d)(b?):(.*)$/s.exec(localValue(property)) ?? [];
  const others = slotNames(property, slot === 'b' ? slot : '').slice(0, Number(count ?? 1) - 1);
  const text = [first, ...others.map(localValue)].join('');
  const record = json(text) as T | undefined;
  return record?.version === 1 ? record : undefined;
}

/** JSON that somebody else may have written. */
export function json(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The part of a snapshot's name after `@`. It ends with what is unique, so that no name is part of another: scripts of the
 * initramfs look for it by `grep`.
 */
export function snapshotName(id: string, name = ''): string {
  return `${PREFIX}${name === '' ? '' : `${name}_`}${id.slice(0, 8)}`;
}

/** Whether a snapshot's name is one that we give. */
export function isOurs(snapshot: string): boolean {
  return /@croft_(?:[A-Za-z0-9._:-]+_)?[0-9a-f]{8}$/.test(snapshot);
}

/** Whether a snapshot's name is one of a save. */
export function isOfSave(snapshot: string, id: string): boolean {
  return isOurs(snapshot) && snapshot.endsWith(`_${id.slice(0, 8)}`);
}

/**
 * Who a snapshot is. The guid alone is not enough: it goes along with `zfs send`, and the transaction that made it does not.
 */
export function identityOf(properties: Properties | undefined): string {
  const [guid, txg] = [properties?.get('guid')?.value, properties?.get('createtxg')?.value];
  return guid === undefined || txg === undefined ? '' : `${guid}.${txg}`;
}
