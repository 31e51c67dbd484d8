import { notFound, unacceptable } from '../../failures.ts';

/** Where the head of a new pull request is. */
export interface HeadRef {
  /** Undefined means the repository itself. */
  user: string | undefined;
  /** Name of the user's repository, where it is told: he may have several forks. */
  repo: string | undefined;
  branch: string;
}

/**
 * Create rules 1 and 2: `branch`, or `user:branch` and `user/repo:branch` for the fork of a user.
 * @throws 422 when head and base are the same text, 404 for more than two parts
 */
export function readHead(head: string, base: string): HeadRef {
  if (head === base) throw noChanges();
  const parts = head.split(':');
  if (parts.length > 2) throw notFound();
  const [first = '', second] = parts;
  if (second === undefined) return { user: undefined, repo: undefined, branch: first };
  const [user = '', repo, ...more] = first.split('/');
  if (more.length > 0) throw notFound('GetForkedRepo');
  return { user, repo, branch: second };
}

/** Head and base are one branch. */
export const noChanges = () =>
  unacceptable('Invalid PullRequest: There are no changes between the head and the base');
