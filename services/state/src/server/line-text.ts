import { stripVTControlCharacters } from 'node:util';

/** A line is cut here; a client's screen is no place for more. */
const MAX_CHARACTERS = 4000;

/** Control characters and the two separators that some terminals take for line ends. */
const CONTROLS = /[\p{Cc}\u2028\u2029]/gu;

/** A line of these, and no blank at its end, is what clients may show: nearly all are, and there may be thousands. */
const PLAIN = /^[ -~]*[!-~]$/;

/** The lines of a text as every client may show them: valid Unicode, no colours or control characters, none empty. */
export function lineTexts(text: string): string[] {
  if (text.length <= MAX_CHARACTERS && PLAIN.test(text)) return [text];
  return stripVTControlCharacters(text)
    .split(/\r?\n/)
    .map((line) => line.replaceAll('\t', ' ').replace(CONTROLS, '\ufffd').toWellFormed().trimEnd())
    .filter((line) => line !== '')
    .map((line) =>
      line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS).toWellFormed()}…` : line,
    );
}
