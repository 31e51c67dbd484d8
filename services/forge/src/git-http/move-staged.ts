import type { PushRules } from '../branches/push-rules.ts';
import { refuseArrived } from '../branches/refuse-arrived.ts';
import type { Context } from '../context.ts';
import { moveRefs, NO_COMMIT } from '../outside/git/refs.ts';
import { branchQueue } from '../pulls/sync-pulls.ts';
import type { PushCommand } from '../rules/git/push-request.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';

const AT_ONCE = 8;

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
    const reasons: (string | undefined)[] = [];
    // Each may take a program, there may be thousands of them, and others have questions too.
    for (let start = 0; start < commands.length; start += AT_ONCE) {
      const some = commands.slice(start, start + AT_ONCE);
      reasons.push(
        ...(await Promise.all(some.map((command) => refuseArrived(context, repository, command, rules)))),
      );
    }
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
