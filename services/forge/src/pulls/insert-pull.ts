import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound, pullExists } from '../failures.ts';
import { eventsOfNew } from '../issues/events-of-new.ts';
import { entriesOfNew } from '../issues/timeline-entries.ts';
import { moveRefs, pullRef } from '../outside/git/refs.ts';
import { addRequests, type ReviewWish } from '../reviews/add-requests.ts';
import type { TimelineEntry } from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';

/** The half of a new pull request that is an issue, and who is to review it. */
export type PullDraft = Omit<issues.NewIssueRow, 'repositoryId' | 'isPull' | 'ref' | 'entries'> & {
  reviewers?: readonly ReviewWish[];
  /** What its timeline tells of its commits. */
  brought: readonly TimelineEntry[];
};

/** The half that is about branches. */
export type PullBranches = Omit<Parameters<typeof pulls.insert>[1], 'issueId'>;

/**
 * Adds a pull request whose commits are in its repository, and its ref. For whoever has the queue of branches.
 * @throws 404 when one of the repositories went away, 409 when there is one like it by now
 */
export async function insertPull(
  context: Context,
  draft: PullDraft,
  branches: PullBranches,
): Promise<{ id: number; number: number }> {
  const { database, git } = context;
  const made = await database.transaction(async (tx) => {
    const { repositoryId, headRepositoryId } = branches;
    // From here on neither goes away; its removal would not find a pull request that is not there yet.
    if (
      headRepositoryId !== null &&
      headRepositoryId !== repositoryId &&
      !(await repositories.holdReady(tx, [repositoryId, headRepositoryId]))
    )
      throw notFound('GetForkedRepo');
    // Holds the repository's row from here: another process that creates the same pull request waits, then finds ours.
    const entries = [...entriesOfNew(draft), ...draft.brought];
    const issue = await issues.insert(tx, { ...draft, repositoryId, isPull: true, ref: '', entries });
    if (issue === undefined) throw notFound();
    const twin = await pulls.findOpenTwin(tx, { ...branches, posterId: draft.posterId });
    if (twin !== undefined) throw pullExists(twin);
    const { id } = await pulls.insert(tx, { ...branches, issueId: issue.id });
    await announce(tx, ...eventsOfNew(issue, draft.posterId, draft));
    const place = { pullId: id, issueId: issue.id, repositoryId, actorId: draft.posterId };
    await addRequests(tx, place, draft.reviewers ?? []);
    return { id, number: issue.number };
  });
  // When it is not, the next push or start does it.
  const ref = { ref: pullRef(made.number), new: branches.headSha };
  if ((await moveRefs(git, branches.repositoryId, [ref])) === 'done')
    await pulls.markWritten(database.autocommit(), made.id, branches.headSha);
  return made;
}
