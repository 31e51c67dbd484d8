import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import { findIssue, type NumberedPath } from '../issues/find-issue.ts';
import * as subscriptions from '../store/issues/issue-subscriptions.ts';
import * as users from '../store/people/users.ts';

/**
 * Notes whether somebody wants to hear of an issue: everybody for himself, site administrators for others.
 * @returns whether that is news
 * @throws 403, 404
 */
export async function changeSubscription(
  context: Context,
  caller: Caller,
  path: NumberedPath & { user: string },
  subscribed: boolean,
): Promise<boolean> {
  const { issue } = await findIssue(context, caller, path);
  const tx = context.database.autocommit();
  const isOwn = path.user.toLowerCase() === caller.user.login_key;
  if (!isOwn && !caller.isAdmin) throw forbidden('only site administrators subscribe others');
  const user = isOwn ? caller.user : await users.findByLogin(tx, path.user);
  if (user === undefined || user.kind !== 'person') throw notFound();
  const subscription = { issueId: issue.id, userId: user.id };
  const heard = await subscriptions.hears(tx, subscription);
  if (!(await subscriptions.set(tx, subscription, subscribed))) throw notFound();
  return heard !== subscribed;
}
