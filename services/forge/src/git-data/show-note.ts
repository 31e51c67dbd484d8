import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { commitSchema } from '../commits/commit-json.ts';
import { presentCommits, readParts } from '../commits/present-commits.ts';
import { resolveCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { describeObject } from '../outside/git/reading/objects.ts';
import { followRefs } from '../outside/git/reading/resolve.ts';
import { findEntry } from '../outside/git/reading/trees.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { readBlob } from './read-blob.ts';

const NOTES = 'refs/notes/commits';

/** A note on the wire, with the commit it is about. */
export const noteSchema = z.object({ message: z.string(), commit: commitSchema });

/** What people noted about a commit with `git notes`. */
export async function showNote(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; sha: string },
  query: { files?: string | undefined; verification?: string | undefined },
): Promise<z.output<typeof noteSchema>> {
  const found = await findRepository(context, viewer, path, 'code');
  const { id } = found.repository;
  const { commit } = await resolveCommit(context, found, path.sha);
  const blob = await findNote(context, id, commit);
  const content = blob && (await readBlob(context, id, blob));
  const [about] = await presentCommits(context, viewer, found, [commit], readParts(query));
  if (content === undefined || about === undefined) throw notFound('there is no note about the commit');
  return { message: content.toString(), commit: about };
}

/** The notes of many commits are in folders by the first digits of their ids. */
async function findNote({ git }: Context, repositoryId: number, commit: string): Promise<string | undefined> {
  const [notes] = await followRefs(git, repositoryId, [NOTES]);
  const tree = notes && (await describeObject(git, repositoryId, `${notes}^{tree}`));
  if (!tree) return undefined;
  for (let depth = 0; depth < 4; depth++) {
    const folders = Array.from({ length: depth }, (_, index) => commit.slice(index * 2, index * 2 + 2));
    const name = [...folders, commit.slice(depth * 2)].join('/');
    const entry = await findEntry(git, repositoryId, tree.id, name);
    if (entry?.type === 'blob') return entry.id;
  }
  return undefined;
}
