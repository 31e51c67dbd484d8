import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound, pullExists } from '../failures.ts';
import { eventsOfNew } from '../issues/events-of-new.ts';
import { resolveWishes, type Wishes } from '../issues/resolve-wishes.ts';
import { entriesOfNew } from '../issues/timeline-entries.ts';
import { copyCommit } from '../outside/git/copy-commits.ts';
import { branchRef, moveRefs, pullRef, readRef } from '../outside/git/refs.ts';
import { checkNotArchived, findRepository, mayRead, mayWrite } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { deadlineOf } from '../rules/issues/deadline.ts';
import { checkTitle } from '../rules/issues/issue-edit.ts';
import { planLabels } from '../rules/issues/label.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { noChanges, readHead } from '../rules/pulls/head-ref.ts';
import * as issues from '../store/issues/issues.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { checkHeadOwner, findHeadRepository } from './find-head.ts';
import { readHeadTip } from './read-head.ts';
import { branchQueue, followHead } from './sync-pulls.ts';

/** What the poster asks for. */
export interface NewPull extends Wishes {
  head: string;
  base: string;
  title: string;
  body: string;
  deadline: string | undefined;
  /** Whether people who can write to the base may push to the head, which is in a fork. */
  allowMaintainerEdit: boolean | null | undefined;
}

/** Creates a pull request between two branches of a repository; the checks come in the order of the contract. */
export async function createPull(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: NewPull,
): Promise<number> {
  const found = await findRepository(context, caller, path, 'pulls');
  const { repository } = found;
  // It names branches, and keeps their commits.
  if (!mayRead(found, 'code')) throw notFound();
  checkNotArchived(found);
  const title = checkTitle(wanted.title);
  const head = readHead(wanted.head, wanted.base);
  if (head.user !== undefined) await checkHeadOwner(context, head.user);
  return await context.queues.inTurn(branchQueue(repository.id), async () => {
    const baseTip = await readBranch(context, repository, wanted.base);
    if (baseTip === undefined) throw notFound('IsBranchExist');
    const ofHead = await findHeadRepository(context, caller, found, head);
    const headRepository = ofHead.repository;
    const isFork = headRepository.id !== repository.id;
    if (!isFork && head.branch === wanted.base) throw noChanges();
    const headTip = await readBranch(context, headRepository, head.branch);
    if (headTip === undefined) throw notFound('IsBranchExist');
    const branches = {
      repositoryId: repository.id,
      baseBranch: wanted.base,
      headRepositoryId: headRepository.id,
      headBranch: head.branch,
    };
    const tx = context.database.autocommit();
    const twin = await pulls.findOpenTwin(tx, branches);
    if (twin !== undefined) throw pullExists(twin);
    // Unlike an issue's, these count for every creator (decisions §5.6).
    const wishes = await resolveWishes(context, repository, wanted);
    if (wishes.milestone === null) throw notFound(`milestone does not exist [id: ${wanted.milestone}]`);
    const draft = {
      title,
      body: checkText(wanted.body),
      posterId: caller.userId,
      deadlineAt: wanted.deadline === undefined ? undefined : deadlineOf(wanted.deadline),
      milestoneId: wishes.milestone?.id ?? null,
      assigneeIds: (wishes.assignees ?? []).map((user) => user.id),
      labelIds: planLabels([], wishes.labels ?? [], 'replace').result.map((label) => label.id),
      closed: false,
    };
    if (isFork) await bringNew(context, { from: headRepository.id, to: repository.id }, headTip);
    const allowMaintainerEdit =
      isFork &&
      mayWrite(ofHead, 'code') &&
      (wanted.allowMaintainerEdit ?? headRepository.default_maintainer_edit);
    const { id, number } = await insertPull(context, draft, {
      ...branches,
      headSha: headTip,
      allowMaintainerEdit,
    });
    // When it is not, the next push or start does it.
    const written = await moveRefs(context.git, repository.id, [{ ref: pullRef(number), new: headTip }]);
    if (written === 'done') await pulls.markWritten(tx, id, headTip);
    if (isFork) await followSince(context, id, caller.userId);
    return number;
  });
}

/** @throws 404 when the fork went away while its commits were copied */
async function bringNew(
  context: Context,
  sides: { from: number; to: number },
  commit: string,
): Promise<void> {
  try {
    await copyCommit(context.git, sides, commit);
  } catch (error) {
    const fork = await repositories.findById(context.database.autocommit(), sides.from);
    throw fork?.state === 'ready' ? error : notFound('GetForkedRepo');
  }
}

/**
 * A push to a fork looks for pull requests that are to follow it, and stands in no queue of ours. One that moved the head
 * between our look at it and our insert did not find us: so we look at the head again.
 */
async function followSince(context: Context, id: number, actorId: number): Promise<void> {
  const pull = await pulls.findById(context.database.autocommit(), id);
  if (pull === undefined || pull.closed_at !== null) return;
  await followHead(context, pull, await readHeadTip(context, pull), actorId);
}

type Draft = Omit<issues.NewIssueRow, 'repositoryId' | 'isPull' | 'ref' | 'entries'>;

type Branches = Omit<Parameters<typeof pulls.insert>[1], 'issueId'> & { headRepositoryId: number };

async function insertPull(
  { database }: Context,
  draft: Draft,
  branches: Branches,
): Promise<{ id: number; number: number }> {
  return await database.transaction(async (tx) => {
    const { repositoryId, headRepositoryId } = branches;
    // From here on neither goes away; its removal would not find a pull request that is not there yet.
    if (
      headRepositoryId !== repositoryId &&
      !(await repositories.holdReady(tx, [repositoryId, headRepositoryId]))
    )
      throw notFound('GetForkedRepo');
    // Holds the repository's row from here: another process that creates the same pull request waits, then finds ours.
    const entries = entriesOfNew(draft);
    const issue = await issues.insert(tx, { ...draft, repositoryId, isPull: true, ref: '', entries });
    if (issue === undefined) throw notFound();
    const twin = await pulls.findOpenTwin(tx, branches);
    if (twin !== undefined) throw pullExists(twin);
    const { id } = await pulls.insert(tx, { ...branches, issueId: issue.id });
    await announce(tx, ...eventsOfNew(issue, draft.posterId, draft));
    return { id, number: issue.number };
  });
}

/** Where a branch is; undefined when it does not exist, or has no possible name. */
async function readBranch(
  { git }: Context,
  repository: { id: number },
  name: string,
): Promise<string | undefined> {
  return isBranchName(name) ? await readRef(git, repository.id, branchRef(name)) : undefined;
}
