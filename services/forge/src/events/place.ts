import type { Context } from '../context.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { findIssuePlace } from '../store/events/event-subjects.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import * as issues from '../store/issues/issues.ts';
import * as users from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';
import type { Happening } from './announce.ts';

/** Where something happened, as it is after it. */
export interface Place {
  repositoryId: number;
  ownerId: number;
  /** Undefined when the repository was what went away. */
  found: VisibleRepository | undefined;
  /** The issue or pull request it happened to. */
  issue: IssueWithPull | undefined;
}

/** Loads where something happened; undefined when that is gone meanwhile. */
export async function findPlace({ database }: Context, happening: Happening): Promise<Place | undefined> {
  const tx = database.autocommit();
  const { repositoryId } = happening;
  if (happening.kind === 'repository' && happening.deleted !== undefined) {
    return { repositoryId, ownerId: happening.deleted.ownerId, found: undefined, issue: undefined };
  }
  const repository = await repositories.findById(tx, repositoryId);
  if (repository === undefined || repository.state !== 'ready') return undefined;
  const owner = await users.getById(tx, repository.owner_id);
  const place = { repositoryId, ownerId: owner.id, found: ownedBy(owner, repository), issue: undefined };
  if (happening.kind !== 'issue' && happening.kind !== 'comment') return place;
  const at = await findIssuePlace(tx, happening.issueId);
  const issue = at && (await issues.findByNumber(tx, at.repository_id, at.number));
  return issue === undefined ? undefined : { ...place, issue };
}

/** A repository as its own hooks see it: with everything. */
export function ownedBy(owner: users.UserRow, repository: repositories.RepositoryRow): VisibleRepository {
  return {
    repository,
    owner,
    permission: { level: 'owner', units: { code: 'owner', issues: 'owner', pulls: 'owner' } },
  };
}
