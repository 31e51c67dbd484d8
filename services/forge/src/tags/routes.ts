import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { errorSchema, pageParameters, repositoryPath } from '../wire-schemas.ts';
import { listTags, showTag } from './list-tags.ts';
import { tagSchema } from './tag-json.ts';

/** `GET /repos/{owner}/{repo}/tags` */
export const list = endpoint({
  summary: 'Tags of a repository, newest first',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(tagSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listTags(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/tags/{tag}`, slashes in the name encoded or not */
export const show = endpoint({
  summary: 'A tag',
  access: 'reader',
  area: 'repository',
  params: repositoryPath.extend({ '*': z.string() }),
  answers: { 200: tagSchema, 404: errorSchema },
  async handle({ params: { '*': tag, ...path }, caller }, context) {
    return { status: 200, body: await showTag(context, caller, { ...path, tag }) };
  },
});
