import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, pullExists } from '../failures.ts';
import { resolveWishes, type Wishes } from '../issues/resolve-wishes.ts';
import { copyCommit } from '../outside/git/copy-commits.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import {
  checkNotArchived,
  findRepository,
  mayRead,
  mayWrite,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import { type NamedReviewers, resolveReviewers } from '../reviews/resolve-reviewers.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { deadlineOf } from '../rules/issues/deadline.ts';
import { checkTitle } from '../rules/issues/issue-edit.ts';
import { planLabels } from '../rules/issues/label.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { type HeadRef, noChanges, readHead } from '../rules/pulls/head-ref.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { describeNew } from './describe-push.ts';
import { checkHeadOwner, findHeadRepository } from './find-head.ts';
import { followSince } from './follow-since.ts';
import { insertPull } from './insert-pull.ts';
import { branchQueue } from './sync-pulls.ts';

/** What the poster asks for. */
export interface NewPull extends Wishes, NamedReviewers {
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
  await checkHeadOwner(context, caller, found, head);
  const plan = () => planPull(context, caller, found, head, { ...wanted, title });
  // A copy may take long, and nobody else is to wait for it; in our turn we look at everything once more.
  const ahead = head.user === undefined ? undefined : await plan();
  if (ahead !== undefined) await bringNew(context, ahead.branches);
  return await context.queues.inTurn(branchQueue(repository.id), async () => {
    const { draft, branches, baseTip } = await plan();
    const { headRepositoryId, headSha } = branches;
    const isFork = headRepositoryId !== repository.id;
    if (isFork && headSha !== ahead?.branches.headSha) await bringNew(context, branches);
    const brought = await describeNew(context, repository.id, { base: baseTip, head: headSha });
    const { id, number } = await insertPull(context, { ...draft, brought }, branches);
    if (isFork) await followSince(context, id, caller.userId);
    return number;
  });
}

/** Decides what a new pull request is to be, from branches and rows as they are. */
async function planPull(
  context: Context,
  caller: Caller,
  found: VisibleRepository,
  head: HeadRef,
  wanted: NewPull,
) {
  const { repository } = found;
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
    topic: null,
    posterId: caller.userId,
  };
  const twin = await pulls.findOpenTwin(context.database.autocommit(), branches);
  if (twin !== undefined) throw pullExists(twin);
  // Unlike an issue's, these count for every creator (decisions §5.6).
  const wishes = await resolveWishes(context, repository, wanted, { milestoneFirst: true });
  const pull = { posterId: caller.userId, baseBranch: wanted.base };
  const draft = {
    title: wanted.title,
    body: checkText(wanted.body),
    posterId: caller.userId,
    deadlineAt: wanted.deadline === undefined ? undefined : deadlineOf(wanted.deadline),
    milestoneId: wishes.milestone?.id ?? null,
    assigneeIds: (wishes.assignees ?? []).map((user) => user.id),
    labelIds: planLabels([], wishes.labels ?? [], 'replace').result.map((label) => label.id),
    closed: false,
    reviewers: await resolveReviewers(context, caller, found, pull, wanted),
  };
  const allowMaintainerEdit =
    isFork &&
    mayWrite(ofHead, 'code') &&
    (wanted.allowMaintainerEdit ?? headRepository.default_maintainer_edit);
  return { draft, baseTip, branches: { ...branches, headSha: headTip, allowMaintainerEdit } };
}

interface NewHead {
  headRepositoryId: number;
  repositoryId: number;
  headSha: string;
}

/** @throws 404 when the fork went away while its commits were copied */
async function bringNew(
  context: Context,
  { headRepositoryId: from, repositoryId: to, headSha }: NewHead,
): Promise<void> {
  if (from === to) return;
  try {
    await copyCommit(context.git, { from, to }, headSha);
  } catch (error) {
    const fork = await repositories.findById(context.database.autocommit(), from);
    throw fork?.state === 'ready' ? error : notFound('GetForkedRepo');
  }
}

/** Where a branch is; undefined when it does not exist, or has no possible name. */
async function readBranch(
  { git }: Context,
  repository: { id: number },
  name: string,
): Promise<string | undefined> {
  return isBranchName(name) ? await readRef(git, repository.id, branchRef(name)) : undefined;
}
