/**
 * File names are bytes, JSON and log lines are text. Path text shows a name as it is where it is valid UTF-8 and
 * harmless, and writes every other byte, and `%`, as `%XX`; each sequence of bytes has exactly one path text.
 */

/** Names made of these need no second look. */
const PLAIN = /^[\x20-\x24\x26-\x7e]*$/;

/** Control characters, and what reorders or hides text on a terminal. */
const UNSAFE = /[%\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Of each byte. Whoever fills his home with names that are no text must not hold up a save by them. */
const PERCENT = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);

/** Text of the bytes of a name or path given as latin1 (one character a byte), as `readdir` hands them out. */
export function pathText(latin1: string): string {
  if (PLAIN.test(latin1)) return latin1;
  const bytes = Buffer.from(latin1, 'latin1');
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes))
    return text.replace(UNSAFE, (character) => percent(Buffer.from(character)));
  return latin1.replace(/[^\x20-\x24\x26-\x7e]/g, (byte) => PERCENT[byte.charCodeAt(0)] as string);
}

/** The bytes of a path text, as latin1. */
export function pathBytes(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .split(/(%[0-9A-F]{2})/)
    .map((part, at) =>
      at % 2 === 1
        ? String.fromCharCode(Number.parseInt(part.slice(1), 16))
        : Buffer.from(part).toString('latin1'),
    )
    .join('');
}

/** The path of something in a folder. @param below as lists of trees have it, `.` for the folder itself */
export function pathIn(folder: string, below: string): string {
  if (below === '.') return folder;
  return folder === '/' ? `/${below}` : `${folder}/${below}`;
}

function percent(bytes: Buffer): string {
  return Array.from(bytes, (byte) => PERCENT[byte]).join('');
}
