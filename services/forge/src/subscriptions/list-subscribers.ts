import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { findIssue, type NumberedPath } from '../issues/find-issue.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import * as subscriptions from '../store/issues/issue-subscriptions.ts';
import { userJson } from '../users/user-json.ts';

/** A page of those who said that they want to hear of an issue. */
export async function listSubscribers(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const { issue } = await findIssue(context, viewer, path);
  const page = pageOf(context, query);
  const { users, total } = await subscriptions.list(context.database.autocommit(), issue.id, page);
  return { page, total, items: users.map((user) => userJson(user, viewer, context.links)) };
}

/** Whether the caller hears of an issue, in the words of the API. */
export async function showSubscription(context: Context, caller: Caller, path: NumberedPath) {
  const { issue, owner, repository } = await findIssue(context, caller, path);
  const subscription = { issueId: issue.id, userId: caller.userId };
  const subscribed = await subscriptions.hears(context.database.autocommit(), subscription);
  const address = context.links.api(`/repos/${owner.login}/${repository.name}`);
  return { subscribed, issue, address };
}
