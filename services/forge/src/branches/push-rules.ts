import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { readTagProtection } from '../protections/tag-pattern.ts';
import { mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import type { Work } from '../rules/git/glob.ts';
import {
  findProtection,
  type Protection,
  type Pusher,
  type PushKind,
  refusePush,
} from '../rules/git/protection.ts';
import type { TagProtection } from '../rules/git/tag-protection.ts';
import * as pushRules from '../store/repositories/push-rules.ts';

/** Everything that decides whether somebody may move a branch or a tag of a repository. */
export interface PushRules {
  protections: readonly Protection[];
  tags: readonly TagProtection[];
  pusher: Pusher;
  /** All that was read for them: the same text stands for the same rules. */
  readFrom: string;
  /** For finding the protections of all branches that one request moves. */
  work: Work;
  /** The only branches he may push to, and not delete: he may write to them and to nothing else of the repository. */
  lent?: ReadonlySet<string>;
}

/** Two seconds: as many branches as a push can have, with globs that people write. */
const PUSH_WORK = 50_000_000;

/** What holds for somebody in a repository. */
export async function loadPushRules(
  { database }: Context,
  found: VisibleRepository,
  userId: number,
): Promise<PushRules> {
  const { repository, owner } = found;
  const row = await pushRules.find(database.autocommit(), {
    repositoryId: repository.id,
    ownerId: owner.id,
    userId,
  });
  const pusher = { userId, teamIds: row.teamIds, mayWrite: mayWrite(found, 'code') };
  const work = { left: PUSH_WORK };
  const { protections } = row;
  return { protections, tags: row.tags.map(readTagProtection), pusher, work, readFrom: JSON.stringify(row) };
}

/** Why somebody may not move a branch; undefined when he may. */
export function refuseMove(
  { protections, pusher, work }: PushRules,
  branch: string,
  kind: PushKind,
  paths?: readonly string[],
): string | undefined {
  const protection = findProtection(protections, branch, work);
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
