import { Failure } from '@croft/failure';
import { type Caller, callerOf } from '../caller/caller.ts';
import { checkAccount } from '../caller/check-account.ts';
import type { Context } from '../context.ts';
import * as users from '../store/people/users.ts';
import { findRepositoryById, type VisibleRepository } from './find-repository.ts';

/** Somebody in whose name something happens while he is not there, and a repository as he sees it. */
export interface Acting {
  caller: Caller;
  found: VisibleRepository;
}

/** Somebody with the rights he has now; undefined when he is gone, was banned or may not know of the repository. */
export async function findActing(
  context: Context,
  userId: number | null,
  repositoryId: number,
): Promise<Acting | undefined> {
  if (userId === null) return undefined;
  const user = (await users.mapByIds(context.database.autocommit(), [userId])).get(userId);
  if (user === undefined) return undefined;
  try {
    const caller = callerOf(await checkAccount(context, user));
    return { caller, found: await findRepositoryById(context, caller, repositoryId) };
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
