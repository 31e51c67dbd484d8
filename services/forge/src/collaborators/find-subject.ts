import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import * as users from '../store/people/users.ts';

/**
 * The person that a request about collaborators names.
 * @throws 422 when there is none: the path that is not found is the repository's
 */
export async function findSubject({ database }: Context, login: string): Promise<users.UserRow> {
  const user = await users.findByLogin(database.autocommit(), login);
  if (user?.kind !== 'person') throw unacceptable(`user does not exist [uid: 0, name: ${login}]`);
  return user;
}
