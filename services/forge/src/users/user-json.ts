import { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Links } from '../links.ts';
import type { UserRow } from '../store/people/users.ts';
import { timeSchema } from '../wire-schemas.ts';
import { NO_TIME, wireTime } from '../wire-time.ts';

/** An account on the wire. */
export const userSchema = z.object({
  id: z.int(),
  login: z.string(),
  login_name: z.string(),
  source_id: z.int(),
  full_name: z.string(),
  email: z.string(),
  avatar_url: z.string(),
  html_url: z.string(),
  language: z.string(),
  is_admin: z.boolean(),
  last_login: timeSchema,
  created: timeSchema,
  restricted: z.boolean(),
  active: z.boolean(),
  prohibit_login: z.boolean(),
  location: z.string(),
  website: z.string(),
  description: z.string(),
  visibility: z.string(),
  followers_count: z.int(),
  following_count: z.int(),
  starred_repos_count: z.int(),
  username: z.string(),
});

/** Some members are for the account's owner and site admins; the e-mail address is for people who are signed in. */
export function userJson(
  user: UserRow,
  viewer: Caller | undefined,
  links: Links,
): z.output<typeof userSchema> {
  const trusted = viewer !== undefined && (viewer.isAdmin || viewer.userId === user.id);
  return {
    id: user.id,
    login: user.login,
    login_name: '',
    source_id: 0,
    full_name: user.full_name,
    email: addressFor(user, viewer, trusted, links),
    avatar_url: links.avatar(user.id),
    html_url: links.user(user.login),
    language: '',
    is_admin: trusted && user.is_admin,
    last_login: NO_TIME,
    created: wireTime(user.created_at),
    restricted: false,
    active: trusted,
    prohibit_login: trusted && user.refused_at !== null,
    location: user.location,
    website: user.website,
    description: user.description,
    visibility: user.visibility,
    followers_count: user.followers,
    following_count: user.following,
    starred_repos_count: user.stars,
    username: user.login,
  };
}

/** The address that others get to see, and that stands in commits the forge makes for the user. */
export function publicAddress(user: UserRow, links: Links): string {
  return user.email === '' || user.hides_email ? hiddenAddress(user, links) : user.email;
}

function addressFor(user: UserRow, viewer: Caller | undefined, trusted: boolean, links: Links): string {
  // As in the reference: clients tell an organization by an address that is empty.
  if (user.kind === 'organization') return viewer === undefined ? '' : user.email;
  if (viewer === undefined) return hiddenAddress(user, links);
  return trusted && user.email !== '' ? user.email : publicAddress(user, links);
}

function hiddenAddress(user: UserRow, links: Links): string {
  return `${user.login}@noreply.${links.host}`;
}
