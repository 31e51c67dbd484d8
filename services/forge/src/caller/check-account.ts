import type { Context } from '../context.ts';
import { accountRefused } from '../failures.ts';
import { type AccountStatus, isStale } from '../rules/access/account-status.ts';
import type { UserRow } from '../store/people/users.ts';
import * as users from '../store/people/users.ts';

/**
 * Refuses whoever the auth service banned or deleted, whatever his credentials are. Its last word stands in the
 * account's row and counts for a minute; while it cannot be asked, for longer: an auth service that is away must not
 * stop everybody's work, and who was refused stays so.
 * @returns the account; whoever lost the role of administrators there is none here, also with a token from before, and who got it is one
 * @throws 403
 */
export async function checkAccount(context: Context, account: UserRow): Promise<UserRow> {
  const { database, clock, identity } = context;
  const { id, auth_user_id: authUserId } = account;
  const mayAsk = authUserId !== null && isStale(account.checked_at, clock.now());
  const answer = mayAsk ? await identity.accounts?.ask(authUserId) : undefined;
  if (answer === undefined) {
    if (account.refused_at !== null) throw accountRefused();
    return account;
  }
  const { isRefused, askedAt } = answer;
  const isAdmin = isAdministrator(context, answer);
  await users.noteStatus(database.autocommit(), id, { isRefused, isAdmin, askedAt });
  if (isRefused) throw accountRefused();
  return { ...account, checked_at: askedAt, is_admin: isAdmin ?? account.is_admin };
}

/**
 * The same for an auth user who has no account yet: who is refused gets none.
 * @returns when the auth service was asked, and whether it said that he administrates, which his token may say of a
 *   time before; undefined when it could not be asked
 * @throws 403
 */
export async function checkNewcomer(
  context: Context,
  authUserId: string,
): Promise<{ askedAt: Date; isAdmin: boolean | undefined } | undefined> {
  const answer = await context.identity.accounts?.ask(authUserId);
  if (answer?.isRefused) throw accountRefused();
  return answer && { askedAt: answer.askedAt, isAdmin: isAdministrator(context, answer) };
}

/** Undefined when the answer says nothing of a role. */
const isAdministrator = ({ identity }: Context, { role }: AccountStatus) =>
  role === undefined ? undefined : identity.adminRoles.has(role);
