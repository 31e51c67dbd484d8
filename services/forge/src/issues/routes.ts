import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import {
  emptySchema,
  errorSchema,
  listed,
  numberedPath,
  optional,
  pageParameters,
  parameter,
  repositoryPath,
  requiredText,
  timeSchema,
} from '../wire-schemas.ts';
import { wireTimeOrNull } from '../wire-time.ts';
import { changeAssignees, checkAssignable } from './change-assignees.ts';
import { createIssue } from './create-issue.ts';
import { deleteIssue } from './delete-issue.ts';
import { editIssue } from './edit-issue.ts';
import { issueSchema } from './issue-json.ts';
import { listIssues } from './list-issues.ts';
import { searchIssues } from './search-issues.ts';
import { setDeadline } from './set-deadline.ts';
import { showIssue } from './show-issue.ts';

const editable = {
  body: optional.text,
  ref: optional.line,
  due_date: optional.time,
  milestone: optional.integer,
  assignee: optional.text,
  assignees: optional.texts,
};
const filters = {
  state: parameter,
  labels: listed.describe('names, separated by commas; any of them'),
  milestones: listed.describe('titles or ids, separated by commas'),
  q: parameter.describe('part of the title, the body or a comment; or a number'),
  type: parameter.describe('`issues` or `pulls`'),
  since: parameter.describe('changed at this time or later'),
  before: parameter.describe('changed at this time or earlier'),
  ...pageParameters,
};
const refusals = { 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema };

/** `GET /repos/issues/search` */
export const search = endpoint({
  summary: 'Issues and pull requests of all repositories the caller may read, newest first',
  access: 'reader',
  area: 'issue',
  query: z.object({
    ...filters,
    priority_repo_id: parameter.describe('its issues come first'),
    owner: parameter,
    team: parameter.describe('of the owner'),
    created: parameter.describe('`true`: by the caller'),
    assigned: parameter.describe('`true`: to the caller'),
    mentioned: parameter.describe('`true`: where a text names the caller'),
    review_requested: parameter.describe('`true`: of the caller or one of his teams'),
    reviewed: parameter.describe('`true`: by the caller'),
    created_by: parameter,
  }),
  answers: { 200: z.array(issueSchema), 400: errorSchema, 422: errorSchema, 503: errorSchema },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await searchIssues(context, caller, query));
  },
});

/** `GET /repos/{owner}/{repo}/issues` */
export const list = endpoint({
  summary: 'Issues and pull requests of a repository, newest first',
  access: 'reader',
  area: 'issue',
  params: repositoryPath,
  query: z.object({
    ...filters,
    created_by: parameter,
    assigned_by: parameter,
    mentioned_by: parameter,
  }),
  answers: { 200: z.array(issueSchema), 404: errorSchema, 422: errorSchema, 503: errorSchema },
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
  answers: { 201: issueSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    const made = await createIssue(context, caller, params, {
      ...body,
      body: body.body ?? '',
      ref: body.ref ?? '',
      milestone: Math.max(body.milestone ?? 0, 0),
      deadline: body.due_date ?? undefined,
      closed: body.closed ?? false,
    });
    return { status: 201, body: made };
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
    content_version: optional.integer.describe('refused with 409 when the issue has another by now'),
  }),
  answers: { 201: issueSchema, 409: errorSchema, 412: errorSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    const {
      due_date: deadline,
      unset_due_date: removeDeadline,
      content_version: contentVersion,
      ...rest
    } = body;
    await editIssue(context, caller, params, { ...rest, deadline, removeDeadline, contentVersion });
    return { status: 201, body: await showIssue(context, caller, params) };
  },
});

/** `DELETE /repos/{owner}/{repo}/issues/{index}` */
export const remove = endpoint({
  summary: 'Delete an issue or pull request with everything that was said about it',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 423: errorSchema },
  async handle({ params, caller }, context) {
    await deleteIssue(context, caller, params);
    return { status: 204 };
  },
});

/** `POST /repos/{owner}/{repo}/issues/{index}/deadline` */
export const deadline = endpoint({
  summary: 'Set the deadline of an issue or pull request, or remove it with null',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  body: z.object({ due_date: optional.time }),
  answers: { 201: z.object({ due_date: timeSchema.nullable() }), ...refusals },
  async handle({ params, body, caller }, context) {
    const at = await setDeadline(context, caller, params, body.due_date);
    return { status: 201, body: { due_date: wireTimeOrNull(at) } };
  },
});

const assigneesBody = z.object({ assignees: optional.texts });

/** `POST /repos/{owner}/{repo}/issues/{index}/assignees` */
export const addAssignees = endpoint({
  summary: 'Assign people to an issue or pull request, besides those who are',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  body: assigneesBody,
  answers: { 201: issueSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    await changeAssignees(context, caller, params, { how: 'add', assignees: body.assignees ?? [] });
    return { status: 201, body: await showIssue(context, caller, params) };
  },
});

/** `DELETE /repos/{owner}/{repo}/issues/{index}/assignees` */
export const removeAssignees = endpoint({
  summary: 'Take people away from those assigned to an issue or pull request',
  access: 'caller',
  area: 'issue',
  params: numberedPath,
  body: assigneesBody,
  answers: { 200: issueSchema, ...refusals },
  async handle({ params, body, caller }, context) {
    await changeAssignees(context, caller, params, { how: 'remove', assignees: body.assignees ?? [] });
    return { status: 200, body: await showIssue(context, caller, params) };
  },
});

/** `GET /repos/{owner}/{repo}/issues/{index}/assignees/{assignee}` */
export const assignable = endpoint({
  summary: 'Whether somebody can be assigned to an issue: 204 or 404',
  access: 'reader',
  area: 'issue',
  params: numberedPath.extend({ assignee: z.string() }),
  answers: { 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await checkAssignable(context, caller, params);
    return { status: 204 };
  },
});
