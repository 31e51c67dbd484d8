import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { badRequest, unacceptable } from '../failures.ts';
import { type ListPage, loadRest, PART_BYTES, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { readState } from '../rules/issues/list-filter.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as users from '../store/people/users.ts';
import * as pullLists from '../store/pulls/pull-lists.ts';
import { presentPulls } from './present-pulls.ts';
import type { pullSchema } from './pull-json.ts';

/** What a list of pull requests can be asked for. */
export interface PullQuery {
  state?: string | undefined;
  sort?: string | undefined;
  milestone?: string | undefined;
  labels?: string | undefined;
  poster?: string | undefined;
  base_branch?: string | undefined;
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of the pull requests of a repository. */
export async function listPulls(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: PullQuery,
): Promise<ListPage<z.output<typeof pullSchema>>> {
  const found = await findRepository(context, viewer, path, 'pulls');
  const { repository } = found;
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const poster = query.poster ? await users.findVisible(tx, query.poster, viewerOf(viewer)) : undefined;
  if (query.poster && poster === undefined) throw badRequest('Poster not found');
  const filter = {
    repositoryId: repository.id,
    state: readState(query.state),
    sort: query.sort ?? '',
    labelIds: (query.labels ?? '')
      .split(',')
      .filter((id) => id !== '')
      .map(readLabelId),
    milestoneId: readId(query.milestone ?? ''),
    posterId: poster?.id ?? 0,
    baseBranch: query.base_branch ?? '',
  };
  const slice = await pullLists.list(tx, filter, { ...page, bytes: PART_BYTES });
  const present = (part: pullLists.PullSlice) => presentPulls(context, viewer, found, part.rows, part.people);
  const load = (ids: readonly number[]) => pullLists.listLeft(tx, ids, PART_BYTES);
  return {
    page,
    total: slice.total,
    items: await present(slice),
    rest: loadRest(slice, load, present),
  };
}

/** @throws 422 */
function readLabelId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw unacceptable(`invalid label id: ${text.slice(0, 20)}`);
  return Number(text);
}
