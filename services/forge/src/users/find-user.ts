import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import * as users from '../store/users.ts';

/**
 * The account with a name.
 * @throws 404
 */
export async function findUser({ database }: Context, login: string): Promise<users.UserRow> {
  const user = await users.findByLogin(database.autocommit(), login);
  if (user === undefined) throw notFound(`user does not exist [uid: 0, name: ${login}]`);
  return user;
}
