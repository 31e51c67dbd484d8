import type { Endpoint } from '../endpoint.ts';
import type { Method } from '../mount.ts';
import { AROUND_ISSUES } from './around-issues.ts';
import { EVENTS } from './events.ts';
import { GIT } from './git.ts';
import { GIT_WRITES } from './git-writes.ts';
import { ISSUES } from './issues.ts';
import { PEOPLE } from './people.ts';
import { PULLS } from './pulls.ts';
import { RELEASES } from './releases.ts';
import { REPOSITORIES } from './repositories.ts';

/** A line of the list: how an endpoint is called, below `/api/v1`. */
export type Line = readonly [Method, string, Endpoint];

/** The whole API, in the order of the documentation. */
export const ENDPOINTS: readonly Line[] = [
  ...PEOPLE,
  ...REPOSITORIES,
  ...GIT,
  ...GIT_WRITES,
  ...RELEASES,
  ...ISSUES,
  ...AROUND_ISSUES,
  ...PULLS,
  ...EVENTS,
];
