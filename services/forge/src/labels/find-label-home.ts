import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import { checkOwner, findOrganization } from '../organizations/find-organization.ts';
import {
  checkNotArchived,
  findRepository,
  mayRead,
  mayWrite,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import type { LabelHome } from '../store/issues/labels.ts';

/** Whose labels a request is about. */
export type HomePath = { owner: string; repo: string } | { org: string };

/** Where labels are, and how they are named in addresses. */
export interface FoundHome extends LabelHome {
  names: { owner: string; repo: string };
}

/**
 * The repository or organization whose labels a request is about.
 * @param intent for `write` the caller must write to issues or pull requests, or own the organization
 * @throws 403, 404, 423
 */
export async function findLabelHome(
  context: Context,
  caller: Caller | undefined,
  path: HomePath,
  intent: 'read' | 'write',
): Promise<FoundHome> {
  if ('org' in path) {
    const found = await findOrganization(context, caller, path.org);
    if (intent === 'write') checkOwner(found);
    const { id, login } = found.organization;
    return { repositoryId: null, organizationId: id, names: { owner: login, repo: '' } };
  }
  const found = await findIssueHome(context, caller, path, intent);
  const { repository, owner } = found;
  return {
    repositoryId: repository.id,
    organizationId: null,
    names: { owner: owner.login, repo: repository.name },
  };
}

/**
 * A repository for what its issues and pull requests share: labels and milestones.
 * @throws 403, 404, 423
 */
export async function findIssueHome(
  context: Context,
  caller: Caller | undefined,
  path: { owner: string; repo: string },
  intent: 'read' | 'write',
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path);
  checkReadsLabels(found);
  if (intent === 'write') {
    if (!mayWrite(found, 'issues') && !mayWrite(found, 'pulls')) {
      throw forbidden('user should have a permission to write to issues or pulls');
    }
    checkNotArchived(found);
  }
  return found;
}

/**
 * Labels and milestones are for whoever may read issues or pull requests.
 * @throws 404
 */
export function checkReadsLabels(found: VisibleRepository): void {
  if (!mayRead(found, 'issues') && !mayRead(found, 'pulls')) throw notFound();
}
