import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../failures.ts';
import { listAnswer } from '../list-answer.ts';
import { userJson, userSchema } from '../users/user-json.ts';
import { emptySchema, errorSchema, optional, pageParameters, repositoryPath } from '../wire-schemas.ts';
import { putCollaborator, removeCollaborator } from './change-collaborators.ts';
import { isCollaborator, listCollaborators, listReaching } from './list-collaborators.ts';
import { showPermission } from './show-permission.ts';

const collaboratorPath = repositoryPath.extend({ collaborator: z.string() });
const assigneePath = repositoryPath.extend({ assignee: z.string() });
const answers = { 204: emptySchema, 404: errorSchema, 422: errorSchema };

/** `GET /repos/{owner}/{repo}/collaborators` */
export const list = endpoint({
  summary: 'People that a repository was opened to',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(userSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listCollaborators(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/collaborators/{collaborator}` */
export const check = endpoint({
  summary: 'Whether a repository was opened to somebody',
  access: 'caller',
  area: 'repository',
  params: collaboratorPath,
  answers,
  async handle({ params, caller }, context) {
    if (!(await isCollaborator(context, caller, params))) throw notFound();
    return { status: 204 };
  },
});

/** `PUT /repos/{owner}/{repo}/collaborators/{collaborator}` */
export const put = endpoint({
  summary: 'Open a repository to somebody, by default for writing',
  access: 'caller',
  area: 'repository',
  params: collaboratorPath,
  body: z.object({ permission: optional.text }),
  answers: { ...answers, 403: errorSchema },
  async handle({ params, body, caller }, context) {
    await putCollaborator(context, caller, params, body.permission || 'write');
    return { status: 204 };
  },
});

/** `DELETE /repos/{owner}/{repo}/collaborators/{collaborator}` */
export const remove = endpoint({
  summary: 'Close a repository to somebody',
  access: 'caller',
  area: 'repository',
  params: collaboratorPath,
  answers: { ...answers, 403: errorSchema },
  async handle({ params, caller }, context) {
    await removeCollaborator(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/collaborators/{collaborator}/permission` */
export const permission = endpoint({
  summary: 'What somebody may do with a repository',
  access: 'caller',
  area: 'repository',
  params: collaboratorPath,
  answers: {
    200: z.object({ permission: z.string(), role_name: z.string(), user: userSchema }),
    403: errorSchema,
    404: errorSchema,
  },
  async handle({ params, caller }, context) {
    const { level, user } = await showPermission(context, caller, params);
    const body = { permission: level, role_name: level, user: userJson(user, caller, context.links) };
    return { status: 200, body };
  },
});

/** `GET /repos/{owner}/{repo}/assignees` */
export const assignees = endpoint({
  summary: 'People who can be assigned to issues',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.array(userSchema), 404: errorSchema },
  async handle({ params, caller }, context) {
    const people = await listReaching(context, caller, params, 'write');
    return { status: 200, body: people.map((user) => userJson(user, caller, context.links)) };
  },
});

/** `GET /repos/{owner}/{repo}/assignees/{assignee}` */
export const assignee = endpoint({
  summary: 'Whether somebody can be assigned to issues',
  access: 'reader',
  area: 'repository',
  params: assigneePath,
  answers: { 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const people = await listReaching(context, caller, params, 'write');
    if (!people.some((user) => user.login_key === params.assignee.toLowerCase())) throw notFound();
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/reviewers` */
export const reviewers = endpoint({
  summary: 'People who can be asked for a review',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.array(userSchema), 404: errorSchema },
  async handle({ params, caller }, context) {
    const people = await listReaching(context, caller, params, 'read');
    return { status: 200, body: people.map((user) => userJson(user, caller, context.links)) };
  },
});
