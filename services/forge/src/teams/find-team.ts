import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { OWNERS_LEVEL } from '../rules/access/team-access.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as teams from '../store/people/teams.ts';
import type { UserRow } from '../store/people/users.ts';

/** A team that the caller may know of, of an organization he is in. */
export interface VisibleTeam {
  team: teams.TeamRow;
  organization: UserRow;
  isOwner: boolean;
}

/**
 * The team with an id, for its members and the owners of its organization.
 * @throws 404 for whoever is not in the organization, and of a private team for its other members; else 403 for those
 */
export async function findTeam(context: Context, caller: Caller, id: string): Promise<VisibleTeam> {
  const viewer = viewerOf(caller);
  const row = await teams.findVisible(context.database.autocommit(), readId(id), viewer);
  if (row === undefined) throw notFound();
  const { organization, role, in_team: isInTeam, ...team } = row;
  const isOwner = viewer.seesAll || (role ?? 0) >= OWNERS_LEVEL;
  if (!isOwner && !isInTeam) throw forbidden('Must be a team member');
  return { team, organization, isOwner };
}
