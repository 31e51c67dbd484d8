import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findIssue, type NumberedPath } from '../issues/find-issue.ts';
import { asksForPage, type ListPage, loadRest, PART_BYTES, pageOf, WHOLE_LIST } from '../list-answer.ts';
import { findRepository, mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import { planBeginning } from '../rules/requests/paging.ts';
import { readTimeRange } from '../rules/requests/read-time.ts';
import * as comments from '../store/issues/comments.ts';
import { presentComments } from './present-comments.ts';

/** What lists of comments can be asked for. */
export interface CommentQuery {
  since?: string | undefined;
  before?: string | undefined;
  page?: string | undefined;
  limit?: string | undefined;
}

/** Clients of the reference read a whole conversation at once; of a longer one they get the beginning, and a `Link` to the rest. */
const WHOLE_CONVERSATION = { ...WHOLE_LIST, bytes: 9 * 1024 * 1024 };

/** What people wrote about an issue, oldest first. */
export async function listComments(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  query: CommentQuery,
): Promise<ListPage> {
  const found = await findIssue(context, viewer, path);
  const range = readTimeRange(query);
  const isPaged = asksForPage(query);
  const page = pageOf(context, query);
  const part = isPaged ? { ...page, bytes: PART_BYTES } : WHOLE_CONVERSATION;
  const tx = context.database.autocommit();
  const [slice, total] = await Promise.all([
    comments.listByIssue(tx, found.issue.id, range, part),
    comments.countByIssue(tx, found.issue.id, range),
  ]);
  if (isPaged) return { page, total, ...(await wholeSlice(context, viewer, found, slice)) };
  const { rows } = slice;
  const beginning = planBeginning(rows.length, total, context.settings.MAX_RESPONSE_ITEMS);
  const items = await presentComments(context, viewer, found, rows.slice(0, beginning?.shown));
  return { page: { page: 1, limit: Math.max(total, 1), offset: 0 }, total, beginning, items };
}

/**
 * A page of what people wrote in a repository, oldest first.
 * @throws 404 also when it has neither issues nor pull requests that the viewer may read
 */
export async function listRepositoryComments(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: CommentQuery,
): Promise<ListPage> {
  const found = await findRepository(context, viewer, path);
  const onIssues = mayRead(found, 'issues');
  const onPulls = mayRead(found, 'pulls');
  if (!onIssues && !onPulls) throw notFound();
  const page = pageOf(context, query);
  const filter = { repositoryId: found.repository.id, onIssues, onPulls, ...readTimeRange(query) };
  const tx = context.database.autocommit();
  const [slice, total] = await Promise.all([
    comments.listByRepository(tx, filter, { ...page, bytes: PART_BYTES }),
    comments.countByRepository(tx, filter),
  ]);
  return { page, total, ...(await wholeSlice(context, viewer, found, slice)) };
}

async function wholeSlice(
  context: Context,
  viewer: Caller | undefined,
  found: VisibleRepository,
  slice: comments.CommentSlice,
): Promise<Pick<ListPage, 'items' | 'rest'>> {
  const present = ({ rows }: comments.CommentSlice) => presentComments(context, viewer, found, rows);
  const load = (ids: readonly number[]) => comments.listLeft(context.database.autocommit(), ids, PART_BYTES);
  return { items: await present(slice), rest: loadRest(slice, load, present) };
}
