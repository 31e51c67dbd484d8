import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import * as labels from '../store/issues/labels.ts';
import { findLabelHome, type HomePath } from './find-label-home.ts';
import { labelJson } from './label-json.ts';

/** A page of the labels of a repository or an organization, by name. */
export async function listLabels(
  context: Context,
  viewer: Caller | undefined,
  path: HomePath,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const home = await findLabelHome(context, viewer, path, 'read');
  const page = pageOf(context, query);
  const { rows, total } = await labels.list(context.database.autocommit(), home, page);
  return { page, total, items: rows.map((row) => labelJson(labels.cardOf(row), home.names, context.links)) };
}
