import { unacceptable } from '../../failures.ts';

/** Bytes that every file system takes. */
const MAX_BYTES = 255;

/**
 * The name people see of a file they sent: without folders, without characters that are not to be seen or turn the
 * rest around. It never becomes the name of a file here.
 */
export function cleanFileName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const visible = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{fffd}]/gu, '').trim();
  // A character that is cut in two leaves something that is none.
  const cut = Buffer.from(visible).subarray(0, MAX_BYTES).toString();
  const short = Buffer.byteLength(visible) <= MAX_BYTES ? visible : cut.replace(/\ufffd+$/, '');
  return short === '' || /^\.+$/.test(short) ? 'attachment' : short;
}

/**
 * @param endings such as `.png`, whatever their case; none allow everything
 * @throws 422 for a name with another ending
 */
export function checkFileType(name: string, endings: readonly string[]): void {
  const allowed = endings.map((ending) => ending.toLowerCase());
  if (allowed.length === 0 || allowed.includes('*/*')) return;
  if (!allowed.some((ending) => name.toLowerCase().endsWith(ending))) {
    throw unacceptable(`this type of file is not allowed, only ${allowed.join(', ')}`);
  }
}
