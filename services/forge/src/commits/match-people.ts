import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import * as commitPeople from '../store/people/commit-people.ts';
import type { UserRow } from '../store/people/users.ts';
import { userJson } from '../users/user-json.ts';

/** The account an address of a commit belongs to, as far as the viewer may know. */
export type PeopleByAddress = (email: string) => UserRow | undefined;

/**
 * Finds the accounts behind addresses in commits: one statement, however many. An address that an account does not
 * show to the viewer leads nowhere: else a commit made for the purpose would tell whose it is.
 */
export async function matchPeople(
  { database, links }: Context,
  viewer: Caller | undefined,
  emails: readonly string[],
): Promise<PeopleByAddress> {
  // NUL is in no address, and PostgreSQL would fail over it.
  const addresses = [...new Set(emails.map(fold))].filter((email) => email !== '' && !email.includes('\0'));
  if (addresses.length === 0) return () => undefined;
  const end = `@noreply.${links.host}`.toLowerCase();
  const logins = addresses
    .filter((address) => address.endsWith(end))
    .map((address) => address.slice(0, -end.length));
  const accounts = await commitPeople.listByAddress(database.autocommit(), addresses, logins);
  const byAddress = new Map<string, UserRow>();
  for (const account of accounts) {
    const shown = fold(userJson(account, viewer, links).email);
    for (const address of [shown, `${account.login_key}${end}`]) {
      if (!byAddress.has(address)) byAddress.set(address, account);
    }
  }
  return (email) => byAddress.get(fold(email));
}

const fold = (email: string) => email.trim().toLowerCase();
