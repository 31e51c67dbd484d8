import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import * as repositories from '../store/repositories.ts';
import { repositoryJson } from './repository-json.ts';

/** A page of the caller's repositories, newest first. */
export async function listOwnRepositories(
  context: Context,
  caller: Caller,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const { userId, publicOnly, user } = caller;
  const [rows, total] = await Promise.all([
    repositories.listOfOwner(tx, userId, page, publicOnly),
    repositories.countOfOwner(tx, userId, publicOnly),
  ]);
  return { page, total, items: rows.map((row) => repositoryJson(row, user, caller, context.links)) };
}
