/** Of a refusal nobody reads more; an address that carries it twice has room for that. */
const MAX_CHARACTERS = 512;

/**
 * What somebody outside says, as it can be told and kept: a column of the database knows neither U+0000 nor half a
 * character, and an address has an end.
 */
export function outsideWords(text: string): string {
  return text.slice(0, MAX_CHARACTERS).toWellFormed().replaceAll('\0', '');
}
