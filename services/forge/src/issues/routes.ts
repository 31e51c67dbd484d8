import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import {
  errorSchema,
  numberedPath,
  optional,
  pageParameters,
  parameter,
  repositoryPath,
  requiredText,
} from '../wire-schemas.ts';
import { createIssue } from './create-issue.ts';
import { editIssue } from './edit-issue.ts';
import { issueSchema } from './issue-json.ts';
import { listIssues } from './list-issues.ts';
import { showIssue } from './show-issue.ts';

const editable = {
  body: optional.text,
  ref: optional.text,
  due_date: optional.time,
  milestone: optional.integer,
  assignee: optional.text,
  assignees: optional.texts,
};

/** `GET /repos/{owner}/{repo}/issues` */
export const list = endpoint({
  summary: 'Issues and pull requests of a repository, newest first',
  access: 'reader',
  area: 'issue',
  params: repositoryPath,
  query: z.object({ state: parameter, labels: parameter, q: parameter, type: parameter, ...pageParameters }),
  answers: { 200: z.array(issueSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listIssues(context, caller, params, query));
  },
});

/** `GET /repos/{owner}/{repo}/issues/{index}` */
export const show = endpoint({
  summary: 'An issue, or a pull request seen as one',
  access: 'reader',
  area: 'issue',
  params: numberedPath,
  answers: { 200: issueSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showIssue(context, caller, params) };
  },
});

/** `POST /repos/{owner}/{repo}/issues` */
export const create = endpoint({
  summary: 'Create an issue',
  access: 'caller',
  area: 'issue',
  params: repositoryPath,
  body: z.object({ title: requiredText, ...editable, labels: optional.integers, closed: optional.boolean }),
  answers: { 201: issueSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema },
  async handle({ params, body, caller }, context) {
    const number = await createIssue(context, caller, params, {
      ...body,
      body: body.body ?? '',
      ref: body.ref ?? '',
      milestone: body.milestone ?? 0,
      deadline: body.due_date ?? undefined,
      closed: body.closed ?? false,
    });
    return { status: 201, body: await showIssue(context, caller, { ...params, index: String(number) }) };
  },
});

/** `PATCH /repos/{owner}/{repo}/issues/{index}` */
export const edit = endpoint({
  summary: 'Edit, close or reopen an issue',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  body: z.object({
    title: optional.text,
    ...editable,
    unset_due_date: optional.boolean,
    state: optional.text,
  }),
  answers: {
    201: issueSchema,
    403: errorSchema,
    404: errorSchema,
    412: errorSchema,
    422: errorSchema,
    423: errorSchema,
  },
  async handle({ params, body, caller }, context) {
    const { due_date: deadline, unset_due_date: removeDeadline, ...rest } = body;
    await editIssue(context, caller, params, { ...rest, deadline, removeDeadline });
    return { status: 201, body: await showIssue(context, caller, params) };
  },
});
