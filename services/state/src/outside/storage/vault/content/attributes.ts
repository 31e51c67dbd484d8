import type { Entry } from '../../../../model/entry.ts';
import { isKeptAttribute } from '../../../../rules/contents/kept-attributes.ts';
import { bytesOf, lstat } from '../files.ts';

/** Extended attributes by name, in the order of the names; values in base64. Access control lists are among them. */
export type Attributes = NonNullable<Entry['attributes']>;

/** What reading came to: attributes, or the system's error code. */
export type AttributesRead = { readonly attributes: Attributes } | { readonly code: string };

/** Of one entry, as they stand in its line. */
const MAX_CHARACTERS = 32 * 1024;
const NONE: Attributes = {};
const ENOTSUP = 95;
const CODES: Readonly<Record<number, string>> = { 1: 'EPERM', 2: 'ENOENT', 5: 'EIO', 13: 'EACCES' };

/** Undefined where there is none for the platform. Elsewhere than on Linux attributes are not what a state is made of. */
const library =
  process.platform === 'linux' ? import('@napi-rs/xattr').catch(() => undefined) : Promise.resolve(undefined);

/**
 * The attributes of what lies at a path, a link itself if it is one; undefined where they cannot be known at all. The library
 * takes no descriptors: whoever reads a file by its name looks at its change time before and after, which each renaming sets.
 * @param path as latin1 bytes
 */
export async function readAttributes(path: string, uid: bigint): Promise<AttributesRead | undefined> {
  const xattr = await library;
  if (xattr === undefined) return undefined;
  const name = nameOf(path);
  if (name === undefined) return { code: 'EILSEQ' };
  try {
    const names = await xattr.listAttributes(name);
    if (names.length === 0) return { attributes: NONE };
    const found: [string, string][] = [];
    for (const each of names.filter((one) => isKept(one, uid)).sort()) {
      const value = await xattr.getAttribute(name, each);
      if (value !== null) found.push([each, value.toString('base64')]);
    }
    const attributes = Object.fromEntries(found);
    return JSON.stringify(attributes).length > MAX_CHARACTERS ? { code: 'E2BIG' } : { attributes };
  } catch (error) {
    const code = systemCode(error);
    return code === ENOTSUP ? { attributes: NONE } : { code: CODES[code] ?? 'EIO' };
  }
}

/**
 * Gives something the attributes that it should have, and takes those that it got from the folder it was made in.
 * @returns why it has not, as a line for people
 */
export async function writeAttributes(path: Buffer, wanted: Attributes): Promise<string | undefined> {
  const xattr = await library;
  const name = nameOf(path.toString('latin1'));
  const none = Object.keys(wanted).length === 0;
  if (xattr === undefined || name === undefined)
    return none ? undefined : 'has no extended attributes: they cannot be set here';
  const { uid } = await lstat(path);
  try {
    for (const each of await xattr.listAttributes(name))
      if (isKept(each, uid) && wanted[each] === undefined) await xattr.removeAttribute(name, each);
    for (const [each, value] of Object.entries(wanted))
      await xattr.setAttribute(name, each, Buffer.from(value, 'base64'));
    return undefined;
  } catch (error) {
    if (systemCode(error) === ENOTSUP && none) return undefined;
    return `has not all of its extended attributes: ${(error as Error).message}`;
  }
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
