import { forbidden, notFound } from '../../failures.ts';

/**
 * Merge rule 9: what becomes of the head branch of a merged pull request when it should be deleted.
 * @throws 403 for the default branch and a protected one, 404 when it is gone
 */
export function decideBranchDeletion(branch: {
  isDefault: boolean;
  /** A protection keeps the caller from deleting it. */
  isProtected: boolean;
  exists: boolean;
  /** Other pull requests that are not merged have it as head. */
  usedByOthers: boolean;
}): 'delete' | 'keep' {
  if (branch.usedByOthers) return 'keep';
  if (branch.isDefault) throw forbidden('can not delete default branch');
  if (branch.isProtected) throw forbidden('branch protected');
  if (!branch.exists) throw notFound('branch does not exist');
  return 'delete';
}
