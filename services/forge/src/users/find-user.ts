import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { Moved, notFound } from '../failures.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as formerLogins from '../store/people/former-logins.ts';
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
  const moved = await formerLogins.findOwner(tx, login, viewer);
  throw moved === undefined ? unknownUser(login) : new Moved([login], [moved.login]);
}

/**
 * The person a path names; organizations are none.
 * @throws 404; 307 when he has another name now
 */
export async function findPerson({ database }: Context, login: string): Promise<users.UserRow> {
  const tx = database.autocommit();
  const account = await users.findByLogin(tx, login);
  if (account?.kind === 'person') return account;
  const moved =
    account === undefined ? await formerLogins.findOwner(tx, login, viewerOf(undefined)) : undefined;
  throw moved?.kind === 'person' ? new Moved([login], [moved.login]) : unknownUser(login);
}

const unknownUser = (login: string) => notFound(`user does not exist [uid: 0, name: ${login}]`);
