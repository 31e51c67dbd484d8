import { Failure } from '@croft/failure';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { findMergeBase } from '../outside/git/merging/merge.ts';
import { listNewCommits } from '../outside/git/reading/new-commits.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import { entryOfNew } from '../pulls/describe-push.ts';
import { insertPull } from '../pulls/insert-pull.ts';
import { settleMergeOf } from '../pulls/settle-merges.ts';
import { branchQueue, moveHead, writeHead } from '../pulls/sync-pulls.ts';
import { findActing } from '../repositories/find-acting.ts';
import { mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import * as pulls from '../store/pulls/pulls.ts';
import type { ReviewPush } from './plan-reviews.ts';
import { wordsOf } from './review-words.ts';

/** What came of a push for review: why not, or what its user is told. */
export type ReviewOutcome = { refusal: string } | { refusal: undefined; note: string };

/**
 * Makes a pull request of commits that have arrived, or lets the open one of the same topic have them. No branch is made:
 * they are kept by the pull request's own ref, which is written after its row, so that a crash in between is settled like
 * that of any other. Nothing is left of one before the row, and pushing again does it.
 * @param commit what was pushed, and the ref under which it waits
 */
export async function pushForReview(
  context: Context,
  { found, caller }: { found: VisibleRepository; caller: Caller },
  review: ReviewPush,
  commit: { id: string; waitsAt: string },
): Promise<ReviewOutcome> {
  const { repository, owner } = found;
  try {
    return await context.queues.inTurn(branchQueue(repository.id), async () => {
      const refs = [branchRef(review.base), commit.waitsAt];
      const [base, head] = await readRefs(context.git, repository.id, refs);
      if (base === undefined) return { refusal: 'there is no such branch to review it for' };
      if (head !== commit.id) return { refusal: 'only commits can be reviewed' };
      if (!(await mayStillAsk(context, caller.userId, repository.id)))
        return { refusal: 'user should have a permission to create pull requests' };
      const findOpen = () =>
        pulls.findOpenByTopic(context.database.autocommit(), {
          repositoryId: repository.id,
          baseBranch: review.base,
          posterId: caller.userId,
          topic: review.topic,
        });
      const there = await findOpen();
      // A merge of it that was interrupted may have happened.
      const open = there !== undefined && (await settleMergeOf(context, there)) ? await findOpen() : there;
      const done =
        open === undefined
          ? await create(context, caller, repository.id, review, { base, head })
          : await update(context, caller, open, head, review.force);
      if ('refusal' in done) return done;
      const page = `${context.links.repository(owner.login, repository.name)}/pulls/${done.number}`;
      return { refusal: undefined, note: `\n${done.said} pull request #${done.number}:\n  ${page}\n` };
    });
  } catch (failure) {
    if (failure instanceof Failure) return { refusal: failure.message };
    // The other refs of the push are to be recorded whatever happens to this one.
    const reason = failure instanceof Error ? failure.stack : String(failure);
    context.log.error({ repository: repository.id, reason }, 'a push for review ended with an error of ours');
    return { refusal: 'an error of the server: push it again' };
  }
}

/** His rights may have changed while the commits came. */
async function mayStillAsk(context: Context, userId: number, repositoryId: number): Promise<boolean> {
  const acting = await findActing(context, userId, repositoryId);
  if (acting === undefined) return false;
  const { found } = acting;
  return mayRead(found, 'code') && mayRead(found, 'pulls') && !found.repository.archived;
}

type Done = { refusal: string } | { number: number; said: string };

async function create(
  context: Context,
  caller: Caller,
  repositoryId: number,
  review: ReviewPush,
  { base, head }: { base: string; head: string },
): Promise<Done> {
  const commits = await listNewCommits(context.git, repositoryId, head, [base]);
  const [first] = commits;
  if (first === undefined) return { refusal: `${review.base} has these commits already` };
  const draft = {
    ...(await wordsOf(context, repositoryId, first, review)),
    posterId: caller.userId,
    deadlineAt: undefined,
    milestoneId: null,
    assigneeIds: [],
    labelIds: [],
    closed: false,
    brought: entryOfNew(commits),
  };
  const { number } = await insertPull(context, draft, {
    repositoryId,
    baseBranch: review.base,
    headRepositoryId: null,
    headBranch: `${caller.user.login}/${review.topic}`,
    topic: review.topic,
    headSha: head,
    allowMaintainerEdit: false,
  });
  return { number, said: 'Created' };
}

async function update(
  context: Context,
  caller: Caller,
  pull: pulls.PullWithIssue,
  head: string,
  force: boolean,
): Promise<Done> {
  const { number, head_sha: before } = pull;
  if (head === before) {
    // Pushed again, perhaps because the answer was lost.
    if (pull.written_sha !== head) await writeHead(context, pull, head);
    return { number, said: 'Nothing new for' };
  }
  const shared = await findMergeBase(context.git, pull.repository_id, before, head);
  if (shared !== before && !force)
    return {
      refusal: `pull request #${number} has commits that this leaves out: push with -o force-push=true to replace them`,
    };
  const move = { branch: pull.head_branch, before, after: head };
  await moveHead(context, pull, head, { actorId: caller.userId, moves: [move] });
  return { number, said: 'Updated' };
}
