import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import * as users from '../store/people/users.ts';
import type { CommitStatusRow } from '../store/repositories/commit-statuses.ts';
import { statusJson, type statusSchema } from './status-json.ts';

/** Statuses of a repository as their viewer gets them: one statement for all. */
export async function presentStatuses(
  { database, links }: Context,
  viewer: Caller | undefined,
  found: VisibleRepository,
  rows: readonly CommitStatusRow[],
): Promise<z.output<typeof statusSchema>[]> {
  const ids = rows.flatMap(({ creator_id: id }) => (id === null ? [] : [id]));
  const creators = await users.mapByIds(database.autocommit(), [...new Set(ids)]);
  return rows.map((row) => {
    const creator = (row.creator_id !== null && creators.get(row.creator_id)) || users.GHOST;
    return statusJson(row, { found, creator }, viewer, links);
  });
}
