import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import * as stars from '../store/repositories/stars.ts';
import { userJson } from '../users/user-json.ts';

/** A page of the people who starred a repository. */
export async function listStargazers(
  context: Context,
  caller: Caller | undefined,
  path: { owner: string; repo: string },
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const { repository } = await findRepository(context, caller, path);
  const page = pageOf(context, query);
  const { total, users } = await stars.listUsers(context.database.autocommit(), repository.id, page);
  return { page, total, items: users.map((user) => userJson(user, caller, context.links)) };
}
