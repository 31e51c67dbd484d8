import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { addressesOf, inPath } from '../commits/commit-json.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { ListPage } from '../list-answer.ts';
import { type ListedRef, listRefs } from '../outside/git/reading/list-refs.ts';
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
 * Refs whose names begin with `heads`, `heads/feature` or `heads/fe`, as the reference has it, the one of exactly this name
 * first; all of them without a beginning.
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
  const prefix = path.prefix.replace(/^refs(\/|$)/, '');
  // git is asked for a folder, so that it need not look at the others.
  const folder = prefix.split('/').slice(0, -1);
  const isWanted = ({ ref }: ListedRef) => SHOWN.test(ref) && ref.startsWith(`refs/${prefix}`);
  const { refs, total } =
    folder.length === 0 || isBranchName(folder.join('/'))
      ? await listRefs(git, found.repository.id, ['refs', ...folder].join('/'), page, isWanted)
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
