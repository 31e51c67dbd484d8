import { keyed } from '../answer-once.ts';
import * as attachments from '../attachments/routes.ts';
import * as comments from '../comments/routes.ts';
import { tagged } from '../entity-tags.ts';
import { findIssue } from '../issues/find-issue.ts';
import * as locks from '../locks/routes.ts';
import * as pins from '../pins/routes.ts';
import * as reactions from '../reactions/routes.ts';
import * as subscriptions from '../subscriptions/routes.ts';
import * as templates from '../templates/routes.ts';
import * as tracking from '../tracking/routes.ts';
import type { Line } from './index.ts';

/** What people say and do around issues and pull requests. */
export const AROUND_ISSUES: readonly Line[] = [
  ['GET', '/repos/:owner/:repo/issues/comments', comments.listAll],
  ['GET', '/repos/:owner/:repo/issues/comments/:id', comments.show],
  ['PATCH', '/repos/:owner/:repo/issues/comments/:id', comments.edit],
  ['DELETE', '/repos/:owner/:repo/issues/comments/:id', comments.remove],
  ['GET', '/repos/:owner/:repo/issues/:index/comments', tagged(comments.list)],
  ['POST', '/repos/:owner/:repo/issues/:index/comments', keyed(comments.create, findIssue)],
  // The paths of old clients; the number says nothing the id does not.
  ['PATCH', '/repos/:owner/:repo/issues/:index/comments/:id', comments.edit],
  ['DELETE', '/repos/:owner/:repo/issues/:index/comments/:id', comments.remove],
  ['GET', '/repos/:owner/:repo/issues/:index/timeline', comments.timeline],

  ['GET', '/repos/:owner/:repo/issues/:index/reactions', reactions.toIssues.list],
  ['POST', '/repos/:owner/:repo/issues/:index/reactions', reactions.toIssues.add],
  ['DELETE', '/repos/:owner/:repo/issues/:index/reactions', reactions.toIssues.remove],
  ['GET', '/repos/:owner/:repo/issues/comments/:id/reactions', reactions.toComments.list],
  ['POST', '/repos/:owner/:repo/issues/comments/:id/reactions', reactions.toComments.add],
  ['DELETE', '/repos/:owner/:repo/issues/comments/:id/reactions', reactions.toComments.remove],

  ['PUT', '/repos/:owner/:repo/issues/:index/lock', locks.lock],
  ['DELETE', '/repos/:owner/:repo/issues/:index/lock', locks.unlock],
  ['GET', '/repos/:owner/:repo/issues/pinned', pins.issues],
  ['GET', '/repos/:owner/:repo/pulls/pinned', pins.pulls],
  ['GET', '/repos/:owner/:repo/new_pin_allowed', pins.room],
  ['POST', '/repos/:owner/:repo/issues/:index/pin', pins.pin],
  ['DELETE', '/repos/:owner/:repo/issues/:index/pin', pins.unpin],
  ['PATCH', '/repos/:owner/:repo/issues/:index/pin/:position', pins.move],

  ['GET', '/repos/:owner/:repo/issues/:index/subscriptions', subscriptions.list],
  ['GET', '/repos/:owner/:repo/issues/:index/subscriptions/check', subscriptions.check],
  ['PUT', '/repos/:owner/:repo/issues/:index/subscriptions/:user', subscriptions.subscribe],
  ['DELETE', '/repos/:owner/:repo/issues/:index/subscriptions/:user', subscriptions.unsubscribe],

  ['GET', '/repos/:owner/:repo/issues/:index/times', tracking.list],
  ['POST', '/repos/:owner/:repo/issues/:index/times', tracking.add],
  ['DELETE', '/repos/:owner/:repo/issues/:index/times', tracking.reset],
  ['DELETE', '/repos/:owner/:repo/issues/:index/times/:id', tracking.remove],
  ['POST', '/repos/:owner/:repo/issues/:index/stopwatch/start', tracking.start],
  ['POST', '/repos/:owner/:repo/issues/:index/stopwatch/stop', tracking.stop],
  ['DELETE', '/repos/:owner/:repo/issues/:index/stopwatch/delete', tracking.cancel],
  ['GET', '/repos/:owner/:repo/times', tracking.listInRepository],
  ['GET', '/repos/:owner/:repo/times/:user', tracking.listOfUser],
  ['GET', '/user/times', tracking.listOwn],
  ['GET', '/user/stopwatches', tracking.ownStopwatches],

  // Sending them is in attachments/upload-routes.ts: forms are no JSON.
  ['GET', '/repos/:owner/:repo/issues/:index/assets', attachments.ofIssues.list],
  ['GET', '/repos/:owner/:repo/issues/:index/assets/:attachment', attachments.ofIssues.show],
  ['PATCH', '/repos/:owner/:repo/issues/:index/assets/:attachment', attachments.ofIssues.edit],
  ['DELETE', '/repos/:owner/:repo/issues/:index/assets/:attachment', attachments.ofIssues.remove],
  ['GET', '/repos/:owner/:repo/issues/comments/:id/assets', attachments.ofComments.list],
  ['GET', '/repos/:owner/:repo/issues/comments/:id/assets/:attachment', attachments.ofComments.show],
  ['PATCH', '/repos/:owner/:repo/issues/comments/:id/assets/:attachment', attachments.ofComments.edit],
  ['DELETE', '/repos/:owner/:repo/issues/comments/:id/assets/:attachment', attachments.ofComments.remove],

  ['GET', '/repos/:owner/:repo/issue_templates', templates.list],
  ['GET', '/repos/:owner/:repo/issue_config', templates.config],
  ['GET', '/repos/:owner/:repo/issue_config/validate', templates.validate],
];
