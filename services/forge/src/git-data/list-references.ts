import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { addressesOf, inPath } from '../commits/commit-json.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { ListPage } from '../list-answer.ts';
import { listRefs } from '../outside/git/reading/list-refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { readPage } from '../rules/requests/paging.ts';

/** Everything at once, as the reference answers, as far as that is sensible. */
const PAGE = { fallback: 10_000, maximum: 10_000 };
/** What clients may push or fetch. */
const SHOWN = /^refs\/(heads|tags|notes|pull)\//;

/** A ref on the wire. */
export const referenceSchema = z.object({
  ref: z.string(),
  url: z.string(),
  object: z.object({ type: z.string(), sha: z.string(), url: z.string() }),
});

/**
 * Refs below a folder such as `heads` or `heads/feature`, or the one with exactly this name; all of them without one.
 * @throws 404 when there is none
 */
export async function listReferences(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; prefix: string },
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const { git, links } = context;
  const found = await findRepository(context, viewer, path, 'code');
  const page = readPage(query, PAGE);
  const prefix = path.prefix.replace(/^refs(\/|$)/, '').replace(/\/$/, '');
  const exists = prefix === '' || isBranchName(prefix);
  const { refs, total } = exists
    ? await listRefs(git, found.repository.id, `refs/${prefix}`, page, ({ ref }) => SHOWN.test(ref))
    : { refs: [], total: 0 };
  if (total === 0 && prefix !== '') throw notFound('the reference does not exist');
  const address = addressesOf(found, links);
  const items: z.output<typeof referenceSchema>[] = refs.map(({ ref, id, type }) => ({
    ref,
    url: address.api(`git/${inPath(ref)}`),
    object: { type, sha: id, url: address.api(`git/${type}s/${id}`) },
  }));
  return { page, total, items };
}
