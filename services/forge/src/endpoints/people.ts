import * as about from '../about/routes.ts';
import * as accessTokens from '../access-tokens/routes.ts';
import * as follows from '../follows/routes.ts';
import * as members from '../members/routes.ts';
import * as oauth from '../oauth/application-routes.ts';
import * as organizations from '../organizations/routes.ts';
import * as siteAdmin from '../site-admin/routes.ts';
import * as stars from '../stars/routes.ts';
import * as teamContents from '../teams/content-routes.ts';
import * as teams from '../teams/routes.ts';
import * as keys from '../users/key-routes.ts';
import * as users from '../users/routes.ts';
import * as watches from '../watches/routes.ts';
import type { Line } from './index.ts';

/** Accounts, organizations, teams, tokens, and what the server says of itself. */
export const PEOPLE: readonly Line[] = [
  ['GET', '/version', about.version],
  ['GET', '/signing-key.pub', about.signingKey],
  ['GET', '/repos/:owner/:repo/signing-key.pub', about.signingKeyOfRepository],
  ['GET', '/nodeinfo', about.nodeInfo],
  ['GET', '/settings/api', about.apiSettings],
  ['GET', '/settings/attachment', about.attachmentSettings],
  ['GET', '/settings/repository', about.repositorySettings],
  ['GET', '/settings/ui', about.uiSettings],

  ['GET', '/user', users.caller],
  ['GET', '/user/emails', users.emails],
  ['GET', '/user/settings', users.settings],
  ['PATCH', '/user/settings', users.editSettings],
  ['GET', '/user/keys', keys.own],
  ['GET', '/user/gpg_keys', keys.ownGpg],
  ['GET', '/users/search', users.search],
  ['GET', '/users/:username', users.show],
  ['GET', '/users/:username/keys', keys.ofUser],
  ['GET', '/users/:username/gpg_keys', keys.gpgOfUser],
  ['GET', '/user/followers', follows.ownFollowers],
  ['GET', '/user/following', follows.ownFollowing],
  ['GET', '/user/following/:username', follows.check],
  ['PUT', '/user/following/:username', follows.follow],
  ['DELETE', '/user/following/:username', follows.unfollow],
  ['GET', '/users/:username/followers', follows.followersOf],
  ['GET', '/users/:username/following', follows.followingOf],
  ['GET', '/users/:username/following/:target', follows.checkOfPerson],
  ['GET', '/users/:username/tokens', accessTokens.list],
  ['POST', '/users/:username/tokens', accessTokens.create],
  ['DELETE', '/users/:username/tokens/:token', accessTokens.remove],
  ['GET', '/user/applications/oauth2', oauth.list],
  ['POST', '/user/applications/oauth2', oauth.create],
  ['GET', '/user/applications/oauth2/:id', oauth.show],
  ['PATCH', '/user/applications/oauth2/:id', oauth.edit],
  ['DELETE', '/user/applications/oauth2/:id', oauth.remove],
  ['GET', '/user/applications/grants', oauth.listGrants],
  ['DELETE', '/user/applications/grants/:id', oauth.removeGrant],

  ['GET', '/orgs', organizations.list],
  ['POST', '/orgs', organizations.create],
  ['GET', '/user/orgs', organizations.listOwn],
  ['GET', '/users/:username/orgs', organizations.listOfUser],
  ['GET', '/users/:username/orgs/:org/permissions', organizations.permissions],
  ['GET', '/orgs/:org', organizations.show],
  ['PATCH', '/orgs/:org', organizations.edit],
  ['DELETE', '/orgs/:org', organizations.remove],
  ['POST', '/orgs/:org/rename', organizations.rename],
  ['GET', '/orgs/:org/members', members.list],
  ['GET', '/orgs/:org/members/:username', members.check],
  ['DELETE', '/orgs/:org/members/:username', members.remove],
  ['GET', '/orgs/:org/public_members', members.listPublic],
  ['GET', '/orgs/:org/public_members/:username', members.checkPublic],
  ['PUT', '/orgs/:org/public_members/:username', members.show],
  ['DELETE', '/orgs/:org/public_members/:username', members.hide],

  ['GET', '/orgs/:org/teams', teams.list],
  ['POST', '/orgs/:org/teams', teams.create],
  ['GET', '/orgs/:org/teams/search', teams.search],
  ['GET', '/user/teams', teams.listOwn],
  ['GET', '/teams/:id', teams.show],
  ['PATCH', '/teams/:id', teams.edit],
  ['DELETE', '/teams/:id', teams.remove],
  ['GET', '/teams/:id/members', teamContents.members],
  ['GET', '/teams/:id/members/:username', teamContents.member],
  ['PUT', '/teams/:id/members/:username', teamContents.addMember],
  ['DELETE', '/teams/:id/members/:username', teamContents.removeMember],
  ['GET', '/teams/:id/repos', teamContents.repositories],
  ['GET', '/teams/:id/repos/:org/:repo', teamContents.repository],
  ['PUT', '/teams/:id/repos/:org/:repo', teamContents.addRepository],
  ['DELETE', '/teams/:id/repos/:org/:repo', teamContents.removeRepository],

  ['GET', '/admin/users', siteAdmin.users],
  ['DELETE', '/admin/users/:username', siteAdmin.removeUser],
  ['POST', '/admin/users/:username/rename', siteAdmin.renameUser],
  ['POST', '/admin/users/:username/orgs', siteAdmin.createOrganizationFor],
  ['GET', '/admin/orgs', siteAdmin.organizations],

  ['GET', '/user/starred', stars.listOwn],
  ['GET', '/user/starred/:owner/:repo', stars.check],
  ['PUT', '/user/starred/:owner/:repo', stars.add],
  ['DELETE', '/user/starred/:owner/:repo', stars.remove],
  ['GET', '/users/:username/starred', stars.listOfUser],
  ['GET', '/repos/:owner/:repo/stargazers', stars.stargazers],

  ['GET', '/repos/:owner/:repo/subscription', watches.show],
  ['PUT', '/repos/:owner/:repo/subscription', watches.add],
  ['DELETE', '/repos/:owner/:repo/subscription', watches.remove],
  ['GET', '/repos/:owner/:repo/subscribers', watches.watchers],
  ['GET', '/user/subscriptions', watches.listOwn],
  ['GET', '/users/:username/subscriptions', watches.listOfUser],
];
