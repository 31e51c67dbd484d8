import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { emptySchema, errorSchema, optional, repositoryPath } from '../wire-schemas.ts';
import {
  createProtection,
  editProtection,
  removeProtection,
  reorderProtections,
} from './change-protections.ts';
import { listProtections, showProtection } from './list-protections.ts';
import { presentProtections } from './present-protections.ts';
import { protectionFields, protectionSchema } from './protection-json.ts';

/** Names of branches have slashes in them, encoded or not. */
const protectionPath = repositoryPath.extend({ '*': z.string() });
const refusals = { 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema };

/** `GET /repos/{owner}/{repo}/branch_protections` */
export const list = endpoint({
  summary: 'Protections of branches, in the order of their priority',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.array(protectionSchema), 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const rows = await listProtections(context, caller, params);
    return { status: 200, body: await presentProtections(context, rows) };
  },
});

/** `POST /repos/{owner}/{repo}/branch_protections` */
export const create = endpoint({
  summary: 'Protect branches',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({ rule_name: optional.text, branch_name: optional.text, ...protectionFields }),
  answers: { 201: protectionSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    const { rule_name: ruleName, branch_name: branchName, ...fields } = body;
    const wish = { ...fields, ruleName: ruleName || branchName || '' };
    const made = await createProtection(context, caller, params, wish);
    return { status: 201, body: (await presentProtections(context, [made]))[0] };
  },
});

/** `POST /repos/{owner}/{repo}/branch_protections/priority` */
export const reorder = endpoint({
  summary: 'Put protections in another order; those that are not named keep their priority',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({ ids: optional.integers.describe('the first counts first') }),
  answers: { 204: emptySchema, ...refusals },
  async handle({ params, body, caller }, context) {
    await reorderProtections(context, caller, params, body.ids ?? []);
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/branch_protections/{name}` */
export const show = endpoint({
  summary: 'A protection of branches',
  access: 'caller',
  area: 'repository',
  params: protectionPath,
  answers: { 200: protectionSchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const row = await showProtection(context, caller, { ...params, name: params['*'] });
    return { status: 200, body: (await presentProtections(context, [row]))[0] };
  },
});

/** `PATCH /repos/{owner}/{repo}/branch_protections/{name}` */
export const edit = endpoint({
  summary: 'Change a protection of branches',
  access: 'caller',
  area: 'repository',
  params: protectionPath,
  body: z.object(protectionFields),
  answers: { 200: protectionSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    const path = { ...params, name: params['*'] };
    const row = await editProtection(context, caller, path, body);
    return { status: 200, body: (await presentProtections(context, [row]))[0] };
  },
});

/** `DELETE /repos/{owner}/{repo}/branch_protections/{name}` */
export const remove = endpoint({
  summary: 'Lift a protection of branches',
  access: 'caller',
  area: 'repository',
  params: protectionPath,
  answers: { 204: emptySchema, ...refusals },
  async handle({ params, caller }, context) {
    await removeProtection(context, caller, { ...params, name: params['*'] });
    return { status: 204 };
  },
});
