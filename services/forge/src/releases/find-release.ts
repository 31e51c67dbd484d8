import { findWritable } from '../branches/find-writable.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findRepository, mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as releases from '../store/repositories/releases.ts';

/** What a path says of a release: its id, or its tag. */
export type ReleasePath = { owner: string; repo: string } & ({ release: string } | { tag: string });

/** A release the caller may see. */
export interface VisibleRelease extends VisibleRepository {
  release: releases.ReleaseRow;
}

/**
 * A repository whose releases the caller may see.
 * @throws 404, also where they are switched off
 */
export async function findWithReleases(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<VisibleRepository> {
  return whereOn(await findRepository(context, viewer, path, 'code'));
}

/**
 * The same for whoever is going to change them.
 * @throws 403, 404, 423
 */
export async function findWithReleasesToWrite(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
): Promise<VisibleRepository> {
  return whereOn(await findWritable(context, caller, path));
}

/** @throws 404 */
function whereOn(found: VisibleRepository): VisibleRepository {
  if (!found.repository.has_releases) throw notFound();
  return found;
}

/**
 * The release a path names.
 * @throws 404, for drafts also to whoever may not write to the code
 */
export async function findRelease(
  context: Context,
  caller: Caller | undefined,
  path: ReleasePath,
): Promise<VisibleRelease> {
  return await findIn(context, await findWithReleases(context, caller, path), path);
}

/**
 * The same for whoever is going to change it.
 * @throws 404, 403, 423
 */
export async function findReleaseToWrite(
  context: Context,
  caller: Caller,
  path: ReleasePath,
): Promise<VisibleRelease> {
  return await findIn(context, await findWithReleasesToWrite(context, caller, path), path);
}

async function findIn(
  { database }: Context,
  found: VisibleRepository,
  path: ReleasePath,
): Promise<VisibleRelease> {
  const tx = database.autocommit();
  const { id } = found.repository;
  const release =
    'release' in path
      ? await releases.findById(tx, id, readId(path.release))
      : isBranchName(path.tag)
        ? await releases.findByTag(tx, id, path.tag)
        : undefined;
  if (release === undefined || !maySee(found, release)) throw notFound();
  return { ...found, release };
}

/** The newest release that is neither draft nor announced as not ready yet. */
export async function findLatest(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<VisibleRelease> {
  return await latestIn(context, await findWithReleases(context, viewer, path));
}

/** The release of a tag; where none is called `latest`, that is the newest. */
export async function findTaggedOrLatest(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string; tag: string },
): Promise<VisibleRelease> {
  const found = await findWithReleases(context, viewer, path);
  const tx = context.database.autocommit();
  const isLatest =
    path.tag === 'latest' && (await releases.findByTag(tx, found.repository.id, path.tag)) === undefined;
  return await (isLatest ? latestIn(context, found) : findIn(context, found, path));
}

async function latestIn({ database }: Context, found: VisibleRepository): Promise<VisibleRelease> {
  const release = await releases.findLatest(database.autocommit(), found.repository.id);
  if (release === undefined) throw notFound();
  return { ...found, release };
}

/** Whether somebody who may read the code may see a release: drafts are for those who write, and what is off for nobody. */
export const maySee = (found: VisibleRepository, release: Pick<releases.ReleaseRow, 'published_at'>) =>
  found.repository.has_releases && (release.published_at !== null || mayWrite(found, 'code'));
