import * as branches from '../branches/routes.ts';
import * as commits from '../commits/routes.ts';
import * as contents from '../contents/routes.ts';
import * as gitData from '../git-data/routes.ts';
import * as languages from '../languages/routes.ts';
import * as statuses from '../statuses/routes.ts';
import * as tags from '../tags/routes.ts';
import type { Line } from './index.ts';

/** What is in a repository: branches, tags, commits, files. */
export const GIT: readonly Line[] = [
  ['GET', '/repos/:owner/:repo/branches', branches.list],
  ['GET', '/repos/:owner/:repo/branches/*', branches.show],
  ['GET', '/repos/:owner/:repo/tags', tags.list],
  ['GET', '/repos/:owner/:repo/tags/*', tags.show],

  ['GET', '/repos/:owner/:repo/contents', contents.root],
  ['GET', '/repos/:owner/:repo/contents/*', contents.show],
  ['GET', '/repos/:owner/:repo/contents-ext', contents.extended],
  ['GET', '/repos/:owner/:repo/contents-ext/*', contents.extended],
  ['POST', '/repos/:owner/:repo/file-contents', contents.several],
  ['GET', '/repos/:owner/:repo/file-contents', contents.severalByQuery],
  ['GET', '/repos/:owner/:repo/raw/*', contents.raw],
  ['GET', '/repos/:owner/:repo/media/*', contents.raw],
  ['GET', '/repos/:owner/:repo/archive/*', contents.archive],
  ['GET', '/repos/:owner/:repo/languages', languages.list],
  ['GET', '/repos/:owner/:repo/licenses', languages.licenses],

  ['GET', '/repos/:owner/:repo/commits', commits.list],
  ['GET', '/repos/:owner/:repo/commits/:sha/pull', commits.pull],
  ['GET', '/repos/:owner/:repo/compare/*', commits.compare],
  ['GET', '/repos/:owner/:repo/git/commits/:sha', commits.show],
  ['GET', '/repos/:owner/:repo/git/commits/:sha.:diffType(^(?:diff|patch)$)', commits.changes],
  ['GET', '/repos/:owner/:repo/git/trees/:sha', gitData.tree],
  ['GET', '/repos/:owner/:repo/git/blobs/:sha', gitData.blob],
  ['GET', '/repos/:owner/:repo/git/tags/:sha', gitData.tag],
  ['GET', '/repos/:owner/:repo/git/refs', gitData.references],
  ['GET', '/repos/:owner/:repo/git/refs/*', gitData.referencesBelow],
  ['GET', '/repos/:owner/:repo/git/notes/:sha', gitData.note],

  ['POST', '/repos/:owner/:repo/statuses/:sha', statuses.create],
  ['GET', '/repos/:owner/:repo/statuses/:sha', statuses.list],
  ['GET', '/repos/:owner/:repo/commits/:ref/statuses', statuses.listOfRef],
  ['GET', '/repos/:owner/:repo/commits/:ref/status', statuses.combined],
];
