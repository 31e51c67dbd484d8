import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { listRefs } from '../outside/git/reading/list-refs.ts';
import { branchRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { presentBranches } from './present-branches.ts';

/** A page of the branches in the order of the alphabet; with `q`, those with the text in their name. */
export async function listBranches(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
  query: { page?: string | undefined; limit?: string | undefined; q?: string | undefined },
): Promise<ListPage> {
  const found = await findRepository(context, viewer, path, 'code');
  const page = pageOf(context, query);
  const folder = branchRef('');
  const keyword = query.q?.trim().toLowerCase() ?? '';
  const wanted = { ...page, areBranches: true };
  const { refs, total } = await listRefs(context.git, found.repository.id, folder, wanted, ({ ref }) =>
    ref.slice(folder.length).toLowerCase().includes(keyword),
  );
  const branches = refs.map(({ ref, id }) => ({ name: ref.slice(folder.length), commit: id }));
  return { page, total, items: await presentBranches(context, viewer, found, branches) };
}
