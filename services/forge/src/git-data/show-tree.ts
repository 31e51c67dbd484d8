import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { addressesOf } from '../commits/commit-json.ts';
import { findRevision } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { describeObject } from '../outside/git/reading/objects.ts';
import { listTree, type TreeEntry } from '../outside/git/reading/trees.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { readPage } from '../rules/requests/paging.ts';

/** As `GET /settings/api` says. */
const PER_PAGE = { fallback: 1000, maximum: 1000 };

/** A tree on the wire. */
export const treeSchema = z.object({
  sha: z.string(),
  url: z.string(),
  tree: z.array(
    z.object({
      path: z.string(),
      mode: z.string(),
      type: z.string(),
      size: z.int(),
      sha: z.string(),
      url: z.string(),
    }),
  ),
  truncated: z.boolean(),
  page: z.int(),
  total_count: z.int(),
});

/** A page of a tree, which may be named by anything that leads to one. */
export async function showTree(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; sha: string },
  query: { recursive?: string | undefined; page?: string | undefined; per_page?: string | undefined },
): Promise<z.output<typeof treeSchema>> {
  const { git, links } = context;
  const found = await findRepository(context, viewer, path, 'code');
  const { id } = found.repository;
  const named = await findRevision(context, found, path.sha);
  const tree = named === undefined ? undefined : await describeObject(git, id, `${named}^{tree}`);
  if (tree === undefined) throw notFound('the tree does not exist');
  const page = readPage({ page: query.page, limit: query.per_page }, PER_PAGE);
  const recursive = /^(1|t|true)$/i.test(query.recursive ?? '');
  const listed = await listTree(git, id, tree.id, { recursive, ...page });
  if (listed === undefined) throw unacceptable('the tree cannot be read');
  const address = addressesOf(found, links);
  const urlOf = (entry: TreeEntry) =>
    ({ blob: address.blob, tree: address.tree, commit: () => '' })[entry.type](entry.id);
  return {
    sha: tree.id,
    url: address.tree(tree.id),
    tree: listed.entries.map((entry) => ({
      path: entry.path,
      mode: entry.mode,
      type: entry.type,
      size: entry.size,
      sha: entry.id,
      url: urlOf(entry),
    })),
    truncated: page.offset + listed.entries.length < listed.total,
    page: page.page,
    total_count: listed.total,
  };
}
