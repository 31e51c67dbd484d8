import type { Caller } from '../caller/caller.ts';
import { addressesOf, inPath } from '../commits/commit-json.ts';
import { presentCommits, readParts } from '../commits/present-commits.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { type IgnoredSpace, listChangedFiles } from '../outside/git/reading/changed-files.ts';
import { listCommits } from '../outside/git/reading/history.ts';
import { findChangeRange } from './change-range.ts';
import { changedFileJson } from './changed-file-json.ts';
import { findPull } from './find-pull.ts';

interface PageQuery {
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of the commits of a pull request, newest first. */
export async function listPullCommits(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  query: PageQuery & Parameters<typeof readParts>[0],
): Promise<ListPage> {
  const found = await findPull(context, viewer, path);
  const { from, to } = await findChangeRange(context, found);
  const page = pageOf(context, query);
  const range = { from: to, not: [from], path: '', since: undefined, until: undefined };
  const history = await listCommits(context.git, found.repository.id, range, page);
  if (history === undefined) throw unacceptable('the history cannot be read');
  const { ids, total } = history;
  return { page, total, items: await presentCommits(context, viewer, found, ids, readParts(query)) };
}

/** A page of the files that a pull request changes, by their paths. */
export async function listPullFiles(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  query: PageQuery & { whitespace?: string | undefined; 'skip-to'?: string | undefined },
): Promise<ListPage> {
  const found = await findPull(context, viewer, path);
  const range = await findChangeRange(context, found);
  const page = pageOf(context, query);
  const ignored = SPACE.get(query.whitespace ?? '') ?? 'none';
  const all = await listChangedFiles(context.git, found.repository.id, range, ignored);
  if (all === undefined) throw unacceptable('the changes cannot be read');
  const first = query['skip-to'];
  const at = first ? all.findIndex((file) => file.path === first) : 0;
  const files = at === -1 ? [] : all.slice(at);
  const address = addressesOf(found, context.links);
  const places = (file: string) => ({
    html_url: address.page(`src/commit/${range.to}/${inPath(file)}`),
    contents_url: address.api(`contents/${inPath(file)}?ref=${range.to}`),
    raw_url: address.api(`raw/${inPath(file)}?ref=${range.to}`),
  });
  const shown = files.slice(page.offset, page.offset + page.limit);
  return { page, total: files.length, items: shown.map((file) => changedFileJson(file, places(file.path))) };
}

const SPACE: ReadonlyMap<string, IgnoredSpace> = new Map([
  ['ignore-all', 'all'],
  ['ignore-change', 'change'],
  ['ignore-eol', 'eol'],
]);
