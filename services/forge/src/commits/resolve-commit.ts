import type { Failure } from '@croft/failure';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { describeObject } from '../outside/git/reading/objects.ts';
import { followRefs, isReached } from '../outside/git/reading/resolve.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { guessRevision, isWholeId, readObjectId } from '../rules/git/revision.ts';

/** A query parameter that names something in git; NUL stays in it, so that it names nothing. */
export const revisionParameter = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (Array.isArray(value) ? value[0] : value))
  .optional();

/** A commit, and what led to it. */
export interface ResolvedCommit {
  commit: string;
  kind: 'branch' | 'tag' | 'commit';
  /** The branch or tag, or the id in full. */
  name: string;
}

/**
 * The commit that a branch, a tag, a full ref, an id or the beginning of one that a ref leads to names; without any,
 * the default branch's.
 * @throws 404
 */
export async function resolveCommit(
  context: Context,
  found: VisibleRepository,
  name: string | undefined,
): Promise<ResolvedCommit> {
  const resolved = await findCommit(context, found, name);
  if (resolved === undefined) throw missingRevision(found, name);
  return resolved;
}

/** What is answered for a name that leads nowhere. */
export function missingRevision({ repository }: VisibleRepository, name: string | undefined): Failure {
  return notFound(`${(name || repository.default_branch).slice(0, 100)} does not exist`);
}

/**
 * The same for what may as well be a tree, or a tag of one: an id of some object, to be followed further.
 */
export async function findRevision(
  context: Context,
  found: VisibleRepository,
  name: string,
): Promise<string | undefined> {
  const resolved = await findCommit(context, found, name);
  if (resolved !== undefined) return resolved.commit;
  const id = readObjectId(name);
  return id && (await describeObject(context.git, found.repository.id, `${id}^{tree}`))?.id;
}

/** The same, undefined when there is none. */
export async function findCommit(
  { git }: Context,
  { repository }: VisibleRepository,
  name: string | undefined,
): Promise<ResolvedCommit | undefined> {
  const { refs, id } = guessRevision(name ?? '');
  if (!name || name === 'HEAD') {
    const branch = repository.default_branch;
    refs.push({ ref: `refs/heads/${branch}`, kind: 'branch', name: branch });
  }
  const commits = await followRefs(
    git,
    repository.id,
    refs.map(({ ref }) => ref),
  );
  for (const [index, { kind, name: known }] of refs.entries()) {
    const commit = commits[index];
    if (commit !== undefined) return { commit, kind, name: kind === 'commit' ? commit : known };
  }
  if (id === undefined) return undefined;
  const info = await describeObject(git, repository.id, `${id}^{commit}`);
  // Who tries beginnings through finds nothing that was removed, not even by the time it takes to be told so.
  if (!isWholeId(id) && !(await isReached(git, repository.id, info?.id ?? 'HEAD'))) return undefined;
  return info && { commit: info.id, kind: 'commit', name: info.id };
}
