import { removeFiles } from '../attachments/remove-files.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import { queueRef } from '../merge-queue/queue-terms.ts';
import { moveRefs, pullRef, readRef } from '../outside/git/refs.ts';
import { betweenMerges } from '../pulls/change-pull.ts';
import { presentPulls } from '../pulls/present-pulls.ts';
import { writeHead } from '../pulls/sync-pulls.ts';
import { checkAdmin, checkNotArchived } from '../repositories/find-repository.ts';
import * as issues from '../store/issues/issues.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from './find-issue.ts';
import { presentIssues } from './present-issues.ts';

/**
 * Deletes an issue or pull request with everything that was said about it, and the refs that keep its commits. Its number
 * stays taken.
 * @throws 403 for others than administrators of the repository, 404, 423
 */
export async function deleteIssue(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  const found = await findIssue(context, caller, path);
  checkAdmin(found);
  checkNotArchived(found);
  const { issue, repository } = found;
  const deleted = { number: issue.number, isPull: issue.is_pull, json: await presentLast(context, found) };
  const remove = async () => {
    const files = await context.database.transaction(async (tx) => {
      const current = await issues.lockById(tx, issue.id);
      if (current === undefined) throw notFound();
      const where = { kind: 'issue', issueId: issue.id, repositoryId: repository.id } as const;
      await announce(tx, { ...where, action: 'deleted', deleted, actorId: caller.userId });
      const gone = await attachments.deleteAllOf(tx, { issueId: issue.id });
      await issues.deleteById(tx, issue.id);
      return gone;
    });
    await removeFiles(context, files);
  };
  if (issue.pull_id === null) await remove();
  else {
    const pull = { id: issue.pull_id, repositoryId: repository.id };
    await betweenMerges(context, pull, (now) => withoutRefs(context, now, remove));
    context.queues.bell.ring(repository.id);
  }
}

/**
 * Takes the refs of a pull request away, then its rows, for whoever has the queue of branches. Row, refs, rows: after a crash in
 * between the row says that its ref is to be written, and the pull request is there as before.
 */
async function withoutRefs(
  context: Context,
  pull: pulls.PullWithIssue,
  remove: () => Promise<void>,
): Promise<void> {
  const { database, git } = context;
  const { repository_id: id, number } = pull;
  const tx = database.autocommit();
  const queued = await mergeQueue.findByPull(tx, pull.id);
  await pulls.markUnwritten(tx, pull.id);
  try {
    // That of its merge ahead of the branch is made again as long as there is a row.
    const ahead = queued && queueRef(queued.base_branch, number);
    if (ahead !== undefined && (await readRef(git, id, ahead)) !== undefined)
      await moveRefs(git, id, [{ ref: ahead }]);
    if ((await moveRefs(git, id, [{ ref: pullRef(number) }])) !== 'done')
      throw new Error(`the ref of pull request ${number} could not be removed`);
    await remove();
  } catch (error) {
    // The next start does it when this fails, too.
    await writeHead(context, pull, pull.head_sha).catch(() => {});
    throw error;
  }
}

/** What is going to be deleted, as nobody in particular sees it. */
async function presentLast(context: Context, found: VisibleIssue): Promise<object> {
  const { issue, repository } = found;
  const tx = context.database.autocommit();
  const pull = issue.is_pull ? await pulls.findByNumber(tx, repository.id, issue.number) : undefined;
  const [json] =
    pull === undefined
      ? await presentIssues(context, undefined, found, [issue])
      : await presentPulls(context, undefined, found, [pull]);
  if (json === undefined) throw notFound();
  return json;
}
