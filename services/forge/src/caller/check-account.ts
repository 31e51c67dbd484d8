import type { Context } from '../context.ts';
import { accountRefused } from '../failures.ts';
import type { StatusAnswer } from '../outside/account-status.ts';
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
  const now = await refreshAccount(context, account);
  if (now.refused_at !== null) throw accountRefused();
  return now;
}

/** The same for whoever has not shown yet who he is: nobody is told that an account was refused. */
export async function refreshAccount(context: Context, account: UserRow): Promise<UserRow> {
  const { database, clock, identity } = context;
  const { id, auth_user_id: authUserId } = account;
  const mayAsk = authUserId !== null && isStale(account.checked_at, clock.now());
  const answer = mayAsk ? await identity.accounts?.ask(authUserId) : undefined;
  if (answer === undefined) return account;
  const { isRefused, hasFactor, shown, askedAt } = answer;
  const isAdmin = isAdministrator(context, answer);
  await users.noteStatus(database.autocommit(), id, { isRefused, isAdmin, hasFactor, shown, askedAt });
  const refusedAt = isRefused ? (account.refused_at ?? askedAt) : null;
  const now = {
    ...account,
    checked_at: askedAt,
    refused_at: refusedAt,
    is_admin: isAdmin ?? account.is_admin,
    has_second_factor: hasFactor ?? account.has_second_factor,
  };
  if (shown === undefined || (account.shown_at !== null && account.shown_at > askedAt)) return now;
  const fullName = account.keeps_full_name ? account.full_name : shown.fullName;
  return { ...now, email: shown.email, full_name: fullName, shown_at: askedAt };
}

/**
 * The same for an auth user who has no account yet: who is refused gets none.
 * @returns when the auth service was asked, whether it said that he administrates and has a second factor, and what it shows of him, which his
 *   token may say of a time before; undefined when it could not be asked
 * @throws 403
 */
export async function checkNewcomer(
  context: Context,
  authUserId: string,
): Promise<
  (Pick<StatusAnswer, 'askedAt' | 'shown' | 'hasFactor'> & { isAdmin: boolean | undefined }) | undefined
> {
  const answer = await context.identity.accounts?.ask(authUserId);
  if (answer?.isRefused) throw accountRefused();
  return answer && { ...answer, isAdmin: isAdministrator(context, answer) };
}

/** Undefined when the answer says nothing of a role. */
const isAdministrator = ({ identity }: Context, { role }: AccountStatus) =>
  role === undefined ? undefined : identity.adminRoles.has(role);
