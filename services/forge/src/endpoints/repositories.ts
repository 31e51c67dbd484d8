import * as collaborators from '../collaborators/routes.ts';
import * as repositoryTeams from '../collaborators/team-routes.ts';
import * as forks from '../forks/routes.ts';
import * as generating from '../generating/routes.ts';
import * as protections from '../protections/routes.ts';
import * as tagProtections from '../protections/tag-routes.ts';
import * as lists from '../repositories/list-routes.ts';
import * as repositories from '../repositories/routes.ts';
import * as starters from '../starters/routes.ts';
import * as topics from '../topics/routes.ts';
import * as transfers from '../transfers/routes.ts';
import type { Line } from './index.ts';

/** Repositories, who may do what with them, and how they are found. */
export const REPOSITORIES: readonly Line[] = [
  ['GET', '/licenses', starters.licences],
  ['GET', '/licenses/:name', starters.licence],
  ['GET', '/gitignore/templates', starters.gitignores],
  ['GET', '/gitignore/templates/:name', starters.gitignore],
  ['GET', '/label/templates', starters.labelSets],
  ['GET', '/label/templates/:name', starters.labelSet],

  ['GET', '/user/repos', lists.listOwn],
  ['POST', '/user/repos', repositories.create],
  ['GET', '/users/:username/repos', lists.listOfUser],
  ['GET', '/orgs/:org/repos', lists.listOfOrganization],
  ['POST', '/orgs/:org/repos', repositories.createInOrganization],
  ['POST', '/org/:org/repos', repositories.createInOrganization],
  ['POST', '/admin/users/:username/repos', repositories.createForUser],
  ['GET', '/repos/search', lists.search],
  ['GET', '/topics/search', topics.search],
  ['GET', '/repositories/:id', repositories.showById],

  ['GET', '/repos/:owner/:repo', repositories.show],
  ['PATCH', '/repos/:owner/:repo', repositories.edit],
  ['DELETE', '/repos/:owner/:repo', repositories.remove],
  ['POST', '/repos/:owner/:repo/transfer', transfers.create],
  ['POST', '/repos/:owner/:repo/transfer/accept', transfers.accept],
  ['POST', '/repos/:owner/:repo/transfer/reject', transfers.reject],
  ['GET', '/repos/:owner/:repo/forks', forks.list],
  ['POST', '/repos/:owner/:repo/forks', forks.create],
  ['POST', '/repos/:owner/:repo/merge-upstream', forks.mergeParent],
  ['POST', '/repos/:owner/:repo/generate', generating.create],
  ['GET', '/repos/:owner/:repo/topics', topics.list],
  ['PUT', '/repos/:owner/:repo/topics', topics.replace],
  ['PUT', '/repos/:owner/:repo/topics/:topic', topics.add],
  ['DELETE', '/repos/:owner/:repo/topics/:topic', topics.remove],

  ['GET', '/repos/:owner/:repo/collaborators', collaborators.list],
  ['GET', '/repos/:owner/:repo/collaborators/:collaborator', collaborators.check],
  ['PUT', '/repos/:owner/:repo/collaborators/:collaborator', collaborators.put],
  ['DELETE', '/repos/:owner/:repo/collaborators/:collaborator', collaborators.remove],
  ['GET', '/repos/:owner/:repo/collaborators/:collaborator/permission', collaborators.permission],
  ['GET', '/repos/:owner/:repo/assignees', collaborators.assignees],
  ['GET', '/repos/:owner/:repo/assignees/:assignee', collaborators.assignee],
  ['GET', '/repos/:owner/:repo/reviewers', collaborators.reviewers],
  ['GET', '/repos/:owner/:repo/teams', repositoryTeams.list],
  ['GET', '/repos/:owner/:repo/teams/:team', repositoryTeams.check],
  ['PUT', '/repos/:owner/:repo/teams/:team', repositoryTeams.add],
  ['DELETE', '/repos/:owner/:repo/teams/:team', repositoryTeams.remove],

  ['GET', '/repos/:owner/:repo/branch_protections', protections.list],
  ['POST', '/repos/:owner/:repo/branch_protections', protections.create],
  ['POST', '/repos/:owner/:repo/branch_protections/priority', protections.reorder],
  ['GET', '/repos/:owner/:repo/branch_protections/*', protections.show],
  ['PATCH', '/repos/:owner/:repo/branch_protections/*', protections.edit],
  ['DELETE', '/repos/:owner/:repo/branch_protections/*', protections.remove],

  ['GET', '/repos/:owner/:repo/tag_protections', tagProtections.list],
  ['POST', '/repos/:owner/:repo/tag_protections', tagProtections.create],
  ['GET', '/repos/:owner/:repo/tag_protections/:id', tagProtections.show],
  ['PATCH', '/repos/:owner/:repo/tag_protections/:id', tagProtections.edit],
  ['DELETE', '/repos/:owner/:repo/tag_protections/:id', tagProtections.remove],
];
