import { z } from 'zod';
import type { Context } from '../context.ts';
import * as users from '../store/people/users.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import type { TagProtectionRow } from '../store/repositories/tag-protections.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A protection of tags on the wire. */
export const tagProtectionSchema = z.object({
  id: z.int(),
  name_pattern: z.string().describe('a glob, or a regular expression between slashes'),
  whitelist_usernames: z.array(z.string()),
  whitelist_teams: z.array(z.string()),
  created_at: timeSchema,
  updated_at: timeSchema,
});

/** Protections of a repository with the names of whom they list; whoever is gone has none and is left out. Two statements, however many. */
export async function presentTagProtections(
  { database }: Context,
  rows: readonly TagProtectionRow[],
): Promise<z.output<typeof tagProtectionSchema>[]> {
  const tx = database.autocommit();
  const [people, teams] = await Promise.all([
    users.mapByIds(tx, [...new Set(rows.flatMap((row) => row.user_ids))]),
    branchProtections.listTeamNames(tx, rows[0]?.repository_id ?? 0, [
      ...new Set(rows.flatMap((row) => row.team_ids)),
    ]),
  ]);
  const teamNames = new Map(teams.map(({ id, name }) => [id, name]));
  return rows.map((row) => ({
    id: row.id,
    name_pattern: row.name_pattern,
    whitelist_usernames: row.user_ids.flatMap((id) => people.get(id)?.login ?? []),
    whitelist_teams: row.team_ids.flatMap((id) => teamNames.get(id) ?? []),
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
  }));
}
