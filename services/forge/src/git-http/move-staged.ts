import { type PushRules, refuseMove } from '../branches/push-rules.ts';
import type { Context } from '../context.ts';
import { findMergeBase, hasCommit } from '../outside/git/merge.ts';
import { listChangedPaths } from '../outside/git/reading/changed-paths.ts';
import { branchRef, moveRefs, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import { branchQueue } from '../pulls/sync-pulls.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { dependsOnFiles, findProtection } from '../rules/git/protection.ts';
import { branchOf, kindOf, type PushCommand } from '../rules/git/push-request.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';

/**
 * Moves refs whose commits have arrived, each on its own or all together, and says of each why it stays.
 * @returns a reason for each command in its order, undefined for those that moved
 */
export async function moveStaged(
  context: Context,
  repository: RepositoryRow,
  commands: readonly PushCommand[],
  rules: PushRules,
  isAtomic: boolean,
): Promise<(string | undefined)[]> {
  return await context.queues.inTurn(branchQueue(repository.id), async () => {
    const reasons = await Promise.all(
      commands.map((command) => refuseArrived(context, repository, command, rules)),
    );
    if (isAtomic) {
      if (reasons.some((reason) => reason !== undefined))
        return reasons.map((reason) => reason ?? 'another ref of the atomic push is refused');
      const outcome = await move(context, repository.id, commands);
      return commands.map(() => outcome);
    }
    for (const [index, command] of commands.entries())
      reasons[index] ??= await move(context, repository.id, [command]);
    return reasons;
  });
}

/** Why a command is refused, now that its commits are there. */
async function refuseArrived(
  { git }: Context,
  repository: RepositoryRow,
  command: PushCommand,
  rules: PushRules,
): Promise<string | undefined> {
  const { ref, before, after } = command;
  // What git checks of names, and does not see of these.
  const [, name = ''] = /^refs\/(?:heads|tags|notes)\/(.+)$/s.exec(ref) ?? [];
  if (!isBranchName(name)) return 'deny updating a hidden ref';
  const branch = branchOf(ref);
  const kind = kindOf(command);
  if (branch === undefined) return undefined;
  if (kind === 'delete' && branch === repository.default_branch)
    return 'deletion of the current branch prohibited';
  const protection = findProtection(rules.protections, branch);
  if (protection === undefined) return undefined;
  const base = kind === 'update' ? before : await startOf(git, repository, after).catch(() => undefined);
  const paths =
    kind === 'delete' || !dependsOnFiles(protection)
      ? []
      : await listChangedPaths(git, repository.id, base ?? EMPTY_TREE, after);
  if (paths === undefined) return `branch ${branch} is protected and what changes cannot be read`;
  const isForward = kind === 'update' && (await hasCommit(git, repository.id, after, before));
  return refuseMove(rules, branch, kind !== 'update' ? kind : isForward ? 'fast-forward' : 'force', paths);
}

/** git knows it without having it. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Where the commits of a new branch begin to be its own. */
async function startOf(
  git: Context['git'],
  { id, default_branch: defaultBranch }: RepositoryRow,
  commit: string,
): Promise<string | undefined> {
  const tip = await readRef(git, id, branchRef(defaultBranch));
  return tip === undefined ? undefined : await findMergeBase(git, id, tip, commit);
}

async function move(
  { git, log }: Context,
  repositoryId: number,
  commands: readonly PushCommand[],
): Promise<string | undefined> {
  const changes = commands.map(({ ref, before, after }) =>
    after === NO_COMMIT ? { ref, old: before } : { ref, old: before, new: after },
  );
  try {
    return (await moveRefs(git, repositoryId, changes)) === 'done'
      ? undefined
      : 'failed to update ref: it moved';
  } catch (error) {
    log.info({ repository: repositoryId, reason: (error as Error).message }, 'git refused to move a ref');
    return 'failed to update ref';
  }
}
