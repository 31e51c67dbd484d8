import type { Entry } from '../../../../model/entry.ts';
import { isKeptAttribute } from '../../../../rules/contents/kept-attributes.ts';
import { bytesOf, lstat } from '../files.ts';

/** Extended attributes by name, in the order of the names; values in base64. Access control lists are among them. */
export type Attributes = NonNullable<Entry['attributes']>;

/** What reading came to: attributes, or the system's error code. */
export type AttributesRead = { readonly attributes: Attributes } | { readonly code: string };

/** Of one entry, as they stand in its line, and of a tree: what is saved is held in memory. */
const MAX_CHARACTERS = 32 * 1024;
const MAX_TREE_CHARACTERS = 32 * 1024 * 1024;
const ACCESS_LIST = 'system.posix_acl_access';
const NONE: Attributes = {};
const ENOTSUP = 95;
const CODES: Readonly<Record<number, string>> = { 1: 'EPERM', 2: 'ENOENT', 5: 'EIO', 13: 'EACCES' };

/** Undefined where there is none for the platform. Elsewhere than on Linux attributes are not what a state is made of. */
const library =
  process.platform === 'linux' ? import('@napi-rs/xattr').catch(() => undefined) : Promise.resolve(undefined);

/** Reads the attributes of one tree. Whoever owns files in it can give each of them gigabytes. */
export class AttributeReader {
  #left = MAX_TREE_CHARACTERS;

  /**
   * The attributes of what lies at a path, a link itself if it is one; undefined where they cannot be known at all. The library
   * takes no descriptors: whoever reads a file by its name looks at its change time before and after, which each renaming sets.
   * @param path as latin1 bytes
   */
  async read(path: string, uid: bigint): Promise<AttributesRead | undefined> {
    const xattr = await library;
    if (xattr === undefined) return undefined;
    const name = nameOf(path);
    // Such names are rare, and what cannot be asked for is not told at every save.
    if (name === undefined) return { attributes: NONE };
    try {
      const names = await xattr.listAttributes(name);
      if (names.length === 0) return { attributes: NONE };
      const attributes: Record<string, string> = {};
      let characters = 0;
      for (const each of names.filter((one) => isKept(one, uid)).sort()) {
        const value = await xattr.getAttribute(name, each);
        if (value === null) continue;
        attributes[each] = value.toString('base64');
        characters += JSON.stringify(each).length + attributes[each].length + 4;
        if (characters > Math.min(MAX_CHARACTERS, this.#left)) return { code: 'E2BIG' };
      }
      this.#left -= characters;
      return { attributes };
    } catch (error) {
      const code = systemCode(error);
      return code === ENOTSUP ? { attributes: NONE } : { code: CODES[code] ?? 'EIO' };
    }
  }
}

/** What something has not got of the attributes that it should have. */
export interface Unwritten {
  /** As a line for people. */
  readonly problem: string;
  /** The list of who may do what is among them, without which the mode allows too much. */
  readonly isOpen: boolean;
}

/** Gives something the attributes that it should have, and takes those that it got from the folder it was made in. */
export async function writeAttributes(path: Buffer, wanted: Attributes): Promise<Unwritten | undefined> {
  const xattr = await library;
  const name = nameOf(path.toString('latin1'));
  const isNone = Object.keys(wanted).length === 0;
  const isOpen = wanted[ACCESS_LIST] !== undefined;
  if (xattr === undefined || name === undefined)
    return isNone ? undefined : { problem: 'has no extended attributes: they cannot be set here', isOpen };
  const { uid } = await lstat(path);
  const failed = new Map<string, string>();
  const attempt = async (each: string, work: Promise<void>) =>
    work.catch((error: Error) => failed.set(each, error.message));
  const present = await xattr.listAttributes(name).catch(() => []);
  for (const each of present)
    if (isKept(each, uid) && wanted[each] === undefined)
      await attempt(each, xattr.removeAttribute(name, each));
  for (const [each, value] of Object.entries(wanted))
    await attempt(each, xattr.setAttribute(name, each, Buffer.from(value, 'base64')));
  const [first] = failed;
  if (first === undefined) return undefined;
  const problem = `has not all of its extended attributes: ${first[0]} (${first[1]})`;
  return { problem, isOpen: failed.has(ACCESS_LIST) };
}

/** What a program may do beyond its caller is believed of root's files only, whoever swaps names meanwhile. */
function isKept(name: string, uid: bigint): boolean {
  return isKeptAttribute(name) && (name !== 'security.capability' || uid === 0n);
}

/** Paths of the library are text; undefined for bytes that are none. */
function nameOf(path: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(path));
  } catch {
    return undefined;
  }
}

/** The library tells the system's number in its message only. */
function systemCode(error: unknown): number {
  return Number(/os error (\d+)/.exec((error as Error).message)?.[1]);
}
