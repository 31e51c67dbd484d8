import { Failure } from '@croft/failure';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import * as repositories from '../store/repositories/repositories.ts';

/** Errors for which a repository is removed, so that they cannot come of that. */
const causes = new WeakSet<object>();

/** Keeps an error from being explained by the removal that it is the cause of. */
export function keepAsCause(error: unknown): void {
  if (error instanceof Error) causes.add(error);
}

/**
 * What a request failed with that works in a repository: while that is being removed its folder goes away piece by piece, and
 * then it is not there. Of a repository that is to be there it stays what it was.
 */
export async function explainRemoved({ database }: Context, error: unknown): Promise<unknown> {
  if (error instanceof Failure || !(error instanceof Error) || causes.has(error)) return error;
  const named = /of repository (\d+) failed|\/(\d+)\.git\b/.exec(error.message);
  if (named === null) return error;
  const id = Number(named[1] ?? named[2]);
  const row = await repositories.findById(database.autocommit(), id).catch(() => ({ state: 'ready' }));
  return row?.state === 'ready' ? error : notFound();
}
