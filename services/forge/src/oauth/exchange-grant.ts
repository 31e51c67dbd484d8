import { randomBytes } from 'node:crypto';
import { Failure } from '@croft/failure';
import { randomToken } from '@croft/runtime';
import { checkAccount } from '../caller/check-account.ts';
import type { Context } from '../context.ts';
import { fits, sha256 } from '../rules/oauth/code-challenge.ts';
import { decideRefresh } from '../rules/oauth/refresh-use.ts';
import { narrowedScopes } from '../rules/oauth/wanted-scopes.ts';
import type { ApplicationRow } from '../store/people/oauth-applications.ts';
import * as grants from '../store/people/oauth-grants.ts';
import * as users from '../store/people/users.ts';
import { findClient, type Presented } from './find-client.ts';
import { OauthRefusal } from './oauth-refusal.ts';
import type { Fields } from './read-question.ts';

/** As long as the reference's. */
const ACCESS_SECONDS = 3_600;
const REFRESH_MS = 730 * 3_600_000;

/** What a program gets (RFC 6749 §5.1). */
export interface TokenAnswer {
  access_token: string;
  token_type: 'bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
}

/**
 * Gives a program tokens for a code or a refresh token.
 * @throws OauthRefusal
 */
export async function exchangeGrant(
  context: Context,
  fields: Fields,
  presented: Presented,
): Promise<TokenAnswer> {
  const application = await findClient(context, presented);
  const type = fields['grant_type'];
  if (type === 'authorization_code') return await useCode(context, application, fields);
  if (type === 'refresh_token') return await refresh(context, application, fields);
  throw new OauthRefusal('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
}

/** A code that is presented twice was stolen from one of the two: what was given for it is taken back (RFC 6749 §4.1.2). */
async function useCode(context: Context, application: ApplicationRow, fields: Fields): Promise<TokenAnswer> {
  const { database, clock } = context;
  const hash = sha256(fields['code'] ?? '');
  const code = await grants.findCode(database.autocommit(), application.id, hash);
  if (code === undefined || code.expires_at <= clock.now()) throw unusable('the code');
  if (code.used_at === null) await checkOwner(context, code.user_id);
  const answer = await database.transaction(async (tx) => {
    if (!(await grants.lock(tx, code.grant_id))) return undefined;
    if (!(await grants.spendCode(tx, hash))) {
      await grants.removeFamily(tx, code.family);
      return undefined;
    }
    // Spent also when it does not fit: who tries has one try.
    if (!isMeant(code, fields)) return undefined;
    return await issue(context, tx, { ...code, parentId: null, accessScopes: code.scopes });
  });
  if (answer === undefined) throw unusable('the code');
  return answer;
}

/** Whether what comes with a code is what its question came with. A verifier without a challenge was meant for another code. */
function isMeant(code: grants.CodeRow, fields: Fields): boolean {
  const { redirect_uri: redirectUri = '', code_verifier: verifier = '' } = fields;
  if (code.redirect_uri !== null && code.redirect_uri !== redirectUri) return false;
  if (code.challenge === null) return verifier === '';
  const method = code.challenge_method === 'plain' ? 'plain' : 'S256';
  return fits(verifier, { challenge: code.challenge, method });
}

/** Whether the refresh token is of use is decided under the lock of its grant, on what whoever had that before made of it. */
async function refresh(context: Context, application: ApplicationRow, fields: Fields): Promise<TokenAnswer> {
  const { database } = context;
  const hash = sha256(fields['refresh_token'] ?? '');
  const found = await grants.findByRefreshToken(database.autocommit(), application.id, hash);
  if (found === undefined) throw unusable('the refresh token');
  if (decide(found, application, context.clock.now()).startsWith('yields'))
    await checkOwner(context, found.user_id);
  const answer = await database.transaction(async (tx) => {
    const isGranted = await grants.lock(tx, found.grant_id);
    const token = isGranted ? await grants.findByRefreshToken(tx, application.id, hash) : undefined;
    if (token === undefined) return undefined;
    const decision = decide(token, application, tx.now);
    if (decision === 'stolen') await grants.removeFamily(tx, token.family);
    if (!decision.startsWith('yields')) return undefined;
    const accessScopes = narrowedScopes(token.scopes, fields['scope'] ?? '');
    if (accessScopes === undefined)
      throw new OauthRefusal('invalid_scope', 'scope has more than was allowed: ask again for all of it');
    if (decision === 'yields-again') await grants.replaceSuccessors(tx, token.id);
    else await grants.noteRefresh(tx, token.id);
    return await issue(context, tx, { ...token, parentId: token.id, accessScopes });
  });
  if (answer === undefined) throw unusable('the refresh token');
  return answer;
}

const decide = (token: grants.TokenRow, { is_confidential: isConfidential }: ApplicationRow, now: Date) =>
  decideRefresh(
    {
      expiresAt: token.refresh_expires_at,
      refreshedAt: token.refreshed_at,
      isReplaced: token.is_replaced,
      hasUsedSuccessor: token.has_used_successor,
      isConfidential,
    },
    now,
  );

/** What new tokens are made from. */
interface Origin extends Pick<grants.CodeRow, 'grant_id' | 'scopes' | 'family'> {
  parentId: number | null;
  accessScopes: string[];
}

async function issue(
  { clock }: Context,
  tx: Parameters<typeof grants.insertTokens>[0],
  { grant_id: grantId, scopes, family, parentId, accessScopes }: Origin,
): Promise<TokenAnswer> {
  // Of the kind of personal ones, which git and every client can present.
  const accessToken = randomBytes(20).toString('hex');
  const refreshToken = randomToken(32);
  const now = clock.now().getTime();
  await grants.insertTokens(tx, {
    grantId,
    parentId,
    scopes,
    accessScopes: accessScopes.join() === scopes.join() ? null : accessScopes,
    family,
    accessHash: sha256(accessToken),
    accessExpiresAt: new Date(now + ACCESS_SECONDS * 1000),
    refreshHash: sha256(refreshToken),
    refreshExpiresAt: new Date(now + REFRESH_MS),
  });
  return {
    access_token: accessToken,
    token_type: 'bearer',
    expires_in: ACCESS_SECONDS,
    refresh_token: refreshToken,
    scope: accessScopes.join(' '),
  };
}

/** Whoever was banned or deleted is signed in nowhere. */
async function checkOwner(context: Context, userId: number): Promise<void> {
  const owner = (await users.mapByIds(context.database.autocommit(), [userId])).get(userId);
  if (owner === undefined) throw unusable('what was presented');
  try {
    await checkAccount(context, owner);
  } catch (error) {
    throw error instanceof Failure && error.kind === 'forbidden'
      ? unusable('the account of who signed in')
      : error;
  }
}

const unusable = (what: string) =>
  new OauthRefusal('invalid_grant', `${what} cannot be used, or not any more: sign in again`);
