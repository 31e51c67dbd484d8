import { unacceptable } from '../../failures.ts';

/** Longest text of an issue or comment, in characters; clients of the reference cut theirs there. */
export const MAX_TEXT = 1_000_000;

/** @throws 422 for a text that is too long */
export function checkText(text: string, field = 'Body'): string {
  if (text.length > MAX_TEXT) throw unacceptable(`[${field}]: MaxSize(${MAX_TEXT})`);
  return text;
}
