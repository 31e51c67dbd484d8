import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFastForward, notMergeable, rebaseConflicts } from '../failures.ts';
import { beginMerge, type CommitUnderWay, type Made, underWay } from '../outside/git/merging/merge.ts';
import { writeRebase } from '../outside/git/merging/rebase.ts';
import { writeSquash } from '../outside/git/merging/squash.ts';
import {
  commitObject,
  type GitObject,
  type Signature,
  signatureLine,
  signedCommit,
} from '../outside/git/objects.ts';
import { coAuthors } from '../rules/pulls/merge-message.ts';
import type { MergeStyle } from '../rules/pulls/merge-style.ts';
import type { UserRow } from '../store/people/users.ts';
import { signatureOf } from '../users/signature-of.ts';

/** A merge that was decided on. */
export interface DecidedMerge {
  style: Exclude<MergeStyle, 'manually-merged'>;
  base: string;
  head: string;
  mergeBase: string;
  /** The head it stands on, where the base has that in other words. */
  upstream?: string | undefined;
  /** Not asked for by styles that make no commit of their own. */
  message(): Promise<string>;
  /** What becomes of the words of the last commit of a rebase; undefined when they stay. */
  reword(): Promise<((original: string) => string) | undefined>;
  poster: UserRow;
}

/**
 * Writes what the base branch is to become, on no branch yet. Not twice at once in one repository.
 * @throws 405 on conflicts, 409 when a commit does not fit, or the base cannot just follow
 */
export async function writeDecided(
  context: Context,
  repositoryId: number,
  merger: Caller,
  merge: DecidedMerge,
): Promise<CommitUnderWay> {
  const { style, base, head, mergeBase, upstream } = merge;
  const { git } = context;
  const committer = signatureOf(context, merger.user);
  const { signingKey } = context.identity;
  const sign = signingKey && ((made: GitObject) => signedCommit(made, (content) => signingKey.sign(content)));
  const commit = (
    tree: string,
    parents: readonly string[],
    message: string,
    author = committer,
  ): GitObject => {
    const made = commitObject({ tree, parents, author, committer, message });
    return sign?.(made) ?? made;
  };
  const sides = { ours: base, theirs: head };
  switch (style) {
    case 'merge': {
      const message = await merge.message();
      const toCommit = (tree: string) => commit(tree, [base, head], message);
      return madeOf(await beginMerge(git, repositoryId, sides, toCommit));
    }
    case 'squash': {
      const author = signatureOf(context, merge.poster);
      const message = coAuthors(await merge.message(), nameOf(author), nameOf(committer));
      const toCommit = (tree: string) => commit(tree, [base], message, author);
      if (upstream === undefined) return madeOf(await beginMerge(git, repositoryId, sides, toCommit));
      const change = { from: mergeBase, to: head, onto: base };
      return underWay(madeOf(await writeSquash(git, repositoryId, change, toCommit)).id);
    }
    case 'rebase':
    case 'rebase-merge': {
      const message = style === 'rebase' ? '' : await merge.message();
      const reword = style === 'rebase' ? await merge.reword() : undefined;
      const rebased = await writeRebase(
        git,
        repositoryId,
        { onto: base, head, upstream, committer, sign, reword },
        ({ tip, tree }) =>
          // Nothing was left to merge, as when all of it is there already in other words.
          style === 'rebase' || tip === base ? undefined : commit(tree, [base, tip], message),
      );
      if (rebased.conflict !== undefined)
        throw rebaseConflicts(style, rebased.conflict.commit, rebased.conflict.files);
      return underWay(rebased.tip);
    }
    case 'fast-forward-only':
      if (mergeBase !== base) throw notFastForward();
      return underWay(head);
  }
}

/** @throws 405 */
function madeOf<Commit>({ made, conflicts }: Made<Commit>): Commit {
  if (made === undefined) throw notMergeable('Please try again later', { conflicted_files: conflicts });
  return made;
}

/** `Name <address>`, as a commit's header has it before the time. */
export const nameOf = (signature: Signature) => signatureLine(signature).replace(/ \d+ [+-]\d{4}$/, '');
