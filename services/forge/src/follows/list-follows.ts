import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import * as follows from '../store/people/follows.ts';
import { userJson } from '../users/user-json.ts';

/** A page of the people who follow somebody, or whom he follows. */
export async function listFollows(
  context: Context,
  caller: Caller | undefined,
  userId: number,
  side: follows.FollowSide,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const page = pageOf(context, query);
  const { total, users } = await follows.listUsers(context.database.autocommit(), userId, side, page);
  return { page, total, items: users.map((user) => userJson(user, caller, context.links)) };
}
