import { moveInTurn } from '../branches/move-refs.ts';
import { loadPushRules, type PushRules } from '../branches/push-rules.ts';
import { refuseArrived } from '../branches/refuse-arrived.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import {
  forbidden,
  headMoved,
  headProtected,
  mergeConflicts,
  notFound,
  rebaseConflicts,
  unacceptable,
  unrelatedHistories,
} from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { copyCommit } from '../outside/git/copy-commits.ts';
import { findMergeBase, writeMerge } from '../outside/git/merging/merge.ts';
import { writeRebase } from '../outside/git/merging/rebase.ts';
import { commitObject } from '../outside/git/objects.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import {
  checkNotArchived,
  mayRead,
  mayWrite,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import { readUpdateStyle, type UpdateStyle } from '../rules/pulls/update-style.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { signatureOf } from '../users/signature-of.ts';
import { accessToHead } from './find-head.ts';
import { findPull, type VisiblePull } from './find-pull.ts';
import { isFromFork } from './read-head.ts';

/**
 * Brings the head branch of a pull request up to its base, by a merge into it or by a rebase. The branch moves as by a push:
 * intent, compare-and-swap, record; its pull requests have followed when this returns.
 * @throws 403 without write access to the head, when that is lent and more people than the base's may read it, and when the
 *   style is switched off, 404, 409 on conflicts and while the head is protected, 422 when it is closed or merged, 423 when either repository is archived
 */
export async function updatePull(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wantedStyle: string,
): Promise<void> {
  const found = await findPull(context, caller, path);
  const { pull } = found;
  // It brings commits of the base to where the caller can read them.
  if (!mayRead(found, 'code')) throw notFound();
  checkNotArchived(found);
  checkStillOpen(pull);
  if (pull.topic !== null)
    throw unacceptable('the pull request was pushed for review and has no head branch: push to it again');
  const head = await findWritableHead(context, caller, found);
  const style = readUpdateStyle(wantedStyle, found.repository);
  checkNotArchived(head);
  const rules = await loadPushRules(context, head, caller.userId);
  const update = { pullId: pull.id, head, rules, style };
  await moveInTurn(
    context,
    head.repository.id,
    caller.userId,
    () => prepare(context, caller, update),
    headMoved,
  );
}

/** @throws 422 */
function checkStillOpen(pull: PullWithIssue): void {
  if (pull.merged_at !== null) throw unacceptable('the pull request is merged already');
  if (pull.closed_at !== null) throw unacceptable('the pull request is closed');
}

/** The repository of the head, in which the caller may write: there, or because the poster lets those who write to the base. */
async function findWritableHead(
  context: Context,
  caller: Caller,
  found: VisiblePull,
): Promise<VisibleRepository> {
  const { pull } = found;
  const head = await accessToHead(context, caller, found, pull);
  if (head !== undefined && mayWrite(head, 'code')) return head;
  if (!isFromFork(pull) || pull.head_repository_id === null) throw mayNotUpdate();
  const tx = context.database.autocommit();
  const lent = await pulls.listLentBranches(tx, pull.head_repository_id, caller.userId);
  if (!lent.includes(pull.head_branch)) throw mayNotUpdate();
  const [row] = await repositories.listByIds(tx, [pull.head_repository_id], 0);
  if (row === undefined) throw mayNotUpdate();
  if (secrecyOf(found) > secrecyOf({ repository: row, owner: row.owner })) throw wouldPublish();
  return { repository: row, owner: row.owner, permission: WRITER, isMember: false };
}

const WRITER: VisibleRepository['permission'] = {
  level: 'write',
  units: { code: 'write', issues: 'none', pulls: 'none' },
};

/** How few may read the code of a repository: everybody, whoever is signed in, or those who were let in. */
function secrecyOf({ repository, owner }: Pick<VisibleRepository, 'repository' | 'owner'>): number {
  if (repository.private || owner.visibility === 'private') return 2;
  return owner.visibility === 'public' ? 0 : 1;
}

const wouldPublish = () =>
  forbidden(
    'the base is private and the repository of the head is not: its owner has to make that private, or to bring the head up to date',
  );

const mayNotUpdate = () => forbidden('user should have a permission to write to the head branch');

interface Update {
  pullId: number;
  head: VisibleRepository;
  rules: PushRules;
  style: UpdateStyle;
}

/** Writes what the head is to become; in the queue of the branches of its repository. */
async function prepare(context: Context, caller: Caller, { pullId, head, rules, style }: Update) {
  const { git } = context;
  const { id } = head.repository;
  // It may have been merged, closed or given another base while this waited.
  const pull = await pulls.findById(context.database.autocommit(), pullId);
  if (pull === undefined) throw notFound();
  checkStillOpen(pull);
  const ref = branchRef(pull.head_branch);
  const [before, base] = await Promise.all([
    readRef(git, id, ref),
    readRef(git, pull.repository_id, branchRef(pull.base_branch)),
  ]);
  if (before === undefined || base === undefined) throw notFound('the branch does not exist');
  if (isFromFork(pull)) await copyCommit(git, { from: pull.repository_id, to: id }, base);
  const mergeBase = await findMergeBase(git, id, before, base);
  if (mergeBase === undefined) throw unrelatedHistories(style);
  if (mergeBase === base) return { moves: [], result: undefined };
  const after = await write(context, caller, pull, { id, style, before, base });
  const move = { ref, before, after, authorId: pull.poster_id };
  const refusal = after === before ? undefined : await refuseArrived(context, head.repository, move, rules);
  if (refusal !== undefined) throw headProtected(refusal);
  return { moves: after === before ? [] : [move], result: undefined };
}

async function write(
  context: Context,
  caller: Caller,
  pull: PullWithIssue,
  { id, style, before, base }: { id: number; style: UpdateStyle; before: string; base: string },
): Promise<string> {
  const { git } = context;
  const committer = signatureOf(context, caller.user);
  if (style === 'rebase') {
    const rebased = await writeRebase(git, id, { onto: base, head: before, committer });
    if (rebased.conflict === undefined) return rebased.tip;
    throw rebaseConflicts(style, rebased.conflict.commit, rebased.conflict.files);
  }
  const message = `Merge branch '${pull.base_branch}' into ${pull.head_branch}`;
  const parents = [before, base];
  const { made, conflicts } = await writeMerge(git, id, { ours: before, theirs: base }, (tree) =>
    commitObject({ tree, parents, author: committer, committer, message }),
  );
  if (made === undefined) throw mergeConflicts(style, conflicts);
  return made.id;
}
