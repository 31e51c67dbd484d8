import { badImport } from '../../failures-extras.ts';
import type { Entry, EntryType } from '../../model/entry.ts';
import { pathBytes, pathText } from '../../model/path-text.ts';
import { isKeptAttribute } from './kept-attributes.ts';

const TYPES: ReadonlySet<string> = new Set<EntryType>([
  'folder',
  'file',
  'link',
  'fifo',
  'socket',
  'block',
  'char',
]);
/** The system takes 4,096 bytes at most, of which each can be written as three characters. */
const MAX_PATH = 3 * 4096;
const MAX_ID = 2 ** 32 - 1;

/** What each field of an entry may be; all others may not be there. */
const FIELDS: Readonly<Record<keyof Entry, (value: unknown) => boolean>> = {
  path: isPathText,
  type: (value) => TYPES.has(value as string),
  mode: (value) => fits(value, /^[0-7]{1,4}$/),
  uid: isId,
  gid: isId,
  mtimeNs: (value) => fits(value, /^-?\d{1,20}$/),
  size: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  hash: isHash,
  sparse: (value) => value === true,
  inode: (value) => fits(value, /^[\w:-]{1,64}$/),
  target: isPathText,
  rdev: (value) => fits(value, /^\d{1,20}$/),
  attributes: areAttributes,
  bare: (value) => value === true,
  unreadable: (value) => fits(value, /^[A-Z0-9_]{1,40}$/),
  torn: (value) => value === true,
  leftOut: (value) => value === 'mount' || value === 'storage',
};
const NEEDED = ['path', 'type', 'mode', 'uid', 'gid', 'mtimeNs'] as const;

/** Reads a line of a manifest from a stranger. Where it lies among the others is the caller's business. @throws INVALID_ARGUMENT */
export function readExportedEntry(line: string): Entry {
  const entry = parse(line);
  for (const [field, value] of Object.entries(entry)) {
    const isFit = Object.hasOwn(FIELDS, field) && FIELDS[field as keyof Entry](value);
    if (!isFit) throw badImport(`an entry has ${JSON.stringify(field.slice(0, 40))} as no entry has it`);
  }
  if (NEEDED.some((field) => entry[field] === undefined))
    throw badImport('an entry lacks what every entry has');
  const hasContent = entry.hash !== undefined && entry.size !== undefined;
  const isWhole =
    entry.unreadable !== undefined ||
    (entry.type !== 'file' && entry.type !== 'link') ||
    (entry.type === 'file' ? hasContent : entry.target !== undefined);
  if (!isWhole || (entry.type !== 'file' && entry.hash !== undefined))
    throw badImport(`the entry ${entry.path.slice(0, 200)} is not what it should be`);
  return entry;
}

function parse(line: string): Entry {
  try {
    const value = JSON.parse(line) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Entry;
  } catch {
    // Told below.
  }
  throw badImport('a line of a list of files is no entry');
}

/** The SHA-256 of something, as we write it. */
export function isHash(value: unknown): value is string {
  return fits(value, /^[0-9a-f]{64}$/);
}

/** Each sequence of bytes has one path text, and names have no zero in them. */
function isPathText(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.length > MAX_PATH) return false;
  const bytes = pathBytes(value);
  return pathText(bytes) === value && !bytes.includes('\0');
}

/** By names that a save keeps, each in base64 as we write it, in their order. */
function areAttributes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return (
    names.every((name, at) => isKeptAttribute(name) && (at === 0 || (names[at - 1] as string) < name)) &&
    Object.values(value).every(
      (each) => typeof each === 'string' && Buffer.from(each, 'base64').toString('base64') === each,
    )
  );
}

function isId(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_ID;
}

function fits(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}
