import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { MAX_NAME } from '../rules/issues/label.ts';
import {
  emptySchema,
  errorSchema,
  optional,
  pageParameters,
  parameter,
  repositoryPath,
  requiredText,
  storable,
} from '../wire-schemas.ts';
import { createMilestone } from './create-milestone.ts';
import { deleteMilestone } from './delete-milestone.ts';
import { editMilestone } from './edit-milestone.ts';
import { findMilestone } from './find-milestone.ts';
import { listMilestones } from './list-milestones.ts';
import { milestoneJson, milestoneSchema } from './milestone-json.ts';

const onePath = repositoryPath.extend({ id: z.string().describe('id, or title') });
const title = requiredText.max(MAX_NAME, `MaxSize(${MAX_NAME})`);
/** Each issue shows its milestone; the reference's column is as wide on MySQL. */
const MAX_DESCRIPTION = 65_535;
const description = storable.max(MAX_DESCRIPTION, `MaxSize(${MAX_DESCRIPTION})`).nullish();
const details = { description, due_on: optional.time, state: optional.text };
const refusals = { 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema };

/** `GET /repos/{owner}/{repo}/milestones` */
export const list = endpoint({
  summary: 'Milestones of a repository, the next one due first',
  access: 'reader',
  area: 'issue',
  params: repositoryPath,
  query: z.object({ state: parameter, name: parameter, ...pageParameters }),
  answers: { 200: z.array(milestoneSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listMilestones(context, caller, params, query));
  },
});

/** `POST /repos/{owner}/{repo}/milestones` */
export const create = endpoint({
  summary: 'Create a milestone',
  access: 'caller',
  area: 'issue',
  params: repositoryPath,
  body: z.object({ title, ...details }),
  answers: { 201: milestoneSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    return { status: 201, body: milestoneJson(await createMilestone(context, caller, params, body)) };
  },
});

/** `GET /repos/{owner}/{repo}/milestones/{id}` */
export const show = endpoint({
  summary: 'A milestone, by its id or its title',
  access: 'reader',
  area: 'issue',
  params: onePath,
  answers: { 200: milestoneSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const { milestone } = await findMilestone(context, caller, params, 'read');
    return { status: 200, body: milestoneJson(milestone) };
  },
});

/** `PATCH /repos/{owner}/{repo}/milestones/{id}` */
export const edit = endpoint({
  summary: 'Edit, close or reopen a milestone',
  access: 'caller',
  area: 'issue',
  params: onePath,
  body: z.object({
    title: optional.text.pipe(z.string().trim().max(MAX_NAME, `MaxSize(${MAX_NAME})`).nullish()),
    ...details,
  }),
  answers: { 200: milestoneSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    return { status: 200, body: milestoneJson(await editMilestone(context, caller, params, body)) };
  },
});

/** `DELETE /repos/{owner}/{repo}/milestones/{id}` */
export const remove = endpoint({
  summary: 'Delete a milestone; its issues stay',
  access: 'caller',
  area: 'issue',
  params: onePath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 423: errorSchema },
  async handle({ params, caller }, context) {
    await deleteMilestone(context, caller, params);
    return { status: 204 };
  },
});
