import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { sortAsNamed } from '../rules/issues/label.ts';
import * as issueWishes from '../store/issues/issue-wishes.ts';
import { cardOf, type LabelCard } from '../store/issues/labels.ts';
import type { MilestoneRow } from '../store/issues/milestones.ts';
import type { UserRow } from '../store/people/users.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';

/** More on one issue is nobody's responsibility. */
export const MAX_ASSIGNEES = 50;

/** The two ways in which requests name assignees. */
export interface NamedAssignees {
  assignee?: string | null | undefined;
  assignees?: readonly string[] | null | undefined;
}

/** What requests name of what an issue can have. */
export interface Wishes extends NamedAssignees {
  /** By id or name. */
  labels?: readonly (number | string)[] | null | undefined;
  milestone?: number | null | undefined;
}

/** The same as rows; undefined for what the request says nothing of. */
export interface ResolvedWishes {
  assignees: UserRow[] | undefined;
  /** In the order of the request; those that the repository does not have are dropped. */
  labels: LabelCard[] | undefined;
  milestone: MilestoneRow | undefined;
}

/**
 * Looks up what a request names; without a statement when it names nothing.
 * @param milestoneFirst whether the milestone is checked ahead of the assignees, as the contract has it for a new pull request
 * @param assigned who is assigned already, and stays so with or without his rights: clients send back what they read
 * @throws 422 for an assignee nobody knows, and for one who cannot write to the repository; 404 for a milestone that is none of
 *   the repository
 */
export async function resolveWishes(
  { database }: Context,
  repository: RepositoryRow,
  wishes: Wishes,
  { milestoneFirst = false, assigned = [] }: { milestoneFirst?: boolean; assigned?: readonly number[] } = {},
): Promise<ResolvedWishes> {
  const logins = namedLogins(wishes);
  const labels = wishes.labels ?? undefined;
  const milestoneId = wishes.milestone ?? 0;
  const asks = (logins?.length ?? 0) > 0 || (labels?.length ?? 0) > 0 || milestoneId !== 0;
  const found = asks
    ? await issueWishes.find(database.autocommit(), repository, {
        logins: logins ?? [],
        labelIds: (labels ?? []).filter((one) => typeof one === 'number'),
        labelNames: (labels ?? []).filter((one) => typeof one === 'string'),
        milestoneId,
      })
    : { users: [], labels: [], milestone: null };
  const checkMilestone = () => {
    if (milestoneId !== 0 && found.milestone === null)
      throw notFound(`milestone does not exist [id: ${milestoneId}]`);
  };
  if (milestoneFirst) checkMilestone();
  const people = found.users.map((user) => ({ ...user, writes: user.writes || assigned.includes(user.id) }));
  const assignees = logins?.map((login) => checkAssignee(people, login, repository)).filter(isFirst);
  checkMilestone();
  return {
    assignees,
    labels: labels && sortAsNamed(labels, found.labels.map(cardOf)),
    milestone: found.milestone ?? undefined,
  };
}

function namedLogins({ assignee, assignees }: NamedAssignees): string[] | undefined {
  if (!assignee && (assignees === undefined || assignees === null)) return undefined;
  const logins = new Set([assignee ?? '', ...(assignees ?? [])].filter((login) => login !== ''));
  if (logins.size > MAX_ASSIGNEES) throw unacceptable(`[Assignees]: MaxSize(${MAX_ASSIGNEES})`);
  return [...logins];
}

function checkAssignee(
  users: issueWishes.FoundThings['users'],
  login: string,
  repository: RepositoryRow,
): UserRow {
  const user = users.find((one) => one.login.toLowerCase() === login.toLowerCase());
  if (user === undefined) {
    throw unacceptable(
      `Assignee does not exist: [name: user does not exist [uid: 0, name: ${login}, keyid: 0]]`,
    );
  }
  if (!user.writes) {
    throw unacceptable(
      `user doesn't have access to repo [user_id: ${user.id}, repo_name: ${repository.name}]`,
    );
  }
  return user;
}

const isFirst = (user: UserRow, index: number, all: readonly UserRow[]) =>
  all.findIndex(({ id }) => id === user.id) === index;
