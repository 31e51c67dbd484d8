import * as branches from '../branches/write-routes.ts';
import * as contents from '../contents/write-routes.ts';
import * as tags from '../tags/write-routes.ts';
import type { Line } from './index.ts';

/** Changes of branches, tags and files. */
export const GIT_WRITES: readonly Line[] = [
  ['POST', '/repos/:owner/:repo/contents', contents.several],
  ['POST', '/repos/:owner/:repo/contents/*', contents.create],
  ['PUT', '/repos/:owner/:repo/contents/*', contents.update],
  ['DELETE', '/repos/:owner/:repo/contents/*', contents.remove],

  ['POST', '/repos/:owner/:repo/branches', branches.create],
  ['PUT', '/repos/:owner/:repo/branches/*', branches.update],
  ['PATCH', '/repos/:owner/:repo/branches/*', branches.rename],
  ['DELETE', '/repos/:owner/:repo/branches/*', branches.remove],

  ['POST', '/repos/:owner/:repo/tags', tags.create],
  ['DELETE', '/repos/:owner/:repo/tags/*', tags.remove],
];
