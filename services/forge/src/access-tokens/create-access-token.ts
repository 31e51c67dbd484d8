import { randomBytes } from 'node:crypto';
import { hashToken } from '../caller/authenticate.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { badRequest } from '../failures.ts';
import { unknownScopes } from '../rules/access/token-scope.ts';
import * as accessTokens from '../store/people/access-tokens.ts';
import { findTokenOwner } from './find-token-owner.ts';

/** Longest name; the reference has the same column width. */
const MAX_NAME = 255;

/** Makes a token; the only moment in which it is known. */
export async function createAccessToken(
  context: Context,
  caller: Caller,
  username: string,
  wanted: { name: string; scopes: readonly string[] },
): Promise<{ row: accessTokens.AccessTokenRow; secret: string }> {
  const owner = await findTokenOwner(context, caller, username);
  const unknown = unknownScopes(wanted.scopes);
  if (unknown.length > 0) throw badRequest(`invalid access token scope provided: ${unknown.join(',')}`);
  if (wanted.name.length > MAX_NAME) throw badRequest(`[Name]: MaxSize(${MAX_NAME})`);
  const secret = randomBytes(20).toString('hex');
  const row = await accessTokens.insert(context.database.autocommit(), {
    userId: owner.id,
    name: wanted.name,
    hash: hashToken(secret),
    lastEight: secret.slice(-8),
    scopes: wanted.scopes,
  });
  if (row === undefined) throw badRequest('access token name has been used already');
  return { row, secret };
}
