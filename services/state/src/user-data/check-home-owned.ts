import type { Context } from '../context.ts';
import { homeOfOthers } from '../failures.ts';
import type { Home } from '../model/model.ts';
import { contentOwner } from '../outside/content-owner.ts';
import { type Account, findAccount } from '../outside/identity/accounts.ts';

/** What to do when the folder that is to move is no home. */
export const INSTEAD_OF_MOVING = 'call CreateUserData with the path of a folder of his that is not empty';

/**
 * The daemon is root, so that a wrong path would have it save, move or delete the files of others.
 * @param owner whose they have to be; undefined where nobody knows
 * @param instead what to do when the path is wrong
 * @throws FAILED_PRECONDITION, UNAVAILABLE
 */
export async function checkHomeOwned(
  { user, path }: Pick<Home, 'user' | 'path'>,
  owner: Account | undefined,
  instead: string,
  { directory }: Pick<Context, 'directory'>,
): Promise<void> {
  const uid = owner === undefined ? undefined : await contentOwner(path);
  if (uid === undefined || uid === owner?.uid) return;
  const other = await findAccount(directory, uid);
  throw homeOfOthers(path, user, other?.name ?? `uid ${uid}`, instead);
}
