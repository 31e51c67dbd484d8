import { withoutCode } from './prose.ts';

/** What a text wants to happen to an issue it names. */
export type ReferenceAction = 'none' | 'closes' | 'reopens';

/** An issue or pull request that a text names. */
export interface Reference {
  /** Undefined for the repository in which the text stands. */
  repository: { owner: string; name: string } | undefined;
  number: number;
  action: ReferenceAction;
}

/** A text that names more is a list, not a conversation. */
const MAX_REFERENCES = 50;
/** Of a longer text only the beginning is looked at. */
const MAX_LENGTH = 256 * 1024;
/** Longer than any of the words with a colon and some spaces. */
const WORD_WINDOW = 24;

const ACTION_WORD = /(?:^|[^\w-])(close[sd]?|fix(?:e[sd])?|resolve[sd]?|reopen(?:s|ed)?)(?::[ \t]*|[ \t]+)$/i;

/**
 * Addresses first, so that what is in one names nothing; then `#1`, `!1`, `owner/name#1`. Every repetition is bounded
 * or cannot begin again inside itself: the time is in proportion to the text.
 */
const MENTION =
  /\bhttps?:\/\/[^\s<>"'`()[\]]+|(?<![\w/&#!.@-])(?:([\w.-]{1,100})\/([\w.-]{1,100}))?[#!](\d{1,9})(?![\w/-])/gi;

/**
 * The issues and pull requests that a text names, each once, with the strongest wish; code and other addresses name
 * none. `closes #1` and the like are wishes.
 * @param root public address of the forge, for addresses of issues
 */
export function readReferences(text: string, root: string): Reference[] {
  const prose = withoutCode(text.slice(0, MAX_LENGTH));
  const references = new Map<string, Reference>();
  for (const match of prose.matchAll(MENTION)) {
    const named = readMention(match, root);
    if (named === undefined) continue;
    const word = ACTION_WORD.exec(prose.slice(Math.max(0, match.index - WORD_WINDOW), match.index))?.[1];
    const { repository, number } = named;
    const key = `${repository?.owner ?? ''}/${repository?.name ?? ''}#${number}`.toLowerCase();
    const known = references.get(key);
    if (known !== undefined && known.action !== 'none') continue;
    if (known === undefined && references.size >= MAX_REFERENCES) break;
    references.set(key, { repository, number, action: actionOf(word) });
  }
  return [...references.values()];
}

function readMention(match: RegExpExecArray, root: string): Omit<Reference, 'action'> | undefined {
  const [whole, owner, name, digits] = match;
  if (digits !== undefined) {
    const repository = owner === undefined || name === undefined ? undefined : { owner, name };
    return Number(digits) === 0 ? undefined : { repository, number: Number(digits) };
  }
  if (!whole.toLowerCase().startsWith(`${root.toLowerCase()}/`)) return undefined;
  const path = /^\/([\w.-]{1,100})\/([\w.-]{1,100})\/(?:issues|pulls)\/(\d{1,9})(?![\w-])/.exec(
    whole.slice(root.length),
  );
  if (path === null || Number(path[3]) === 0) return undefined;
  return { repository: { owner: path[1] as string, name: path[2] as string }, number: Number(path[3]) };
}

function actionOf(word: string | undefined): ReferenceAction {
  if (word === undefined) return 'none';
  return word.toLowerCase().startsWith('reopen') ? 'reopens' : 'closes';
}
