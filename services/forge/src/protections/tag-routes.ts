import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { emptySchema, errorSchema, optional, repositoryPath } from '../wire-schemas.ts';
import { createTagProtection, editTagProtection, removeTagProtection } from './change-tag-protections.ts';
import { listTagProtections, showTagProtection } from './list-tag-protections.ts';
import { presentTagProtections, tagProtectionSchema } from './tag-protection-json.ts';

const protectionPath = repositoryPath.extend({ id: z.string() });
const refusals = { 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema };
const fields = z.object({
  name_pattern: optional.text.describe('a glob, or a regular expression between slashes'),
  whitelist_usernames: optional.texts,
  whitelist_teams: optional.texts,
});

/** `GET /repos/{owner}/{repo}/tag_protections` */
export const list = endpoint({
  summary: 'Protections of tags, the oldest first',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.array(tagProtectionSchema), 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const rows = await listTagProtections(context, caller, params);
    return { status: 200, body: await presentTagProtections(context, rows) };
  },
});

/** `POST /repos/{owner}/{repo}/tag_protections` */
export const create = endpoint({
  summary: 'Protect tags: only who is listed makes, moves and deletes them',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: fields,
  answers: { 201: tagProtectionSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    const made = await createTagProtection(context, caller, params, body);
    return { status: 201, body: (await presentTagProtections(context, [made]))[0] };
  },
});

/** `GET /repos/{owner}/{repo}/tag_protections/{id}` */
export const show = endpoint({
  summary: 'A protection of tags',
  access: 'caller',
  area: 'repository',
  params: protectionPath,
  answers: { 200: tagProtectionSchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const row = await showTagProtection(context, caller, params);
    return { status: 200, body: (await presentTagProtections(context, [row]))[0] };
  },
});

/** `PATCH /repos/{owner}/{repo}/tag_protections/{id}` */
export const edit = endpoint({
  summary: 'Change a protection of tags',
  access: 'caller',
  area: 'repository',
  params: protectionPath,
  body: fields,
  answers: { 200: tagProtectionSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    const row = await editTagProtection(context, caller, params, body);
    return { status: 200, body: (await presentTagProtections(context, [row]))[0] };
  },
});

/** `DELETE /repos/{owner}/{repo}/tag_protections/{id}` */
export const remove = endpoint({
  summary: 'Lift a protection of tags',
  access: 'caller',
  area: 'repository',
  params: protectionPath,
  answers: { 204: emptySchema, ...refusals },
  async handle({ params, caller }, context) {
    await removeTagProtection(context, caller, params);
    return { status: 204 };
  },
});
