import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { Moved, notFound } from '../failures.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as organizations from '../store/people/organizations.ts';
import * as users from '../store/people/users.ts';

/**
 * The account with a name, be it of a person or of an organization the caller may know of.
 * @throws 404 when there is none, and when the caller may not know of it: the two must look the same; 307 when it has
 *   another name now
 */
export async function findAccount(
  { database }: Context,
  caller: Caller | undefined,
  login: string,
): Promise<users.UserRow> {
  const tx = database.autocommit();
  const viewer = viewerOf(caller);
  const account = await users.findVisible(tx, login, viewer);
  if (account !== undefined) return account;
  const moved = await organizations.findByFormerName(tx, login, viewer);
  throw moved === undefined ? unknownUser(login) : new Moved([login], [moved.login]);
}

/**
 * The person with a name; organizations are none.
 * @throws 404
 */
export async function findPerson({ database }: Context, login: string): Promise<users.UserRow> {
  const person = await users.findByLogin(database.autocommit(), login);
  if (person?.kind !== 'person') throw unknownUser(login);
  return person;
}

const unknownUser = (login: string) => notFound(`user does not exist [uid: 0, name: ${login}]`);
