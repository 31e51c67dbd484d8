import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { loadPeople } from '../issues/load-people.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { findProtection } from '../rules/git/protection.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import { judgeEntries } from './judge-entries.ts';
import { queueEntryJson } from './queue-json.ts';
import { queueOptionsOf } from './queue-terms.ts';

/**
 * A page of the pull requests that wait to be merged into a branch, the next one first; without a queue there are none.
 */
export async function listQueue(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; branch: string },
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const found = await findRepository(context, viewer, path, 'pulls');
  const { id } = found.repository;
  const tx = context.database.autocommit();
  const options = queueOptionsOf(findProtection(await branchProtections.list(tx, id), path.branch));
  const page = pageOf(context, query);
  const { entries, total } = await mergeQueue.listPage(tx, id, path.branch, {
    limit: page.limit,
    offset: page.offset,
  });
  const [people, judged] = await Promise.all([
    loadPeople(
      context,
      entries.map(({ row }) => row.queued_by),
      viewer === undefined ? [] : [viewer.user],
    ),
    judgeEntries(context, id, { required: options?.required ?? [] }, entries),
  ]);
  const items = entries.map((entry, index) => {
    const around = {
      position: page.offset + index + 1,
      queuedBy: people.byId(entry.row.queued_by),
      verdict: judged[index]?.verdict ?? 'pending',
      isTested: (options?.required.length ?? 0) > 0,
      place: { owner: found.owner.login, repo: found.repository.name },
    };
    return queueEntryJson(entry, around, viewer, context.links);
  });
  return { page, total, items };
}
