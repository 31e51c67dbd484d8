import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { addressesOf } from '../commits/commit-json.ts';
import { resolveCommit } from '../commits/resolve-commit.ts';
import type { CommitPath } from '../commits/show-commit.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { repositoryJson, repositorySchema } from '../repositories/repository-json.ts';
import { combineStates, STATUS_STATES } from '../rules/git/combined-status.ts';
import * as commitStatuses from '../store/repositories/commit-statuses.ts';
import { presentStatuses } from './present-statuses.ts';
import { statusSchema } from './status-json.ts';

/** The latest status of each context, and what they are together. */
export const combinedStatusSchema = z.object({
  state: z.string(),
  sha: z.string(),
  total_count: z.int(),
  statuses: z.array(statusSchema),
  repository: repositorySchema,
  commit_url: z.string(),
  url: z.string(),
});

interface PageQuery {
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of everything that was said of a commit; the path's `sha` may be a branch or tag. */
export async function listStatuses(
  context: Context,
  viewer: Caller | undefined,
  path: CommitPath,
  query: PageQuery & { sort?: string | undefined; state?: string | undefined },
): Promise<ListPage> {
  const found = await findRepository(context, viewer, path, 'code');
  const page = pageOf(context, query);
  const { commit: sha } = await resolveCommit(context, found, path.sha);
  const commit = { repositoryId: found.repository.id, sha };
  const states = STATUS_STATES.filter((state) => !query.state || query.state === state);
  const oldestFirst = /^(oldest|leastupdate|leastindex)$/.test(query.sort ?? '');
  const tx = context.database.autocommit();
  const [rows, total] = await Promise.all([
    commitStatuses.list(tx, commit, { states, oldestFirst }, page),
    commitStatuses.count(tx, commit, states),
  ]);
  return { page, total, items: await presentStatuses(context, viewer, found, rows) };
}

/** What the latest statuses of a commit are together: the worst of all, of which a page is shown. */
export async function showCombinedStatus(
  context: Context,
  viewer: Caller | undefined,
  path: CommitPath,
  query: PageQuery,
): Promise<z.output<typeof combinedStatusSchema>> {
  const { links } = context;
  const found = await findRepository(context, viewer, path, 'code');
  const { commit: sha } = await resolveCommit(context, found, path.sha);
  const commit = { repositoryId: found.repository.id, sha };
  const tx = context.database.autocommit();
  const [{ contexts, states }, rows] = await Promise.all([
    commitStatuses.summarize(tx, commit),
    commitStatuses.listLatest(tx, commit, pageOf(context, query)),
  ]);
  const address = addressesOf(found, links);
  return {
    state: combineStates(states),
    sha,
    total_count: contexts,
    statuses: await presentStatuses(context, viewer, found, rows),
    repository: repositoryJson(found, viewer, links),
    commit_url: address.commit(sha),
    url: address.api(`commits/${sha}/status`),
  };
}
