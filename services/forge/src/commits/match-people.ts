import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import * as commitPeople from '../store/people/commit-people.ts';
import type { UserRow } from '../store/people/users.ts';
import { publicAddress, userJson } from '../users/user-json.ts';

/** The account an address of a commit belongs to, as far as the viewer may know. */
export type PeopleByAddress = (email: string) => UserRow | undefined;

/** The accounts behind addresses in commits, as far as they show these to the viewer. */
export async function matchPeople(
  context: Context,
  viewer: Caller | undefined,
  emails: readonly string[],
): Promise<PeopleByAddress> {
  return await matchShown(context, (account) => userJson(account, viewer, context.links).email, emails);
}

/** The same for hooks, whose receivers somebody chose who is signed in. */
export async function matchForHooks(context: Context, emails: readonly string[]): Promise<PeopleByAddress> {
  return await matchShown(context, (account) => publicAddress(account, context.links), emails);
}

/**
 * One statement, however many addresses. One that an account does not show leads nowhere: else a commit made for the
 * purpose would tell whose it is.
 */
async function matchShown(
  { database, links }: Context,
  shownBy: (account: UserRow) => string,
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
    for (const address of [fold(shownBy(account)), `${account.login_key}${end}`]) {
      if (!byAddress.has(address)) byAddress.set(address, account);
    }
  }
  return (email) => byAddress.get(fold(email));
}

const fold = (email: string) => email.trim().toLowerCase();
