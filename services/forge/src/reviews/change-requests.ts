import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findPull, type VisiblePull } from '../pulls/find-pull.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { findProtection, mayApprove } from '../rules/git/protection.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import * as reviewRequests from '../store/reviews/review-requests.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { holdPull } from './hold-pull.ts';
import { presentReviews } from './review-json.ts';

/** Whom a request names. */
export interface NamedReviewers {
  /** Logins. */
  reviewers: readonly string[];
  /** Names of teams of the repository's owner. */
  teams: readonly string[];
}

/** More do not look at one pull request. */
const MAX_REQUESTS = 50;

/**
 * Asks people and teams for a review. Who is asked already is not asked again.
 * @returns the requests that are new, as reviews
 * @throws 403 for others than writers and the poster, 404 for names nobody has, 422 for who cannot be asked, 423
 */
export async function requestReviews(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  named: NamedReviewers,
): ReturnType<typeof presentReviews> {
  const found = await findPull(context, caller, path);
  checkMayAsk(caller, found);
  checkNotArchived(found);
  const { people, teams } = await findNamed(context, caller, found, named);
  for (const person of people) checkPerson(person, found);
  for (const team of teams)
    if (!team.reads) throw unacceptable(`team ${team.name} can't read pull requests of the repository`);
  const protections = await branchProtections.list(context.database.autocommit(), found.repository.id);
  const protection = findProtection(protections, found.pull.base_branch);
  const asked = [
    ...people.map((person) => {
      const pusher = { userId: person.id, teamIds: person.team_ids, mayWrite: person.writes };
      return { reviewerId: person.id, teamId: null, official: mayApprove(protection, pusher) };
    }),
    ...teams.map((team) => {
      const pusher = { userId: 0, teamIds: [team.id], mayWrite: team.writes };
      return { reviewerId: null, teamId: team.id, official: mayApprove(protection, pusher) };
    }),
  ];
  const ids = await context.database.transaction(async (tx) => {
    const { id: pullId, issue_id: issueId } = await holdPull(tx, found);
    const made: number[] = [];
    for (const one of asked) {
      const id = await reviewRequests.add(tx, pullId, one, caller.userId);
      if (id === undefined) continue;
      made.push(id);
      await tell(tx, caller, found, one, 'review_requested');
    }
    if (made.length === 0) return [];
    if ((await reviewRequests.count(tx, pullId)) > MAX_REQUESTS)
      throw unacceptable(`[Reviewers]: MaxSize(${MAX_REQUESTS})`);
    await issues.touch(tx, issueId);
    return made;
  });
  const tx = context.database.autocommit();
  const made = await reviews.listByIds(tx, found.pull.id, viewerOf(caller), ids);
  return await presentReviews(context, caller, found, made);
}

/**
 * Asks people and teams no more; those who are not asked stay so.
 * @throws 403 for others than writers, the poster and who is asked himself, 404, 423
 */
export async function withdrawRequests(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  named: NamedReviewers,
): Promise<void> {
  const found = await findPull(context, caller, path);
  const isOwn = (login: string) => login.toLowerCase() === caller.user.login_key;
  if (named.teams.length > 0 || named.reviewers.length === 0 || !named.reviewers.every(isOwn))
    checkMayAsk(caller, found);
  checkNotArchived(found);
  const { people, teams } = await findNamed(context, caller, found, named);
  const asked = [
    ...people.map(({ id }) => ({ reviewerId: id, teamId: null })),
    ...teams.map(({ id }) => ({ reviewerId: null, teamId: id })),
  ];
  await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    let isChanged = false;
    for (const one of asked) {
      if (!(await reviewRequests.remove(tx, pull.id, one))) continue;
      isChanged = true;
      await tell(tx, caller, found, one, 'review_request_removed');
    }
    if (isChanged) await issues.touch(tx, pull.issue_id);
  });
}

function checkMayAsk(caller: Caller, found: VisiblePull): void {
  if (!mayWrite(found, 'pulls') && found.pull.poster_id !== caller.userId)
    throw forbidden("user can't choose reviewers");
}

function checkPerson(person: reviewRequests.Askable, { pull }: VisiblePull): void {
  if (person.kind !== 'person') throw unacceptable("Organization can't be added as reviewer");
  if (person.id === pull.poster_id) throw unacceptable("poster of pr can't be reviewer");
  if (!person.reads) throw unacceptable(`${person.login} can't read pull requests of the repository`);
}

/** @throws 404 for a name nobody has, 422 for teams where the owner has none and for too many names */
async function findNamed(
  { database }: Context,
  caller: Caller,
  { repository, owner }: VisiblePull,
  { reviewers, teams }: NamedReviewers,
) {
  if (teams.length > 0 && owner.kind !== 'organization')
    throw unacceptable('only repositories of an organization have teams that can be asked');
  if (reviewers.length + teams.length > MAX_REQUESTS)
    throw unacceptable(`[Reviewers]: MaxSize(${MAX_REQUESTS})`);
  const tx = database.autocommit();
  const found = await reviewRequests.findNamed(tx, repository, viewerOf(caller), { reviewers, teams });
  const missing =
    reviewers.find((name) => !found.people.some((one) => one.login_key === name.toLowerCase())) ??
    teams.find((name) => !found.teams.some((one) => one.name_key === name.toLowerCase()));
  if (missing !== undefined) throw notFound(`reviewer does not exist [name: ${missing.slice(0, 100)}]`);
  return found;
}

async function tell(
  tx: Tx,
  caller: Caller,
  { pull, repository }: VisiblePull,
  { reviewerId, teamId }: { reviewerId: number | null; teamId: number | null },
  action: 'review_requested' | 'review_request_removed',
): Promise<void> {
  const who = reviewerId === null ? { assignee_team: teamId } : { assignee: reviewerId };
  const details = { ...who, removed_assignee: action === 'review_request_removed' };
  await comments.add(tx, {
    issueId: pull.issue_id,
    posterId: caller.userId,
    kind: 'review_request',
    details,
  });
  const about = { issueId: pull.issue_id, repositoryId: repository.id, actorId: caller.userId };
  const asked = { reviewerId, teamId };
  await announce(tx, { kind: 'issue', action, asked, ...about });
}
