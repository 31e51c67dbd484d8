import { unacceptable } from '../../failures.ts';
import { checkTitle } from '../issues/issue-edit.ts';
import { checkText } from '../issues/text-limits.ts';
import { isBranchName } from './branch-name.ts';

/** What a ref asks for that is no ref: a review of its commits (the AGit flow). */
export interface ReviewRef {
  /** `<base>` or `<base>/<topic>`; both may have slashes. */
  path: string;
  isDraft: boolean;
}

/** Reads `refs/for/…`, `refs/for-review/…` and `refs/draft/…`; undefined for other refs. */
export function readReviewRef(ref: string): ReviewRef | undefined {
  const [, kind, path = ''] = /^refs\/(for|for-review|draft)\/(.+)$/s.exec(ref) ?? [];
  return kind === undefined ? undefined : { path, isDraft: kind === 'draft' };
}

/** A branch that a path may begin with, and what then is the topic; empty when nothing is left. */
export interface PossibleTarget {
  base: string;
  topic: string;
}

/** No branch and topic together are longer. */
const MAX_PATH = 600;

/** The ways to read a path. At most one of the branches exists: git has no `a/b` beside `a`. */
export function listTargets(path: string): PossibleTarget[] {
  if (path.length > MAX_PATH) return [];
  const ends = [...path.matchAll(/\//g)].map(({ index }) => index);
  return [...ends, path.length]
    .map((end) => ({ base: path.slice(0, end), topic: path.slice(end + 1) }))
    .filter(({ base }) => isBranchName(base));
}

/** What a client says with `-o` about what it pushes for review. */
export interface ReviewOptions {
  topic: string;
  /** Empty for the words of the first commit. */
  title: string;
  description: string;
  /** Whether the commits that were there may go. */
  force: boolean;
}

/**
 * Reads `name=value` lines, of which the last of a name counts; others than ours are for somebody else.
 * @throws 422 for what is too long, and for a `force-push` that says neither yes nor no
 */
export function readReviewOptions(lines: readonly string[]): ReviewOptions {
  const given = new Map(
    lines.map((line) => {
      const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(line.replaceAll('\0', '')) ?? [];
      return [name, value];
    }),
  );
  const force = given.has('force-push') ? (given.get('force-push') ?? 'true') : 'false';
  if (!/^(?:true|false|1|0)$/i.test(force))
    throw unacceptable(`the push option force-push is true or false, not '${force.slice(0, 100)}'`);
  return {
    topic: given.get('topic') ?? '',
    title: checkTitle((given.get('title') ?? '').trim()),
    description: checkText(given.get('description') ?? ''),
    force: /^(?:true|1)$/i.test(force),
  };
}

/**
 * A topic without the name of its owner, which clients may put before it; undefined for what could not be the name of a
 * branch.
 */
export function readTopic(topic: string, login: string): string | undefined {
  const own = topic.startsWith(`${login}/`) ? topic.slice(login.length + 1) : topic;
  return own !== '' && isBranchName(`${login}/${own}`) ? own : undefined;
}
