import { randomUUID } from 'node:crypto';
import { randomToken } from '@croft/runtime';
import type { Caller } from '../caller/caller.ts';
import { checkReachesPrivate } from '../caller/check-reaches-private.ts';
import type { Context } from '../context.ts';
import { badRequest, notFound } from '../failures.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { sha256 } from '../rules/oauth/code-challenge.ts';
import { redirectUriFault } from '../rules/oauth/redirect-uri.ts';
import * as applications from '../store/people/oauth-applications.ts';
import { applicationJson } from './application-json.ts';

/** Longest name; the reference has the same column width. */
const MAX_NAME = 255;
const MAX_URIS = 50;
const MAX_URI = 2_048;

/** Line breaks and what makes text run the other way: people decide by the name. */
const TURNS_TEXT = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** What is sent of one. */
export interface ApplicationWish {
  name: string;
  confidential_client?: boolean | null | undefined;
  skip_secondary_authorization?: boolean | null | undefined;
  redirect_uris?: readonly string[] | null | undefined;
}

/** An application and its secret, in the only moment in which that is known. */
export interface MadeApplication {
  row: applications.ApplicationRow;
  secret: string;
}

/** Makes an application of the caller's. */
export async function makeApplication(
  context: Context,
  caller: Caller,
  wish: ApplicationWish,
): Promise<MadeApplication> {
  checkReachesPrivate(caller);
  const secret = randomToken(32);
  const row = await applications.insert(context.database.autocommit(), caller.userId, {
    ...read(wish),
    clientId: randomUUID(),
    secretHash: sha256(secret),
  });
  return { row, secret };
}

/** The caller's, oldest first. */
export async function listApplications(
  context: Context,
  caller: Caller,
  query: Parameters<typeof pageOf>[1],
): Promise<ListPage> {
  checkReachesPrivate(caller);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const [rows, total] = await Promise.all([
    applications.listOfUser(tx, caller.userId, page),
    applications.countOfUser(tx, caller.userId),
  ]);
  return { page, total, items: rows.map((row) => applicationJson(row)) };
}

/**
 * One of the caller's.
 * @throws 404
 */
export async function findApplication(
  context: Context,
  caller: Caller,
  id: string,
): Promise<applications.ApplicationRow> {
  checkReachesPrivate(caller);
  const row = await applications.find(context.database.autocommit(), caller.userId, ownId(id));
  if (row === undefined) throw notFound();
  return row;
}

/**
 * Deletes one, with all that people allowed it.
 * @throws 404
 */
export async function deleteApplication(context: Context, caller: Caller, id: string): Promise<void> {
  checkReachesPrivate(caller);
  const tx = context.database.autocommit();
  if (!(await applications.remove(tx, caller.userId, ownId(id)))) throw notFound();
}

/** Changes one; as in the reference it gets another secret, and what is not sent is off. */
export async function changeApplication(
  context: Context,
  caller: Caller,
  id: string,
  wish: ApplicationWish,
): Promise<MadeApplication> {
  checkReachesPrivate(caller);
  const secret = randomToken(32);
  const edit = { ...read(wish), secretHash: sha256(secret) };
  const row = await applications.update(context.database.autocommit(), caller.userId, ownId(id), edit);
  if (row === undefined) throw notFound();
  return { row, secret };
}

/** The id of a path; what is no number is nobody's. */
export function ownId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw notFound();
  return Number(text);
}

function read(wish: ApplicationWish): applications.NewApplication {
  const redirectUris = wish.redirect_uris ?? [];
  if (wish.name.length > MAX_NAME) throw badRequest(`[Name]: MaxSize(${MAX_NAME})`);
  if (TURNS_TEXT.test(wish.name)) throw badRequest('[Name]: characters that cannot be seen');
  if (redirectUris.length === 0) throw badRequest('[RedirectURIs]: Required');
  if (redirectUris.length > MAX_URIS) throw badRequest(`[RedirectURIs]: MaxSize(${MAX_URIS})`);
  for (const uri of redirectUris) {
    const fault = uri.length > MAX_URI ? `has more than ${MAX_URI} characters` : redirectUriFault(uri);
    if (fault !== undefined) throw badRequest(`[RedirectURIs]: ${uri.slice(0, MAX_URI)} ${fault}`);
  }
  return {
    name: wish.name,
    isConfidential: wish.confidential_client ?? false,
    skipsConsent: wish.skip_secondary_authorization ?? false,
    redirectUris,
  };
}
