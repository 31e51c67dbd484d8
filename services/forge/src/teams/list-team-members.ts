import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import * as teamMembers from '../store/people/team-members.ts';
import { userJson, type userSchema } from '../users/user-json.ts';
import { findTeam } from './find-team.ts';

/** A page of a team's members. */
export async function listTeamMembers(
  context: Context,
  caller: Caller,
  id: string,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const { team } = await findTeam(context, caller, id);
  const page = pageOf(context, query);
  const { total, users } = await teamMembers.list(context.database.autocommit(), team.id, page);
  return { page, total, items: users.map((user) => userJson(user, caller, context.links)) };
}

/**
 * A member of a team.
 * @throws 404 when he is none
 */
export async function showTeamMember(
  context: Context,
  caller: Caller,
  path: { id: string; username: string },
): Promise<z.output<typeof userSchema>> {
  const { team } = await findTeam(context, caller, path.id);
  const member = await teamMembers.find(context.database.autocommit(), team.id, path.username);
  if (member === undefined) throw notFound();
  return userJson(member, caller, context.links);
}
