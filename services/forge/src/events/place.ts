import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import type { UserRow } from '../store/people/users.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';
import type { Happening } from './announce.ts';
import type { EventLoads } from './event-loads.ts';

/** Where something happened, as it is after it. */
export interface Place {
  repositoryId: number;
  ownerId: number;
  /** Undefined when the repository was what went away. */
  found: VisibleRepository | undefined;
  /** The issue or pull request it happened to; undefined when that was deleted. */
  issue: IssueWithPull | undefined;
}

/** Loads where something happened; undefined when that is gone meanwhile. */
export async function findPlace(loads: EventLoads, happening: Happening): Promise<Place | undefined> {
  const { repositoryId } = happening;
  if (happening.kind === 'repository' && happening.deleted !== undefined) {
    return { repositoryId, ownerId: happening.deleted.ownerId, found: undefined, issue: undefined };
  }
  const repository = await loads.repository(repositoryId);
  if (repository === undefined || repository.state !== 'ready') return undefined;
  const owner = await loads.account(repository.owner_id);
  if (owner === undefined) return undefined;
  const place = { repositoryId, ownerId: owner.id, found: ownedBy(owner, repository), issue: undefined };
  if (!('issueId' in happening)) return place;
  if (happening.kind === 'issue' && happening.deleted !== undefined) return place;
  const issue = await loads.issue(happening.issueId);
  return issue === undefined ? undefined : { ...place, issue };
}

/** A repository as its own hooks see it: with everything. */
export function ownedBy(owner: UserRow, repository: RepositoryRow): VisibleRepository {
  return {
    repository,
    owner,
    permission: { level: 'owner', units: { code: 'owner', issues: 'owner', pulls: 'owner' } },
  };
}
