import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import {
  checkNotArchived,
  findRepository,
  mayWrite,
  type VisibleRepository,
} from '../repositories/find-repository.ts';

/**
 * A repository whose code the caller may change.
 * @throws 404, 403, 423
 */
export async function findWritable(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path, 'code');
  if (!mayWrite(found, 'code')) throw forbidden('user should have a permission to write to a repo');
  checkNotArchived(found);
  return found;
}
