import { z } from 'zod';
import { cancelScheduledMerge } from '../auto-merge/cancel-scheduled-merge.ts';
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
} from '../wire-schemas.ts';
import { checkMerged } from './check-merged.ts';
import { createPull } from './create-pull.ts';
import { editPull } from './edit-pull.ts';
import { listPulls } from './list-pulls.ts';
import { mergePull } from './merge-pull.ts';
import { pullSchema } from './pull-json.ts';
import { showChanges } from './show-changes.ts';
import { showPull, singlePullSchema } from './show-pull.ts';
import { spellPulls } from './spell-pulls.ts';
import { updatePull } from './update-pull.ts';

const editable = {
  body: optional.text,
  assignee: optional.text,
  assignees: optional.texts,
  milestone: optional.integer,
  labels: optional.integers,
  due_date: optional.time,
};

/** `GET /repos/{owner}/{repo}/pulls` */
export const list = endpoint({
  summary: 'Pull requests of a repository',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object({
    state: parameter,
    sort: parameter,
    milestone: parameter.describe('id'),
    labels: listed.describe('ids, separated by commas or repeated; any of them'),
    poster: parameter,
    base_branch: parameter,
    ...pageParameters,
  }),
  answers: { 200: z.array(pullSchema), 400: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listPulls(context, caller, params, query), spellPulls);
  },
});

/** `GET /repos/{owner}/{repo}/pulls/{index}` */
export const show = endpoint({
  summary: 'A pull request; as a diff or patch when `Accept` asks for one',
  access: 'reader',
  area: 'repository',
  params: numberedPath,
  query: z.object({ binary: parameter }),
  answers: { 200: singlePullSchema, 404: errorSchema },
  async handle({ params, query, caller, accept }, context) {
    // The media type of our request builder works like the suffix (decisions §5.14).
    const type = accept.match(/application\/vnd\.croft\.v3\.(diff|patch)\b/)?.[1];
    if (type !== 'diff' && type !== 'patch')
      return { status: 200, body: await showPull(context, caller, params) };
    return { status: 200, body: await showChanges(context, caller, params, { type, binary: query.binary }) };
  },
});

/** `GET /repos/{owner}/{repo}/pulls/{index}.{diffType}` */
export const changes = endpoint({
  summary: 'What a pull request changes, as a diff or as patches',
  access: 'reader',
  area: 'repository',
  params: numberedPath.extend({ diffType: z.enum(['diff', 'patch']) }),
  query: z.object({ binary: parameter }),
  answers: { 200: z.string(), 404: errorSchema },
  async handle({ params, query, caller }, context) {
    const wanted = { type: params.diffType, binary: query.binary };
    return { status: 200, body: await showChanges(context, caller, params, wanted) };
  },
});

/** `POST /repos/{owner}/{repo}/pulls` */
export const create = endpoint({
  summary: 'Create a pull request',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({
    head: requiredText.describe('a branch, or `owner:branch` or `owner/repo:branch` of a fork'),
    base: requiredText,
    title: requiredText,
    ...editable,
    reviewers: optional.texts,
    team_reviewers: optional.texts,
    allow_maintainer_edit: optional.boolean,
  }),
  answers: { 201: singlePullSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema, 423: errorSchema },
  async handle({ params, body, caller }, context) {
    const number = await createPull(context, caller, params, {
      ...body,
      body: body.body ?? '',
      milestone: Math.max(body.milestone ?? 0, 0),
      deadline: body.due_date ?? undefined,
      reviewers: body.reviewers ?? [],
      teams: body.team_reviewers ?? [],
      allowMaintainerEdit: body.allow_maintainer_edit,
    });
    return { status: 201, body: await showPull(context, caller, { ...params, index: String(number) }) };
  },
});

/** `PATCH /repos/{owner}/{repo}/pulls/{index}` */
export const edit = endpoint({
  summary: 'Edit, close or reopen a pull request',
  access: 'caller',
  area: 'repository',
  params: numberedPath,
  body: z.object({
    title: optional.text,
    ...editable,
    unset_due_date: optional.boolean,
    state: optional.text,
    base: optional.text,
    allow_maintainer_edit: optional.boolean,
    content_version: optional.integer.describe('refused with 409 when the pull request has another by now'),
  }),
  answers: {
    201: singlePullSchema,
    403: errorSchema,
    404: errorSchema,
    409: errorSchema,
    412: errorSchema,
    422: errorSchema,
    423: errorSchema,
  },
  async handle({ params, body, caller }, context) {
    const {
      due_date: deadline,
      unset_due_date: removeDeadline,
      allow_maintainer_edit: allowMaintainerEdit,
      content_version: contentVersion,
      ...rest
    } = body;
    const edit = { ...rest, deadline, removeDeadline, allowMaintainerEdit, contentVersion };
    await editPull(context, caller, params, edit);
    return { status: 201, body: await showPull(context, caller, params) };
  },
});

/** `POST /repos/{owner}/{repo}/pulls/{index}/update` */
export const update = endpoint({
  summary: 'Bring the head branch of a pull request up to its base',
  access: 'caller',
  area: 'repository',
  params: numberedPath,
  query: z.object({ style: parameter.describe('`merge` or `rebase`; by default what the repository says') }),
  answers: {
    200: emptySchema,
    403: errorSchema,
    404: errorSchema,
    409: errorSchema,
    422: errorSchema,
    423: errorSchema,
  },
  async handle({ params, query, caller }, context) {
    await updatePull(context, caller, params, query.style ?? '');
    return { status: 200 };
  },
});

/** `GET /repos/{owner}/{repo}/pulls/{index}/merge` */
export const merged = endpoint({
  summary: 'Whether a pull request is merged: 204 or 404',
  access: 'reader',
  area: 'repository',
  params: numberedPath,
  answers: { 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await checkMerged(context, caller, params);
    return { status: 204 };
  },
});

/** `POST /repos/{owner}/{repo}/pulls/{index}/merge` */
export const merge = endpoint({
  summary: 'Merge a pull request, or have it merged once all checks succeed',
  access: 'caller',
  area: 'repository',
  params: numberedPath,
  body: z.object({
    do: optional.text,
    merge_title_field: optional.text,
    merge_message_field: optional.text,
    merge_commit_id: optional.text,
    head_commit_id: optional.text,
    force_merge: optional.boolean,
    merge_when_checks_succeed: optional.boolean,
    delete_branch_after_merge: optional.boolean,
    merge_stack: optional.boolean.describe('along with the pull requests it stands on, all or none'),
  }),
  answers: {
    200: emptySchema,
    201: emptySchema,
    403: errorSchema,
    404: errorSchema,
    405: errorSchema,
    409: errorSchema,
    422: errorSchema,
    423: errorSchema,
  },
  async handle({ params, body, caller }, context) {
    const outcome = await mergePull(context, caller, params, {
      style: body.do ?? '',
      title: body.merge_title_field ?? '',
      message: body.merge_message_field ?? '',
      headCommit: body.head_commit_id ?? '',
      mergeCommit: body.merge_commit_id ?? '',
      force: body.force_merge ?? false,
      whenChecksSucceed: body.merge_when_checks_succeed ?? false,
      deleteBranch: body.delete_branch_after_merge ?? undefined,
      stack: body.merge_stack ?? false,
    });
    return { status: outcome === 'merged' ? 200 : 201 };
  },
});

/** `DELETE /repos/{owner}/{repo}/pulls/{index}/merge` */
export const cancelMerge = endpoint({
  summary: 'Cancel a merge that was to happen once all checks succeed, or leave the merge queue',
  access: 'caller',
  area: 'repository',
  params: numberedPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 423: errorSchema },
  async handle({ params, caller }, context) {
    await cancelScheduledMerge(context, caller, params);
    return { status: 204 };
  },
});
