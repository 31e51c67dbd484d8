import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as teams from '../store/people/teams.ts';
import { userJson } from '../users/user-json.ts';

/** Groups that are told; whoever is in more is told of those he joined first. */
const MOST_GROUPS = 1_000;

/** Who somebody is, by the names of OpenID Connect (Core §5.1). Groups are organizations, and `organization:team`, as in the reference. */
export async function readProfile(context: Context, caller: Caller): Promise<Record<string, unknown>> {
  const { email, full_name: fullName, login } = userJson(caller.user, caller, context.links);
  const page = { limit: MOST_GROUPS, offset: 0 };
  const found = await teams.listOfMember(context.database.autocommit(), viewerOf(caller), page);
  const groups = found.teams.flatMap(({ name_key: name, visibility, organization: { login: of } }) =>
    caller.publicOnly && visibility !== 'public' ? [of] : [of, `${of}:${name}`],
  );
  return {
    sub: String(caller.userId),
    name: fullName || login,
    preferred_username: login,
    email,
    picture: context.links.avatar(caller.userId),
    groups: [...new Set(groups)],
  };
}
