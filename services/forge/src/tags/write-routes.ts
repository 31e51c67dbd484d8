import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { emptySchema, errorSchema, optional, repositoryPath, requiredText } from '../wire-schemas.ts';
import { createTag } from './create-tag.ts';
import { deleteTag } from './delete-tag.ts';
import { tagSchema } from './tag-json.ts';

const refused = { 403: errorSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema, 423: errorSchema };

/** `POST /repos/{owner}/{repo}/tags` */
export const create = endpoint({
  summary: 'Make a tag; with a message, an annotated one',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({ tag_name: requiredText, message: optional.text, target: optional.text }),
  answers: { 201: tagSchema, ...refused },
  async handle({ params, body, caller }, context) {
    const wanted = { name: body.tag_name, message: body.message ?? '', target: body.target ?? '' };
    return { status: 201, body: await createTag(context, caller, params, wanted) };
  },
});

/** `DELETE /repos/{owner}/{repo}/tags/{tag}`, slashes in the name encoded or not */
export const remove = endpoint({
  summary: 'Delete a tag',
  access: 'caller',
  area: 'repository',
  params: repositoryPath.extend({ '*': z.string() }),
  answers: { 204: emptySchema, ...refused },
  async handle({ params: { '*': tag, ...path }, caller }, context) {
    await deleteTag(context, caller, { ...path, tag });
    return { status: 204 };
  },
});
