import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, pullExists } from '../failures.ts';
import { type NamedAssignees, resolveAssignees } from '../issues/resolve-assignees.ts';
import { branchRef, moveRefs, pullRef, readRefs } from '../outside/git/refs.ts';
import { checkNotArchived, findRepository } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/branch-name.ts';
import { deadlineOf } from '../rules/deadline.ts';
import { noChanges, readHead } from '../rules/head-ref.ts';
import { checkTitle } from '../rules/issue-edit.ts';
import * as issueAssignees from '../store/issue-assignees.ts';
import * as issues from '../store/issues.ts';
import * as pulls from '../store/pulls.ts';
import * as repositories from '../store/repositories.ts';
import * as users from '../store/users.ts';
import { branchQueue } from './sync-pulls.ts';

/** What the poster asks for. */
export interface NewPull extends NamedAssignees {
  head: string;
  base: string;
  title: string;
  body: string;
  milestone: number;
  deadline: string | undefined;
}

/** Creates a pull request between two branches of a repository; the checks come in the order of the contract. */
export async function createPull(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: NewPull,
): Promise<number> {
  const found = await findRepository(context, caller, path);
  const { repository } = found;
  checkNotArchived(found);
  const title = checkTitle(wanted.title);
  const head = readHead(wanted.head, wanted.base);
  const headOwner = head.user === undefined ? undefined : await findHeadOwner(context, head.user);
  return await context.queues.inTurn(branchQueue(repository.id), async () => {
    const [headTip, baseTip] = await readBranches(context, repository, [head.branch, wanted.base]);
    if (baseTip === undefined) throw notFound('IsBranchExist');
    if (headOwner !== undefined && headOwner.id !== repository.owner_id) throw notFound('GetForkedRepo');
    if (head.branch === wanted.base) throw noChanges();
    if (headTip === undefined) throw notFound('IsBranchExist');
    const branches = {
      repositoryId: repository.id,
      baseBranch: wanted.base,
      headRepositoryId: repository.id,
      headBranch: head.branch,
    };
    const tx = context.database.autocommit();
    const twin = await pulls.findOpenTwin(tx, branches);
    if (twin !== undefined) throw pullExists(twin.number);
    if (wanted.milestone > 0) throw notFound(`milestone does not exist [id: ${wanted.milestone}]`);
    const assignees = (await resolveAssignees(context, repository, wanted)) ?? [];
    const deadlineAt = wanted.deadline === undefined ? undefined : deadlineOf(wanted.deadline);
    const draft = { title, body: wanted.body, posterId: caller.userId, deadlineAt, assignees };
    const { id, number } = await insertPull(context, draft, { ...branches, headSha: headTip });
    await moveRefs(context.git, repository.id, [{ ref: pullRef(number), new: headTip }]);
    await pulls.markWritten(tx, id, headTip);
    return number;
  });
}

interface Draft {
  title: string;
  body: string;
  posterId: number;
  deadlineAt: Date | undefined;
  assignees: readonly number[];
}

type Branches = Parameters<typeof pulls.findOpenTwin>[1] & { headSha: string };

async function insertPull(
  { database }: Context,
  draft: Draft,
  branches: Branches,
): Promise<{ id: number; number: number }> {
  return await database.transaction(async (tx) => {
    const { repositoryId } = branches;
    // Holds the repository's row from here: another process that creates the same pull request waits, then finds ours.
    const number = await repositories.takeNumber(tx, repositoryId, 'pull');
    const twin = await pulls.findOpenTwin(tx, branches);
    if (twin !== undefined) throw pullExists(twin.number);
    const { assignees, ...texts } = draft;
    const issue = await issues.insert(tx, {
      ...texts,
      repositoryId,
      number,
      isPull: true,
      ref: '',
      closed: false,
    });
    await issueAssignees.replace(tx, issue.id, assignees);
    const { id } = await pulls.insert(tx, { ...branches, issueId: issue.id });
    return { id, number };
  });
}

async function findHeadOwner({ database }: Context, login: string): Promise<users.UserRow> {
  const user = await users.findByLogin(database.autocommit(), login);
  if (user === undefined) throw notFound('GetUserByName');
  return user;
}

/** Where branches are; undefined for those that do not exist or that have no possible name. */
async function readBranches(
  { git }: Context,
  repository: { id: number },
  names: readonly string[],
): Promise<(string | undefined)[]> {
  return await Promise.all(
    names.map(async (name) =>
      isBranchName(name) ? (await readRefs(git, repository.id, [branchRef(name)]))[0] : undefined,
    ),
  );
}
