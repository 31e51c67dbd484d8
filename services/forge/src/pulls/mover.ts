import { branchOf, kindOf } from '../rules/git/push-request.ts';
import type { PullOnBranch } from '../store/pulls/pulls.ts';
import type { BranchMove, RefMove } from '../store/repositories/pushes.ts';

/** In whose name branches are looked at, null when that is not known any more, and what he moved himself. */
export interface Mover {
  readonly actorId: number | null;
  readonly moves: readonly BranchMove[];
}

/** What merges that stand on one another do to the branch they go into. */
export function moveOf(
  merges: readonly { base_branch: string; base_sha: string; commit_sha: string }[],
): BranchMove[] {
  const [first, last] = [merges[0], merges.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ branch: first.base_branch, before: first.base_sha, after: last.commit_sha }];
}

/** Nobody in particular. */
export const NOBODY: Mover = { actorId: null, moves: [] };

/**
 * Who decided where the head of a pull request goes: the mover, where all of the way was his. Null where somebody else had moved
 * it before that was looked at, as what he pushed has come along.
 */
export function deciderOf({ actorId, moves }: Mover, pull: PullOnBranch, tip: string): number | null {
  const left = new Set(moves.filter(({ branch }) => branch === pull.head_branch));
  for (let at = pull.head_sha; at !== tip; ) {
    const next = [...left].find(({ before }) => before === at);
    if (next === undefined) return null;
    left.delete(next);
    at = next.after;
  }
  return actorId;
}

/** What a move is that takes a branch from one commit to another. */
export function branchMove(move: RefMove): BranchMove[] {
  const { ref, before, after } = move;
  const branch = branchOf(ref);
  return branch === undefined || kindOf(move) !== 'update' ? [] : [{ branch, before, after }];
}
