import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { annotatedTagSchema } from '../tags/tag-json.ts';
import { errorSchema, pageParameters, parameter, repositoryPath } from '../wire-schemas.ts';
import { listReferences, referenceSchema } from './list-references.ts';
import { showAnnotatedTag } from './show-annotated-tag.ts';
import { blobSchema, showBlob } from './show-blob.ts';
import { noteSchema, showNote } from './show-note.ts';
import { showTree, treeSchema } from './show-tree.ts';

const objectPath = repositoryPath.extend({ sha: z.string() });

/** `GET /repos/{owner}/{repo}/git/trees/{sha}` */
export const tree = endpoint({
  summary: 'A tree, with `recursive` all trees in it too',
  access: 'reader',
  area: 'repository',
  params: objectPath,
  query: z.object({ recursive: parameter, page: parameter, per_page: parameter }),
  answers: { 200: treeSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller }, context) {
    return { status: 200, body: await showTree(context, caller, params, query) };
  },
});

/** `GET /repos/{owner}/{repo}/git/blobs/{sha}` */
export const blob = endpoint({
  summary: 'A blob',
  access: 'reader',
  area: 'repository',
  params: objectPath,
  answers: { 200: blobSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showBlob(context, caller, params) };
  },
});

/** `GET /repos/{owner}/{repo}/git/tags/{sha}` */
export const tag = endpoint({
  summary: 'An annotated tag, by the id of the tag itself',
  access: 'reader',
  area: 'repository',
  params: objectPath,
  answers: { 200: annotatedTagSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showAnnotatedTag(context, caller, params) };
  },
});

/** `GET /repos/{owner}/{repo}/git/refs` */
export const references = endpoint({
  summary: 'Refs of a repository',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(referenceSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    const page = await listReferences(context, caller, { ...params, prefix: '' }, query);
    return listAnswer(context, url, page);
  },
});

/** `GET /repos/{owner}/{repo}/git/refs/{prefix}` */
export const referencesBelow = endpoint({
  summary: 'Refs whose names begin with something',
  access: 'reader',
  area: 'repository',
  params: repositoryPath.extend({ '*': z.string() }),
  query: z.object(pageParameters),
  answers: { 200: z.array(referenceSchema), 404: errorSchema },
  async handle({ params: { '*': prefix, ...path }, query, caller, url }, context) {
    return listAnswer(context, url, await listReferences(context, caller, { ...path, prefix }, query));
  },
});

/** `GET /repos/{owner}/{repo}/git/notes/{sha}` */
export const note = endpoint({
  summary: 'What was noted about a commit with `git notes`',
  access: 'reader',
  area: 'repository',
  params: objectPath,
  query: z.object({ files: parameter, verification: parameter }),
  answers: { 200: noteSchema, 404: errorSchema },
  async handle({ params, query, caller }, context) {
    return { status: 200, body: await showNote(context, caller, params, query) };
  },
});
