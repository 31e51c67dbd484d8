import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import * as accessTokens from '../store/people/access-tokens.ts';
import { findTokenOwner } from './find-token-owner.ts';

/** Revokes a token, named by its id or its name; it is of no use from the next request on. */
export async function deleteAccessToken(
  context: Context,
  caller: Caller,
  username: string,
  idOrName: string,
): Promise<void> {
  const owner = await findTokenOwner(context, caller, username);
  const tx = context.database.autocommit();
  if (!(await accessTokens.deleteByIdOrName(tx, owner.id, idOrName))) throw notFound();
}
