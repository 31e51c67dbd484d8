import type { PullOnBranch } from '../store/pulls/pulls.ts';
import type { BranchMove } from '../store/repositories/pushes.ts';

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
  const isHis = moves.some(
    ({ branch, before, after }) => branch === pull.head_branch && before === pull.head_sha && after === tip,
  );
  return isHis ? actorId : null;
}
