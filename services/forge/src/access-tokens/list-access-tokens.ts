import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import * as accessTokens from '../store/people/access-tokens.ts';
import { accessTokenJson } from './access-token-json.ts';
import { findTokenOwner } from './find-token-owner.ts';

/** A page of somebody's tokens, oldest first. */
export async function listAccessTokens(
  context: Context,
  caller: Caller,
  username: string,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const owner = await findTokenOwner(context, caller, username);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const [rows, total] = await Promise.all([
    accessTokens.listOfUser(tx, owner.id, page),
    accessTokens.countOfUser(tx, owner.id),
  ]);
  return { page, total, items: rows.map((row) => accessTokenJson(row)) };
}
