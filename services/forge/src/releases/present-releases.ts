import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { loadPeople } from '../issues/load-people.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { ReleaseRow } from '../store/repositories/releases.ts';
import * as attachments from '../store/tracking/attachments.ts';
import type { VisibleRelease } from './find-release.ts';
import { releaseJson, type releaseSchema } from './release-json.ts';

/** Releases as their viewer gets them: two statements, however many there are. */
export async function presentReleases(
  context: Context,
  viewer: Caller | undefined,
  found: VisibleRepository,
  rows: readonly ReleaseRow[],
): Promise<z.output<typeof releaseSchema>[]> {
  const ids = rows.map(({ id }) => id);
  const [people, files] = await Promise.all([
    loadPeople(
      context,
      rows.map((row) => row.author_id),
      [found.owner],
    ),
    ids.length === 0 ? undefined : attachments.mapByReleases(context.database.autocommit(), ids),
  ]);
  return rows.map((row) => {
    const around = { found, author: people.byId(row.author_id), files: files?.get(row.id) ?? [] };
    return releaseJson(row, around, viewer, context.links);
  });
}

/** A single one. */
export async function presentRelease(
  context: Context,
  viewer: Caller | undefined,
  { release, ...found }: VisibleRelease,
): Promise<z.output<typeof releaseSchema>> {
  const [json] = await presentReleases(context, viewer, found, [release]);
  if (json === undefined) throw new Error('a release was not presented');
  return json;
}
