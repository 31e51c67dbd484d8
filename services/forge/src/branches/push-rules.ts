import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import {
  findProtection,
  type Protection,
  type Pusher,
  type PushKind,
  refusePush,
} from '../rules/git/protection.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';

/** Everything that decides whether somebody may move a branch of a repository. */
export interface PushRules {
  protections: readonly Protection[];
  pusher: Pusher;
  /** The only branches he may push to, and not delete: he may write to them and to nothing else of the repository. */
  lent?: ReadonlySet<string>;
}

/** What holds for somebody in a repository: two statements, one where nothing is protected. */
export async function loadPushRules(
  { database }: Context,
  found: VisibleRepository,
  userId: number,
): Promise<PushRules> {
  const tx = database.autocommit();
  const protections = await branchProtections.list(tx, found.repository.id);
  const writes = mayWrite(found, 'code');
  const pusher =
    protections.length === 0
      ? { userId, teamIds: [], mayWrite: writes }
      : await branchProtections.findPusher(tx, userId, found.owner.id, writes);
  return { protections, pusher };
}

/** Why somebody may not move a branch; undefined when he may. */
export function refuseMove(
  { protections, pusher }: PushRules,
  branch: string,
  kind: PushKind,
  paths?: readonly string[],
): string | undefined {
  const protection = findProtection(protections, branch);
  const refusal = refusePush(protection, branch, { kind, pusher, ...(paths === undefined ? {} : { paths }) });
  // No keys of people are kept, so no signature can be verified.
  return (
    refusal ??
    (protection?.options.require_signed_commits && kind !== 'delete' ? unsigned(branch) : undefined)
  );
}

/** @throws 403 */
export function checkMove(...move: Parameters<typeof refuseMove>): void {
  const refusal = refuseMove(...move);
  if (refusal !== undefined) throw forbidden(refusal);
}

const unsigned = (branch: string) =>
  `branch ${branch} takes signed commits only, and no signature can be verified here`;
