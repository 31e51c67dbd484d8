import * as attachments from '../attachments/routes.ts';
import * as releases from '../releases/routes.ts';
import type { Line } from './index.ts';

/** What is published of a repository. */
export const RELEASES: readonly Line[] = [
  ['GET', '/repos/:owner/:repo/releases', releases.list],
  ['POST', '/repos/:owner/:repo/releases', releases.create],
  ['GET', '/repos/:owner/:repo/releases/latest', releases.latest],
  ['GET', '/repos/:owner/:repo/releases/tags/*', releases.showOfTag],
  ['DELETE', '/repos/:owner/:repo/releases/tags/*', releases.removeOfTag],
  ['GET', '/repos/:owner/:repo/releases/:release', releases.show],
  ['PATCH', '/repos/:owner/:repo/releases/:release', releases.edit],
  ['DELETE', '/repos/:owner/:repo/releases/:release', releases.remove],

  // Sending them is in attachments/upload-routes.ts: files are no JSON.
  ['GET', '/repos/:owner/:repo/releases/:release/assets', attachments.ofReleases.list],
  ['GET', '/repos/:owner/:repo/releases/:release/assets/:attachment', attachments.ofReleases.show],
  ['PATCH', '/repos/:owner/:repo/releases/:release/assets/:attachment', attachments.ofReleases.edit],
  ['DELETE', '/repos/:owner/:repo/releases/:release/assets/:attachment', attachments.ofReleases.remove],
];
