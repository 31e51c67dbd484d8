import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound, pullExists } from '../failures.ts';
import { eventsOfNew } from '../issues/events-of-new.ts';
import { resolveWishes, type Wishes } from '../issues/resolve-wishes.ts';
import { entriesOfNew } from '../issues/timeline-entries.ts';
import { branchRef, moveRefs, pullRef, readRefs } from '../outside/git/refs.ts';
import { checkNotArchived, findRepository, mayRead } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { deadlineOf } from '../rules/issues/deadline.ts';
import { checkTitle } from '../rules/issues/issue-edit.ts';
import { planLabels } from '../rules/issues/label.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { noChanges, readHead } from '../rules/pulls/head-ref.ts';
import * as issues from '../store/issues/issues.ts';
import * as users from '../store/people/users.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { branchQueue } from './sync-pulls.ts';

/** What the poster asks for. */
export interface NewPull extends Wishes {
  head: string;
  base: string;
  title: string;
  body: string;
  deadline: string | undefined;
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
    const { id, number } = await insertPull(context, draft, { ...branches, headSha: headTip });
    // When it is not, the next push or start does it.
    const written = await moveRefs(context.git, repository.id, [{ ref: pullRef(number), new: headTip }]);
    if (written === 'done') await pulls.markWritten(tx, id, headTip);
    return number;
  });
}

type Draft = Omit<issues.NewIssueRow, 'repositoryId' | 'isPull' | 'ref' | 'entries'>;

type Branches = Parameters<typeof pulls.findOpenTwin>[1] & { headSha: string };

async function insertPull(
  { database }: Context,
  draft: Draft,
  branches: Branches,
): Promise<{ id: number; number: number }> {
  return await database.transaction(async (tx) => {
    const { repositoryId } = branches;
    // Holds the repository's row from here: another process that creates the same pull request waits, then finds ours.
    const entries = entriesOfNew(draft);
    const issue = await issues.insert(tx, { ...draft, repositoryId, isPull: true, ref: '', entries });
    if (issue === undefined) throw notFound();
    const twin = await pulls.findOpenTwin(tx, branches);
    if (twin !== undefined) throw pullExists(twin.number);
    const { id } = await pulls.insert(tx, { ...branches, issueId: issue.id });
    await announce(tx, ...eventsOfNew(issue, draft.posterId, draft));
    return { id, number: issue.number };
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
