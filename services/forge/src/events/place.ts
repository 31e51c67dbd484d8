import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { HookRow } from '../store/events/hooks.ts';
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
  /** The active ones of the repository, its owner and the system. */
  hooks: readonly HookRow[];
}

/** Loads where something happened; undefined when that is gone meanwhile. */
export async function findPlace(loads: EventLoads, happening: Happening): Promise<Place | undefined> {
  const { repositoryId } = happening;
  if (happening.kind === 'repository' && happening.deleted !== undefined) {
    const { ownerId } = happening.deleted;
    const hooks = await loads.hooks({ repositoryId, ownerId });
    return { repositoryId, ownerId, found: undefined, issue: undefined, hooks };
  }
  const repository = await loads.repository(repositoryId);
  if (repository === undefined || repository.state !== 'ready') return undefined;
  const owner = await loads.account(repository.owner_id);
  if (owner === undefined) return undefined;
  const place = { repositoryId, ownerId: owner.id };
  const isDeleted = happening.kind === 'issue' && happening.deleted !== undefined;
  const issueId = 'issueId' in happening && !isDeleted ? happening.issueId : undefined;
  const [hooks, issue] = await Promise.all([
    loads.hooks(place),
    issueId === undefined ? undefined : loads.issue(issueId),
  ]);
  if (issueId !== undefined && issue === undefined) return undefined;
  return { ...place, found: ownedBy(owner, repository), issue, hooks };
}

/** A repository as its own hooks see it: with everything. */
export function ownedBy(owner: UserRow, repository: RepositoryRow): VisibleRepository {
  return {
    repository,
    owner,
    permission: { level: 'owner', units: { code: 'owner', issues: 'owner', pulls: 'owner' } },
    isMember: true,
  };
}
