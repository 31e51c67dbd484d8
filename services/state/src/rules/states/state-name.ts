import { badStateName } from '../../failures.ts';

/** What names of automatic states begin with; nobody may type it. */
const AUTOMATIC_PREFIX = 'auto_';
const MAX_LENGTH = 100;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A name somebody typed must be one that boot loaders, file systems and shells all take as it is.
 * @throws INVALID_ARGUMENT naming each offending character once
 */
export function checkTypedName(name: string): void {
  if (name === '') return;
  const bad = [...new Set(name.match(/[^A-Za-z0-9._:-]/gu) ?? [])];
  if (bad.length > 0) {
    throw badStateName(
      `a state name is made of A-Z a-z 0-9 . _ : and -, so these are not allowed in it: ${bad.slice(0, 10).map(characterName).join(' ')}`,
    );
  }
  if (name.length > MAX_LENGTH) {
    throw badStateName(`a state name has at most ${MAX_LENGTH} characters, this one has ${name.length}`);
  }
  if (/^[-.]/.test(name)) throw badStateName('a state name does not start with - or .');
  if (name.startsWith(AUTOMATIC_PREFIX)) {
    throw badStateName(
      `names that start with ${AUTOMATIC_PREFIX} are kept for automatic states: leave the name empty to get one`,
    );
  }
}

/** The name of an automatic state from random bytes, six of which are used. */
export function automaticName(random: Uint8Array): string {
  // 256 is no multiple of 36: the bias (7.1 against 7.8 in 256) costs 0.02 bit of 31, names are no secrets.
  return (
    AUTOMATIC_PREFIX + Array.from(random.subarray(0, 6), (byte) => LETTERS[byte % LETTERS.length]).join('')
  );
}

/** Printable ASCII as it is, everything else by its number: the message goes to terminals. */
function characterName(character: string): string {
  if (/^[!-~]$/.test(character)) return character;
  if (character === ' ') return 'space';
  return `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`;
}
