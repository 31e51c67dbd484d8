import type { Context } from '../context.ts';
import { notMergeable, stackChanged } from '../failures.ts';
import { settleMergeOf } from '../pulls/settle-merges.ts';
import { findFooting } from '../rules/pulls/stack.ts';
import type { PullRow, PullWithIssue } from '../store/pulls/pulls.ts';
import * as stacks from '../store/pulls/stacks.ts';
import type { StackMember } from './stack-member.ts';

/** What a pull request stands on. */
export interface Below {
  /** The lowest first. */
  ids: number[];
  /** The branch that the lowest goes to. */
  branch: string;
}

/**
 * The pull requests that one stands on.
 * @throws 405 when it stands on itself, on either of two, or on too many
 */
export async function listBelow({ database }: Context, pull: PullWithIssue): Promise<Below> {
  const around = await stacks.listAround(database.autocommit(), pull);
  const { below, obstacle } = findFooting(memberOf(pull), around.below);
  if (obstacle !== undefined) throw notMergeable(obstacle);
  return { ids: below.map(({ id }) => id), branch: (below[0] ?? pull).base_branch };
}

/**
 * The same pull requests as they are now. For whoever has the queue of branches.
 * @param expected what it was when the caller decided: one that was merged alone or got another base meanwhile leaves the others
 *   on a branch that nobody meant
 * @throws 409 when they are others by now
 */
export async function findBelow(
  context: Context,
  pull: PullWithIssue,
  expected: Below,
): Promise<PullWithIssue[]> {
  const { ids, branch } = await listBelow(context, pull);
  if (branch !== expected.branch || ids.join() !== expected.ids.join()) throw stackChanged();
  if (ids.length === 0) return [];
  const tx = context.database.autocommit();
  // One whose record failed may have been left behind.
  for (const one of await stacks.listByIds(tx, ids)) await settleMergeOf(context, one);
  const rows = new Map((await stacks.listByIds(tx, ids)).map((row) => [row.id, row]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}

/** A pull request as rules about stacks see it. */
export function memberOf(pull: PullRow & { number: number }): StackMember {
  const { id, number, base_branch, head_branch, head_repository_id: home, repository_id: here } = pull;
  return { id, number, base_branch, own_head: home === here ? head_branch : null };
}
