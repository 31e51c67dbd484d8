import { isUniqueViolation } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import * as tagProtections from '../store/repositories/tag-protections.ts';
import { findToChange } from './change-protections.ts';
import { findPeople, findTeams } from './find-listed.ts';
import { findTagProtection } from './list-tag-protections.ts';
import { readTagPattern } from './tag-pattern.ts';

interface RepositoryPath {
  owner: string;
  repo: string;
}

/** What a request says of a protection of tags. */
export interface TagProtectionWish {
  name_pattern?: string | null | undefined;
  whitelist_usernames?: readonly string[] | null | undefined;
  whitelist_teams?: readonly string[] | null | undefined;
}

const MAX_PATTERN = 255;
/** Every tag that is made is held against all of them. */
const MAX_PROTECTIONS = 50;

/**
 * Protects the tags that a pattern names. Somebody must be listed, as the reference wants it; a protection that lets nobody
 * pass is made by an edit.
 * @throws 403 also when there is one of this pattern, 404, 422, 423
 */
export async function createTagProtection(
  context: Context,
  caller: Caller,
  path: RepositoryPath,
  wish: TagProtectionWish,
): Promise<tagProtections.TagProtectionRow> {
  const found = await findToChange(context, caller, path);
  const tx = context.database.autocommit();
  const { namePattern = readPattern(''), userIds = [], teamIds = [] } = await readWish(context, found, wish);
  if (userIds.length === 0 && teamIds.length === 0)
    throw unacceptable('both whitelist_usernames and whitelist_teams are empty');
  if ((await tagProtections.count(tx, found.repository.id)) >= MAX_PROTECTIONS)
    throw unacceptable(`[TagProtections]: MaxSize(${MAX_PROTECTIONS})`);
  const made = await tagProtections.insert(tx, found.repository.id, { namePattern, userIds, teamIds });
  if (made === undefined) throw forbidden(ALREADY_THERE);
  return made;
}

/**
 * Changes a protection; what a request does not say stays.
 * @throws 403, 404, 422 also when there is another of the pattern, 423
 */
export async function editTagProtection(
  context: Context,
  caller: Caller,
  path: RepositoryPath & { id: string },
  wish: TagProtectionWish,
): Promise<tagProtections.TagProtectionRow> {
  const found = await findToChange(context, caller, path);
  const row = await findTagProtection(context, found, path.id);
  const change = await readWish(context, found, wish);
  try {
    const after = await tagProtections.update(context.database.autocommit(), row.id, change);
    if (after === undefined) throw notFound();
    return after;
  } catch (error) {
    if (isUniqueViolation(error, 'tag_protections_name_pattern_key')) throw unacceptable(ALREADY_THERE);
    throw error;
  }
}

/**
 * Lifts a protection.
 * @throws 403, 404, 423
 */
export async function removeTagProtection(
  context: Context,
  caller: Caller,
  path: RepositoryPath & { id: string },
): Promise<void> {
  const found = await findToChange(context, caller, path);
  const row = await findTagProtection(context, found, path.id);
  await tagProtections.remove(context.database.autocommit(), row.id);
}

const ALREADY_THERE = 'Tag protection already exist';

async function readWish(
  context: Context,
  found: VisibleRepository,
  wish: TagProtectionWish,
): Promise<Partial<tagProtections.TagProtectionFields>> {
  const { name_pattern: pattern, whitelist_usernames: logins, whitelist_teams: teams } = wish;
  const namePattern = pattern === undefined || pattern === null ? undefined : readPattern(pattern);
  const [userIds, teamIds] = await Promise.all([
    findPeople(context, found, logins),
    findTeams(context, found, teams),
  ]);
  return {
    ...(namePattern === undefined ? {} : { namePattern }),
    ...(userIds === undefined ? {} : { userIds }),
    ...(teamIds === undefined ? {} : { teamIds }),
  };
}

/** @throws 422 for none, and for a glob or an expression that cannot be read */
function readPattern(text: string): string {
  const pattern = text.trim();
  if (pattern === '') throw unacceptable('name_pattern are empty');
  if (pattern.length > MAX_PATTERN) throw unacceptable(`[NamePattern]: MaxSize(${MAX_PATTERN})`);
  if (readTagPattern(pattern) === undefined) throw unacceptable('[NamePattern]: GlobOrRegexPattern');
  return pattern;
}
