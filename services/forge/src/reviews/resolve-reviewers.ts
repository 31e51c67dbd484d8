import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { findProtection, mayApprove } from '../rules/git/protection.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import * as reviewRequests from '../store/reviews/review-requests.ts';
import type { ReviewWish } from './add-requests.ts';

/** Whom a request names. */
export interface NamedReviewers {
  /** Logins. */
  reviewers: readonly string[];
  /** Names of teams of the repository's owner. */
  teams: readonly string[];
}

/** More do not look at one pull request. */
export const MAX_REQUESTS = 50;

/**
 * Looks up who is to review a pull request into a branch, and whether each is official there. Without a statement when
 * nobody is named.
 * @throws 404 for names nobody has, 422 for who cannot be asked
 */
export async function resolveReviewers(
  context: Context,
  caller: Caller,
  found: VisibleRepository,
  pull: { posterId: number | null; baseBranch: string },
  named: NamedReviewers,
): Promise<ReviewWish[]> {
  if (named.reviewers.length + named.teams.length === 0) return [];
  const { people, teams } = await findNamed(context, caller, found, named);
  for (const person of people) checkPerson(person, pull.posterId);
  for (const team of teams)
    if (!team.reads) throw unacceptable(`team ${team.name} can't read pull requests of the repository`);
  const protections = await branchProtections.list(context.database.autocommit(), found.repository.id);
  const protection = findProtection(protections, pull.baseBranch);
  return [
    ...people.map((person) => {
      const pusher = { userId: person.id, teamIds: person.team_ids, mayWrite: person.writes };
      return { reviewerId: person.id, teamId: null, official: mayApprove(protection, pusher) };
    }),
    ...teams.map((team) => {
      const pusher = { userId: 0, teamIds: [team.id], mayWrite: team.writes };
      return { reviewerId: null, teamId: team.id, official: mayApprove(protection, pusher) };
    }),
  ];
}

function checkPerson(person: reviewRequests.Askable, posterId: number | null): void {
  if (person.kind !== 'person') throw unacceptable("Organization can't be added as reviewer");
  if (person.id === posterId) throw unacceptable("poster of pr can't be reviewer");
  if (!person.reads) throw unacceptable(`${person.login} can't read pull requests of the repository`);
}

/** @throws 404 for a name nobody has, 422 for teams where the owner has none and for too many names */
export async function findNamed(
  { database }: Context,
  caller: Caller,
  { repository, owner }: VisibleRepository,
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
