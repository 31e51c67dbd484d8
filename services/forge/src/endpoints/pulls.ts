import * as pulls from '../pulls/routes.ts';
import type { Line } from './index.ts';

/** Pull requests and their merges. */
export const PULLS: readonly Line[] = [
  ['GET', '/repos/:owner/:repo/pulls', pulls.list],
  ['POST', '/repos/:owner/:repo/pulls', pulls.create],
  ['GET', '/repos/:owner/:repo/pulls/:index', pulls.show],
  ['PATCH', '/repos/:owner/:repo/pulls/:index', pulls.edit],
  ['GET', '/repos/:owner/:repo/pulls/:index(^\\d+).:diffType(^(?:diff|patch)$)', pulls.changes],
  ['GET', '/repos/:owner/:repo/pulls/:index/merge', pulls.merged],
  ['POST', '/repos/:owner/:repo/pulls/:index/merge', pulls.merge],
];
