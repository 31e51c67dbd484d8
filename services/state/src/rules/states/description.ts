import { badDescription } from '../../failures-extras.ts';

const MAX_CHARACTERS = 1000;

/** Control characters but the end of a line, and what reorders or hides text on a terminal. */
const UNFIT = /[^\P{Cc}\n]|[\u2028-\u202e\u2066-\u2069]/u;

/** What somebody says of a state goes to terminals and menus. @throws INVALID_ARGUMENT */
export function checkDescription(text: string): void {
  // What a person sees as one may be several; what the bound is for is not that exact.
  const length = Array.from(text).length;
  if (length > MAX_CHARACTERS)
    throw badDescription(`a description has at most ${MAX_CHARACTERS} characters, this one has ${length}`);
  const unfit = UNFIT.exec(text)?.[0];
  if (unfit === undefined) return;
  const code = (unfit.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
  throw badDescription(
    `a description has no control characters besides the end of a line, and this one has U+${code}`,
  );
}
