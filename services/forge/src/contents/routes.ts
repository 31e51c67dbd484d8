import { z } from 'zod';
import { revisionParameter } from '../commits/resolve-commit.ts';
import { endpoint } from '../endpoint.ts';
import { badRequest, unacceptable } from '../failures.ts';
import { readMediaType } from '../rules/files/media-type.ts';
import { errorSchema, parameter, repeated, repositoryPath, storable } from '../wire-schemas.ts';
import { contentsSchema } from './contents-json.ts';
import { findContents } from './find-entry.ts';
import { showArchive } from './show-archive.ts';
import { type ContentsParts, showContents, showFiles } from './show-contents.ts';
import { showRaw, showRawOf } from './show-raw.ts';

const filePath = repositoryPath.extend({ '*': z.string() });
const refQuery = z.object({ ref: revisionParameter });

/** `GET /repos/{owner}/{repo}/contents` */
export const root = endpoint({
  summary: 'What is in a repository',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: refQuery,
  answers: { 200: z.array(contentsSchema), 404: errorSchema },
  async handle({ params, query, caller }, context) {
    return { status: 200, body: await showContents(context, caller, { ...params, file: '' }, query.ref) };
  },
});

/** `GET /repos/{owner}/{repo}/contents/{filepath}` */
export const show = endpoint({
  summary: 'A file with its content, or what is in a folder; a file as it is when `Accept` asks for that',
  access: 'reader',
  area: 'repository',
  params: filePath,
  query: refQuery,
  answers: { 200: z.union([contentsSchema, z.array(contentsSchema)]), 404: errorSchema },
  async handle({ params: { '*': file, ...path }, query, caller, accept }, context) {
    if (readMediaType(accept) === 'raw')
      return await showRaw(
        context,
        caller,
        await findContents(context, caller, { ...path, file }, query.ref),
      );
    return { status: 200, body: await showContents(context, caller, { ...path, file }, query.ref) };
  },
});

const extendedSchema = z.object({
  file_contents: contentsSchema.optional(),
  dir_contents: z.array(contentsSchema).optional(),
});
const PARTS = ['file_content', 'lfs_metadata', 'commit_metadata', 'commit_message'] as const;
const extendedQuery = refQuery.extend({
  includes: parameter.describe(`what is wanted besides, with commas between: ${PARTS.join(', ')}`),
});

/** `GET /repos/{owner}/{repo}/contents-ext`, and `…/contents-ext/{filepath}` */
export const extended = endpoint({
  summary: 'A file, or what is in a folder, with as much of it as is asked for',
  access: 'reader',
  area: 'repository',
  params: repositoryPath.extend({ '*': z.string().optional() }),
  query: extendedQuery,
  answers: { 200: extendedSchema, 400: errorSchema, 404: errorSchema },
  async handle({ params: { '*': file = '', ...path }, query, caller }, context) {
    const parts = readParts(query.includes);
    const shown = await showContents(context, caller, { ...path, file }, query.ref, parts);
    return { status: 200, body: Array.isArray(shown) ? { dir_contents: shown } : { file_contents: shown } };
  },
});

/** @throws 400 */
function readParts(includes = ''): ContentsParts {
  const wanted = new Set(includes.split(',').filter((part) => part !== ''));
  const parts = {
    content: wanted.delete('file_content'),
    lfs: wanted.delete('lfs_metadata'),
    commits: wanted.delete('commit_metadata'),
    messages: wanted.delete('commit_message'),
  };
  for (const unknown of wanted)
    throw badRequest(`unknown include option "${unknown.slice(0, 100)}": there are ${PARTS.join(', ')}`);
  return parts;
}

const fileNames = z.object({ files: z.array(storable).min(1, 'Required') });
const fileAnswers = { 200: z.array(contentsSchema.nullable()), 404: errorSchema, 422: errorSchema };

/** `POST /repos/{owner}/{repo}/file-contents` */
export const several = endpoint({
  summary: 'Several files with their contents; null for those that are not there',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: refQuery,
  body: fileNames,
  answers: fileAnswers,
  async handle({ params, query, body, caller }, context) {
    return { status: 200, body: await showFiles(context, caller, params, body.files, query.ref) };
  },
});

/** `GET /repos/{owner}/{repo}/file-contents` */
export const severalByQuery = endpoint({
  summary: 'The same, with the body in a parameter',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: refQuery.extend({ body: parameter }),
  answers: fileAnswers,
  async handle({ params, query: { body, ref }, caller }, context) {
    return { status: 200, body: await showFiles(context, caller, params, readNames(body), ref) };
  },
});

/** @throws 422 */
function readNames(body: string | undefined): string[] {
  try {
    return fileNames.parse(JSON.parse(body ?? '')).files;
  } catch {
    throw unacceptable('[Body]: expected JSON such as {"files":["README.md"]}');
  }
}

/** `GET /repos/{owner}/{repo}/raw/{filepath}`, and `…/media/{filepath}`, which is the same where nothing is kept elsewhere */
export const raw = endpoint({
  summary: 'A file as it is; without `ref` the path may begin with a branch, a tag or a whole id',
  access: 'reader',
  area: 'repository',
  params: filePath,
  query: refQuery,
  answers: { 200: z.string(), 404: errorSchema },
  async handle({ params: { '*': file, ...path }, query, caller }, context) {
    return await showRawOf(context, caller, { ...path, file }, query);
  },
});

/** `GET /repos/{owner}/{repo}/archive/{ref}.zip`, or `.tar.gz` */
export const archive = endpoint({
  summary: 'The files of a commit in one',
  access: 'reader',
  area: 'repository',
  params: filePath,
  query: z.object({ path: repeated.describe('files and folders; all of them without it') }),
  answers: { 200: z.string(), 404: errorSchema },
  async handle({ params: { '*': archive, ...path }, query, caller }, context) {
    return await showArchive(context, caller, { ...path, archive }, query.path);
  },
});
