import type { z } from 'zod';
import type { Context } from '../context.ts';
import * as users from '../store/people/users.ts';
import type { BranchProtectionRow } from '../store/repositories/branch-protections.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import { PEOPLE, protectionJson, type protectionSchema, TEAMS } from './protection-json.ts';

/** Protections of a repository with the names of whom they list: two statements, however many there are. */
export async function presentProtections(
  { database }: Context,
  rows: readonly BranchProtectionRow[],
): Promise<z.output<typeof protectionSchema>[]> {
  const tx = database.autocommit();
  const listed = (keys: readonly ((typeof PEOPLE)[number] | (typeof TEAMS)[number])[]) => [
    ...new Set(rows.flatMap(({ options }) => keys.flatMap((key) => options[key] ?? []))),
  ];
  const [people, teams] = await Promise.all([
    users.mapByIds(tx, listed(PEOPLE)),
    branchProtections.listTeamNames(tx, rows[0]?.repository_id ?? 0, listed(TEAMS)),
  ]);
  const names = {
    people: new Map([...people].map(([id, { login }]) => [id, login])),
    teams: new Map(teams.map(({ id, name }) => [id, name])),
  };
  return rows.map((row) => protectionJson(row, names));
}
