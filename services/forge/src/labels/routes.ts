import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { findIssue } from '../issues/find-issue.ts';
import { listAnswer } from '../list-answer.ts';
import { MAX_NAME } from '../rules/issues/label.ts';
import {
  emptySchema,
  errorSchema,
  numberedPath,
  optional,
  pageParameters,
  repositoryPath,
  requiredText,
} from '../wire-schemas.ts';
import { changeIssueLabels, removeIssueLabel } from './change-issue-labels.ts';
import { createLabel } from './create-label.ts';
import { deleteLabel } from './delete-label.ts';
import { editLabel } from './edit-label.ts';
import { labelJson, labelSchema } from './label-json.ts';
import { listLabels } from './list-labels.ts';
import { showLabel } from './show-label.ts';

const name = requiredText.max(MAX_NAME, `MaxSize(${MAX_NAME})`);
const optionalName = optional.text.pipe(z.string().trim().max(MAX_NAME, `MaxSize(${MAX_NAME})`).nullish());
const details = { description: optional.line, exclusive: optional.boolean, is_archived: optional.boolean };

/** The same five endpoints for labels of a repository and of an organization. */
function endpointsOf<
  Path extends z.ZodObject<{ owner: z.ZodString; repo: z.ZodString } | { org: z.ZodString }>,
>(
  whose: string,
  area: 'issue' | 'organization',
  path: Path,
): Readonly<Record<'list' | 'create' | 'show' | 'edit' | 'remove', Endpoint>> {
  const homeOf = (params: unknown) => params as { owner: string; repo: string } | { org: string };
  const oneOf = (params: unknown) =>
    params as ({ owner: string; repo: string } | { org: string }) & { id: string };
  const one = path.extend({ id: z.string() });
  return {
    list: endpoint({
      summary: `Labels of ${whose}, by name`,
      access: 'reader',
      area,
      params: path,
      query: z.object(pageParameters),
      answers: { 200: z.array(labelSchema), 404: errorSchema },
      async handle({ params, query, caller, url }, context) {
        return listAnswer(context, url, await listLabels(context, caller, homeOf(params), query));
      },
    }),
    create: endpoint({
      summary: `Create a label of ${whose}`,
      access: 'caller',
      area,
      params: path,
      body: z.object({ name, color: requiredText, ...details }),
      answers: { 201: labelSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema },
      async handle({ params, body, caller }, context) {
        return { status: 201, body: await createLabel(context, caller, homeOf(params), body) };
      },
    }),
    show: endpoint({
      summary: `A label of ${whose}`,
      access: 'reader',
      area,
      params: one,
      answers: { 200: labelSchema, 404: errorSchema },
      async handle({ params, caller }, context) {
        return { status: 200, body: await showLabel(context, caller, oneOf(params)) };
      },
    }),
    edit: endpoint({
      summary: `Edit a label of ${whose}`,
      access: 'caller',
      area,
      params: one,
      body: z.object({ name: optionalName, color: optional.text, ...details }),
      answers: { 200: labelSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema },
      async handle({ params, body, caller }, context) {
        return { status: 200, body: await editLabel(context, caller, oneOf(params), body) };
      },
    }),
    remove: endpoint({
      summary: `Delete a label of ${whose}`,
      access: 'caller',
      area,
      params: one,
      answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 423: errorSchema },
      async handle({ params, caller }, context) {
        await deleteLabel(context, caller, oneOf(params));
        return { status: 204 };
      },
    }),
  };
}

/** `/repos/{owner}/{repo}/labels` */
export const ofRepository = endpointsOf('a repository', 'issue', repositoryPath);

/** `/orgs/{org}/labels` */
export const ofOrganization = endpointsOf('an organization', 'organization', z.object({ org: z.string() }));

const labelsBody = z.object({ labels: z.array(z.union([z.int(), requiredText])).nullish() });
const changeAnswers = {
  200: z.array(labelSchema),
  403: errorSchema,
  404: errorSchema,
  422: errorSchema,
  423: errorSchema,
};

/** `GET /repos/{owner}/{repo}/issues/{index}/labels` */
export const listOfIssue = endpoint({
  summary: 'Labels of an issue or pull request, by name',
  access: 'reader',
  area: 'issue',
  params: numberedPath,
  answers: { 200: z.array(labelSchema), 404: errorSchema },
  async handle({ params, caller }, context) {
    const { issue, repository, owner } = await findIssue(context, caller, params);
    const names = { owner: owner.login, repo: repository.name };
    return { status: 200, body: issue.labels.map((label) => labelJson(label, names, context.links)) };
  },
});

const changing = (summary: string, how: 'add' | 'replace') =>
  endpoint({
    summary,
    access: 'caller',
    area: 'issue',
    params: numberedPath,
    body: labelsBody,
    answers: changeAnswers,
    async handle({ params, body, caller }, context) {
      const wanted = { how, labels: body.labels ?? [] };
      const { found, labels } = await changeIssueLabels(context, caller, params, wanted);
      const names = { owner: found.owner.login, repo: found.repository.name };
      return { status: 200, body: labels.map((label) => labelJson(label, names, context.links)) };
    },
  });

/** `POST /repos/{owner}/{repo}/issues/{index}/labels` */
export const addToIssue = changing('Add labels, by ids or names, to an issue or pull request', 'add');

/** `PUT /repos/{owner}/{repo}/issues/{index}/labels` */
export const replaceOfIssue = changing('Replace the labels of an issue or pull request', 'replace');

/** `DELETE /repos/{owner}/{repo}/issues/{index}/labels` */
export const clearOfIssue = endpoint({
  summary: 'Take all labels from an issue or pull request',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 423: errorSchema },
  async handle({ params, caller }, context) {
    await changeIssueLabels(context, caller, params, { how: 'clear', labels: [] });
    return { status: 204 };
  },
});

/** `DELETE /repos/{owner}/{repo}/issues/{index}/labels/{id}` */
export const removeFromIssue = endpoint({
  summary: 'Take a label, by id or name, from an issue or pull request',
  access: 'caller',
  area: 'issue',
  params: numberedPath.extend({ id: z.string() }),
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema },
  async handle({ params, caller }, context) {
    await removeIssueLabel(context, caller, params);
    return { status: 204 };
  },
});
