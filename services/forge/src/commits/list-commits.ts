import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, repositoryEmpty, unacceptable } from '../failures.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { listCommits as readHistory } from '../outside/git/reading/history.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { readTreePath } from '../rules/files/tree-path.ts';
import { readQueryTime } from '../rules/requests/read-time.ts';
import { presentCommits, readParts } from './present-commits.ts';
import { findCommit, missingRevision, type ResolvedCommit, resolveCommit } from './resolve-commit.ts';

/** Parameters of a list of commits, as they came. */
export interface CommitsQuery {
  sha?: string | undefined;
  path?: string | undefined;
  not?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  stat?: string | undefined;
  files?: string | undefined;
  verification?: string | undefined;
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of the commits before a branch, tag or commit, newest first; with a path, those that changed it. */
export async function listCommits(
  context: Context,
  viewer: Caller | undefined,
  at: { owner: string; repo: string },
  query: CommitsQuery,
): Promise<ListPage> {
  const found = await findRepository(context, viewer, at, 'code');
  const path = readTreePath(query.path ?? '');
  if (path === undefined) throw notFound('the path does not exist');
  const page = pageOf(context, query);
  const { commit: from } = await startOf(context, found, query.sha);
  const not = query.not ? [(await resolveCommit(context, found, query.not)).commit] : [];
  const range = {
    from,
    not,
    path,
    since: readDay('since', query.since),
    until: readDay('until', query.until),
  };
  const history = await readHistory(context.git, found.repository.id, range, page);
  if (history === undefined) throw unacceptable('the history cannot be read');
  if (path !== '' && history.total === 0) throw notFound('no commit changed the path');
  return {
    page,
    total: history.total,
    items: await presentCommits(context, viewer, found, history.ids, readParts(query)),
  };
}

/** git reads what was before 1970 as far in the future. */
function readDay(name: string, text: string | undefined): Date | undefined {
  const time = readQueryTime(name, text, { days: true });
  return time && new Date(Math.max(0, time.getTime()));
}

/** @throws 409 when there is no commit yet, 404 when nothing has the name */
async function startOf(
  context: Context,
  found: VisibleRepository,
  name: string | undefined,
): Promise<ResolvedCommit> {
  const start = await findCommit(context, found, name);
  if (start !== undefined) return start;
  throw !name && found.repository.empty ? repositoryEmpty() : missingRevision(found, name);
}
