import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { accessTo, findRepository } from '../repositories/find-repository.ts';
import { presentRepositories } from '../repositories/present-repositories.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as repositories from '../store/repositories/repositories.ts';
import * as watches from '../store/repositories/watches.ts';
import { findPerson } from '../users/find-user.ts';
import { userJson } from '../users/user-json.ts';

/** The parameters of a list. */
interface PageQuery {
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of the people who watch a repository. */
export async function listWatchers(
  context: Context,
  caller: Caller | undefined,
  path: { owner: string; repo: string },
  query: PageQuery,
): Promise<ListPage> {
  const { repository } = await findRepository(context, caller, path);
  const page = pageOf(context, query);
  const { total, users } = await watches.listUsers(context.database.autocommit(), repository.id, page);
  return { page, total, items: users.map((user) => userJson(user, caller, context.links)) };
}

/** A page of the repositories somebody watches, as far as the caller may see them. */
export async function listWatched(
  context: Context,
  caller: Caller | undefined,
  username: string,
  query: PageQuery,
): Promise<ListPage> {
  const person = await findPerson(context, username);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const { total, ids } = await watches.listRepositoryIds(tx, person.id, viewerOf(caller), page);
  const rows = await repositories.listByIds(tx, ids, caller?.userId ?? 0);
  const byId = new Map(rows.map((row) => [row.id, accessTo(row, caller)]));
  const found = ids.flatMap((id) => byId.get(id) ?? []);
  return { page, total, items: await presentRepositories(context, caller, found) };
}
