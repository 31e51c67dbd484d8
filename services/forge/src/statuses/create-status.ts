import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { resolveCommit } from '../commits/resolve-commit.ts';
import type { CommitPath } from '../commits/show-commit.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { forbidden, unacceptable } from '../failures.ts';
import { checkNotArchived, findRepository, mayWrite } from '../repositories/find-repository.ts';
import { STATUS_STATES } from '../rules/git/combined-status.ts';
import * as commitStatuses from '../store/repositories/commit-statuses.ts';
import { statusJson, type statusSchema } from './status-json.ts';

/** What is said of a commit. */
export interface NewStatus {
  state: string;
  /** What it is about; of each, the latest counts. */
  context: string;
  targetUrl: string;
  description: string;
}

const MAX_CONTEXT = 255;
const MAX_TARGET_URL = 2048;
const MAX_DESCRIPTION = 4096;

/** Says something of a commit, which is named by its id, the beginning of it, or a branch or tag. For writers. */
export async function createStatus(
  context: Context,
  caller: Caller,
  path: CommitPath,
  status: NewStatus,
): Promise<z.output<typeof statusSchema>> {
  const found = await findRepository(context, caller, path, 'code');
  if (!mayWrite(found, 'code')) throw forbidden('user should have a permission to write to a repo');
  checkNotArchived(found);
  checkStatus(status);
  const { commit } = await resolveCommit(context, found, path.sha);
  const repositoryId = found.repository.id;
  const row = await context.database.transaction(async (tx) => {
    const made = await commitStatuses.insert(tx, {
      repository_id: repositoryId,
      sha: commit,
      state: status.state,
      context: status.context.trim(),
      target_url: status.targetUrl,
      description: status.description,
      creator_id: caller.userId,
    });
    await announce(tx, { kind: 'status', statusId: made.id, repositoryId, actorId: caller.userId });
    return made;
  });
  context.queues.bell.ring(repositoryId);
  return statusJson(row, { found, creator: caller.user }, caller, context.links);
}

function checkStatus({ state, context, targetUrl, description }: NewStatus): void {
  const states: readonly string[] = STATUS_STATES;
  if (!states.includes(state)) throw unacceptable(`[State]: In(${states.join(',')})`);
  if (context.trim().length > MAX_CONTEXT) throw unacceptable(`[Context]: MaxSize(${MAX_CONTEXT})`);
  if (description.length > MAX_DESCRIPTION) throw unacceptable(`[Description]: MaxSize(${MAX_DESCRIPTION})`);
  // People follow it: nothing but a page may be there.
  if (targetUrl.length > MAX_TARGET_URL || (targetUrl !== '' && !/^https?:\/\/[^\s]+$/i.test(targetUrl)))
    throw unacceptable('[TargetURL]: Url');
}
