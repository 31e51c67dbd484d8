import type { Caller } from '../caller/caller.ts';
import { checkReachesPrivate } from '../caller/check-reaches-private.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import * as grants from '../store/people/oauth-grants.ts';
import { grantJson } from './application-json.ts';
import { ownId } from './own-applications.ts';

/** What the caller allowed applications, oldest first. */
export async function listGrants(
  context: Context,
  caller: Caller,
  query: Parameters<typeof pageOf>[1],
): Promise<ListPage> {
  checkReachesPrivate(caller);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const [rows, total] = await Promise.all([
    grants.listOfUser(tx, caller.userId, page),
    grants.countOfUser(tx, caller.userId),
  ]);
  return { page, total, items: rows.map(grantJson) };
}

/**
 * Takes back what the caller allowed an application.
 * @throws 404
 */
export async function takeBackGrant(context: Context, caller: Caller, id: string): Promise<void> {
  checkReachesPrivate(caller);
  if (!(await grants.remove(context.database.autocommit(), caller.userId, ownId(id)))) throw notFound();
}
