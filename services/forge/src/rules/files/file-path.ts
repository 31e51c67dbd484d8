import { unacceptable } from '../../failures.ts';

const MAX_LENGTH = 500;
/** Characters that HFS+ drops from names: `.g\u200cit` is `.git` there. */
const DROPPED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;
/**
 * What people's git takes instructions from; a symbolic link there leads it anywhere. Beside each what its short name on NTFS begins
 * with where four others have the plain one, from a hash of the name, as git knows them.
 */
const SPECIAL = { gitmodules: 'gi7eba', gitattributes: 'gi7d29', gitignore: 'gi250a', mailmap: 'maba30' };

/**
 * The path of a file that is to be written, without a slash before it.
 * @throws 422 for what is no file in a repository, and for `.git` in every spelling that some file system takes for it
 */
export function checkFilePath(text: string): string {
  const path = text.replace(/^\//, '');
  const bad = (why: string) => unacceptable(`path is invalid: ${why}`);
  if (path === '') throw bad('it is empty');
  if (path.length > MAX_LENGTH || Buffer.byteLength(path) > 4 * MAX_LENGTH)
    throw bad(`it is longer than ${MAX_LENGTH} characters`);
  if (/[\u0000-\u001f\u007f]/.test(path) || !path.isWellFormed()) throw bad('it has control characters');
  for (const part of path.split('/')) {
    if (part === '') throw bad('a part of it is empty');
    if (part === '.' || part === '..') throw bad(`${part} is no name`);
    if (Buffer.byteLength(part) > 255) throw bad('a name is longer than 255 bytes');
    if (part.split('\\').some(isGitFolder)) throw bad('.git belongs to git');
  }
  return path;
}

/** Whether a symbolic link may have this path. */
export function mayBeLink(path: string): boolean {
  return !(Object.keys(SPECIAL) as (keyof typeof SPECIAL)[]).some((word) => isRead(path, word));
}

/** Whether git reads a file of this path as `.gitmodules`. */
export function isModules(path: string): boolean {
  return isRead(path, 'gitmodules');
}

/** Whether git on some file system reads a file of this path as the one called `.` and the word. */
function isRead(path: string, word: keyof typeof SPECIAL): boolean {
  const name = folded(path.slice(path.lastIndexOf('/') + 1));
  if (name === `.${word}`) return true;
  const [, letters = '', number = ''] = /^([^~]+)~([1-9]\d*)$/.exec(name) ?? [];
  if (letters === word.slice(0, 6)) return /^[1-4]$/.test(number);
  // More digits take the place of letters: eight characters in all.
  return name.length === 8 && letters !== '' && SPECIAL[word].startsWith(letters);
}

/**
 * Whether the text of a `.gitmodules` file is harmless: names that climb out of the folder of submodules, and addresses
 * and paths that would be read as options, have been ways to run code on the machine of whoever clones.
 */
export function isHarmlessModules(content: Buffer): boolean {
  const text = content.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  return text
    .replace(/\\\r?\n/g, '')
    .split('\n')
    .every(isHarmlessLine);
}

/** Headers of sections come first. Each step begins where the one before ended: files of megabytes are looked at, too. */
function isHarmlessLine(line: string): boolean {
  let rest = line.trimStart();
  while (rest.startsWith('[')) {
    const end = endOfHeader(rest);
    const header = rest.slice(0, end);
    if (/^\[\s*submodule\s/i.test(header) && [header, header.replace(/\\(.)/g, '$1')].some(climbs))
      return false;
    rest = rest.slice(end).trimStart();
  }
  return !/^(?:(?:url|path)\s*=[\s"]*-|update\s*=[\s"]*!)/i.test(rest);
}

const climbs = (header: string) => /["\\/]\.\.["\\/]/.test(header);

/** Behind its bracket, which counts outside of quotes only. */
function endOfHeader(text: string): number {
  let isQuoted = false;
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === ']' && !isQuoted) return at + 1;
  }
  return text.length;
}

function isGitFolder(name: string): boolean {
  const plain = folded(name);
  return plain === '.git' || plain === 'git~1';
}

/** As the most forgiving file systems see a name: case, dropped characters, trailing dots and spaces, streams. */
function folded(name: string): string {
  return name
    .replace(DROPPED_BY_HFS, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
}
