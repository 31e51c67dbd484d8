import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { isPattern, readGlob } from '../rules/git/glob.ts';
import { findPeople, findTeams } from './find-listed.ts';
import { NO_OPTIONS, PEOPLE, PLAIN, type ProtectionWish, TEAMS } from './protection-json.ts';
import type { ProtectionOptions } from './protection-options.ts';

const MAX_NAME = 255;
const MAX_CONTEXTS = 100;
const MAX_PATTERNS = 4096;
const MAX_APPROVALS = 1000;
const MAX_BATCH = 100;
/** A week. */
const MAX_TIMEOUT_MINUTES = 7 * 24 * 60;

/**
 * The name of a protection.
 * @throws 422 without one, and for a glob that cannot be read
 */
export function readRuleName(name: string): string {
  if (name === '') throw unacceptable('both rule_name and branch_name are empty');
  if (name.length > MAX_NAME) throw unacceptable(`[RuleName]: MaxSize(${MAX_NAME})`);
  if (isPattern(name) && readGlob(name) === undefined) throw unacceptable('[RuleName]: GlobPattern');
  return name;
}

/**
 * The options of a protection after a request, with ids in place of names.
 * @param before what it said until now
 * @throws 422 for somebody or a team that nobody knows or that may not write, for patterns that cannot be read, and for
 *   more of anything than makes sense
 */
export async function readOptions(
  context: Context,
  found: VisibleRepository,
  wish: ProtectionWish,
  before: ProtectionOptions = NO_OPTIONS,
): Promise<ProtectionOptions> {
  checkSizes(wish);
  const plain = PLAIN.filter((key) => wish[key] !== undefined && wish[key] !== null);
  const people = await Promise.all(
    PEOPLE.map(async (key) => [key, await findPeople(context, found, wish[key])] as const),
  );
  const teams = await Promise.all(
    TEAMS.map(async (key) => [key, await findTeams(context, found, wish[key])] as const),
  );
  return {
    ...before,
    ...Object.fromEntries(plain.map((key) => [key, wish[key]])),
    ...Object.fromEntries([...people, ...teams].filter(([, ids]) => ids !== undefined)),
  };
}

function checkSizes(wish: ProtectionWish): void {
  const { required_approvals: approvals, status_check_contexts: contexts } = wish;
  if (approvals !== undefined && approvals !== null && (approvals < 0 || approvals > MAX_APPROVALS))
    throw unacceptable('[RequiredApprovals]: Range');
  if ((contexts ?? []).length > MAX_CONTEXTS || (contexts ?? []).some((one) => one.length > MAX_NAME))
    throw unacceptable(`[StatusCheckContexts]: MaxSize(${MAX_CONTEXTS})`);
  checkRange('MergeQueueBatch', wish.merge_queue_batch, MAX_BATCH);
  checkRange('MergeQueueTimeoutMinutes', wish.merge_queue_timeout_minutes, MAX_TIMEOUT_MINUTES);
  for (const patterns of [wish.protected_file_patterns ?? '', wish.unprotected_file_patterns ?? '']) {
    if (patterns.length > MAX_PATTERNS) throw unacceptable(`[FilePatterns]: MaxSize(${MAX_PATTERNS})`);
    const unreadable = patterns.split(';').find((part) => readGlob(part.trim()) === undefined);
    if (unreadable !== undefined) throw unacceptable(`[FilePatterns]: GlobPattern ${unreadable.trim()}`);
  }
}

function checkRange(name: string, value: number | null | undefined, most: number): void {
  if (value !== undefined && value !== null && (value < 1 || value > most))
    throw unacceptable(`[${name}]: Range(1,${most})`);
}
