import { isBranchName } from './branch-name.ts';

/** What a text that names a commit may mean, in the order in which it is looked for. */
export interface RevisionGuess {
  /** Full refs. */
  refs: { ref: string; kind: 'branch' | 'tag' | 'commit'; name: string }[];
  /** An id or its beginning, in lower case. */
  id: string | undefined;
}

/** An id or its beginning, as short as git shows it. */
const ID_OR_START = /^[0-9a-f]{7,40}$/i;

/**
 * A branch before a tag before a commit, as git's own expressions have it the other way round only for branches and
 * tags; a whole id is nothing else. Expressions (`main~1`, `@{-1}`, `:/text`, `a:b`) mean nothing here.
 */
export function guessRevision(text: string): RevisionGuess {
  const id = ID_OR_START.test(text) ? text.toLowerCase() : undefined;
  if (isWholeId(id)) return { refs: [], id };
  const pull = /^(?:refs\/)?pull\/([1-9]\d{0,8})\/head$/.exec(text)?.[1];
  const full = /^(?:refs\/)?(heads|tags)\/(.+)$/.exec(text);
  const guesses: RevisionGuess['refs'] = [];
  if (isBranchName(text)) {
    guesses.push({ ref: `refs/heads/${text}`, kind: 'branch', name: text });
    guesses.push({ ref: `refs/tags/${text}`, kind: 'tag', name: text });
  }
  if (full !== null && isBranchName(full[2] as string)) {
    const [, folder, name = ''] = full;
    guesses.push({ ref: `refs/${folder}/${name}`, kind: folder === 'tags' ? 'tag' : 'branch', name });
  }
  if (pull !== undefined) guesses.push({ ref: `refs/pull/${pull}/head`, kind: 'commit', name: text });
  return { refs: guesses, id };
}

/** The whole id of an object, in lower case; undefined for everything else. */
export function readObjectId(text: string): string | undefined {
  const id = text.toLowerCase();
  return isWholeId(id) ? id : undefined;
}

/** Whether it is no beginning: beginnings could be tried through, so they name only what a ref leads to. */
export function isWholeId(id: string | undefined): id is string {
  return /^[0-9a-f]{40}$/.test(id ?? '');
}
