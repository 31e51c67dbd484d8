import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as labels from '../store/issues/labels.ts';
import { findLabelHome, type HomePath } from './find-label-home.ts';

/** Deletes a label, and takes it from all issues that have it. */
export async function deleteLabel(
  context: Context,
  caller: Caller,
  path: HomePath & { id: string },
): Promise<void> {
  const home = await findLabelHome(context, caller, path, 'write');
  const tx = context.database.autocommit();
  if (!(await labels.deleteById(tx, home, readId(path.id)))) throw notFound();
}
