import { keyed, whoReads } from '../answer-once.ts';
import * as dependencies from '../dependencies/routes.ts';
import { tagged } from '../entity-tags.ts';
import * as issues from '../issues/routes.ts';
import * as labels from '../labels/routes.ts';
import * as milestones from '../milestones/routes.ts';
import type { Line } from './index.ts';

/** Issues, what they are sorted by, and what they wait for. */
export const ISSUES: readonly Line[] = [
  ['GET', '/repos/issues/search', tagged(issues.search)],
  ['GET', '/repos/:owner/:repo/issues', tagged(issues.list)],
  ['POST', '/repos/:owner/:repo/issues', keyed(issues.create, whoReads('issues'))],
  ['GET', '/repos/:owner/:repo/issues/:index', tagged(issues.show)],
  ['PATCH', '/repos/:owner/:repo/issues/:index', issues.edit],
  ['DELETE', '/repos/:owner/:repo/issues/:index', issues.remove],
  ['POST', '/repos/:owner/:repo/issues/:index/deadline', issues.deadline],
  ['POST', '/repos/:owner/:repo/issues/:index/assignees', issues.addAssignees],
  ['DELETE', '/repos/:owner/:repo/issues/:index/assignees', issues.removeAssignees],
  ['GET', '/repos/:owner/:repo/issues/:index/assignees/:assignee', issues.assignable],

  ['GET', '/repos/:owner/:repo/issues/:index/labels', labels.listOfIssue],
  ['POST', '/repos/:owner/:repo/issues/:index/labels', labels.addToIssue],
  ['PUT', '/repos/:owner/:repo/issues/:index/labels', labels.replaceOfIssue],
  ['DELETE', '/repos/:owner/:repo/issues/:index/labels', labels.clearOfIssue],
  ['DELETE', '/repos/:owner/:repo/issues/:index/labels/:id', labels.removeFromIssue],

  ['GET', '/repos/:owner/:repo/issues/:index/dependencies', dependencies.listDependenciesOf],
  ['POST', '/repos/:owner/:repo/issues/:index/dependencies', dependencies.addDependency],
  ['DELETE', '/repos/:owner/:repo/issues/:index/dependencies', dependencies.removeDependency],
  ['GET', '/repos/:owner/:repo/issues/:index/blocks', dependencies.listBlocksOf],
  ['POST', '/repos/:owner/:repo/issues/:index/blocks', dependencies.addBlock],
  ['DELETE', '/repos/:owner/:repo/issues/:index/blocks', dependencies.removeBlock],

  ['GET', '/repos/:owner/:repo/labels', labels.ofRepository.list],
  ['POST', '/repos/:owner/:repo/labels', labels.ofRepository.create],
  ['GET', '/repos/:owner/:repo/labels/:id', labels.ofRepository.show],
  ['PATCH', '/repos/:owner/:repo/labels/:id', labels.ofRepository.edit],
  ['DELETE', '/repos/:owner/:repo/labels/:id', labels.ofRepository.remove],
  ['GET', '/orgs/:org/labels', labels.ofOrganization.list],
  ['POST', '/orgs/:org/labels', labels.ofOrganization.create],
  ['GET', '/orgs/:org/labels/:id', labels.ofOrganization.show],
  ['PATCH', '/orgs/:org/labels/:id', labels.ofOrganization.edit],
  ['DELETE', '/orgs/:org/labels/:id', labels.ofOrganization.remove],

  ['GET', '/repos/:owner/:repo/milestones', milestones.list],
  ['POST', '/repos/:owner/:repo/milestones', milestones.create],
  ['GET', '/repos/:owner/:repo/milestones/:id', milestones.show],
  ['PATCH', '/repos/:owner/:repo/milestones/:id', milestones.edit],
  ['DELETE', '/repos/:owner/:repo/milestones/:id', milestones.remove],
];
