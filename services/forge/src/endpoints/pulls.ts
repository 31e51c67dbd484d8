import { keyed, whoReads } from '../answer-once.ts';
import { tagged } from '../entity-tags.ts';
import * as mergeQueue from '../merge-queue/routes.ts';
import * as reading from '../pulls/reading-routes.ts';
import * as pulls from '../pulls/routes.ts';
import * as reviews from '../reviews/routes.ts';
import type { Line } from './index.ts';

/** Pull requests and their merges. */
export const PULLS: readonly Line[] = [
  ['GET', '/repos/:owner/:repo/pulls', tagged(pulls.list)],
  ['POST', '/repos/:owner/:repo/pulls', keyed(pulls.create, whoReads('pulls'))],
  ['GET', '/repos/:owner/:repo/pulls/:index', tagged(pulls.show)],
  ['PATCH', '/repos/:owner/:repo/pulls/:index', pulls.edit],
  ['GET', '/repos/:owner/:repo/pulls/:index(^\\d+).:diffType(^(?:diff|patch)$)', pulls.changes],
  ['GET', '/repos/:owner/:repo/pulls/:index/commits', tagged(reading.commits)],
  ['GET', '/repos/:owner/:repo/pulls/:index/files', tagged(reading.files)],
  ['GET', '/repos/:owner/:repo/pulls/:base/*', tagged(reading.between)],
  ['POST', '/repos/:owner/:repo/pulls/:index/update', pulls.update],
  ['GET', '/repos/:owner/:repo/pulls/:index/merge', pulls.merged],
  ['POST', '/repos/:owner/:repo/pulls/:index/merge', pulls.merge],
  ['DELETE', '/repos/:owner/:repo/pulls/:index/merge', pulls.cancelMerge],
  ['GET', '/repos/:owner/:repo/pulls/:index/reviews', reviews.list],
  ['POST', '/repos/:owner/:repo/pulls/:index/reviews', reviews.create],
  ['GET', '/repos/:owner/:repo/pulls/:index/reviews/:id', reviews.show],
  ['POST', '/repos/:owner/:repo/pulls/:index/reviews/:id', reviews.submit],
  ['DELETE', '/repos/:owner/:repo/pulls/:index/reviews/:id', reviews.remove],
  ['GET', '/repos/:owner/:repo/pulls/:index/reviews/:id/comments', reviews.listComments],
  ['POST', '/repos/:owner/:repo/pulls/:index/comments/:id/replies', reviews.reply],
  ['POST', '/repos/:owner/:repo/pulls/comments/:id/resolve', reviews.resolve],
  ['POST', '/repos/:owner/:repo/pulls/comments/:id/unresolve', reviews.unresolve],
  ['POST', '/repos/:owner/:repo/pulls/:index/reviews/:id/dismissals', reviews.dismiss],
  ['POST', '/repos/:owner/:repo/pulls/:index/reviews/:id/undismissals', reviews.undismiss],
  ['POST', '/repos/:owner/:repo/pulls/:index/requested_reviewers', reviews.request],
  ['DELETE', '/repos/:owner/:repo/pulls/:index/requested_reviewers', reviews.withdraw],
  ['GET', '/repos/:owner/:repo/merge_queue/*', mergeQueue.list],
];
