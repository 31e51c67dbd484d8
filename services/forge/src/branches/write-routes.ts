import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { emptySchema, errorSchema, optional, repositoryPath, requiredText } from '../wire-schemas.ts';
import { branchSchema } from './branch-json.ts';
import { createBranch } from './create-branch.ts';
import { deleteBranch } from './delete-branch.ts';
import { renameBranch } from './rename-branch.ts';
import { updateBranch } from './update-branch.ts';

const branchPath = repositoryPath.extend({ '*': z.string() });
const refused = { 403: errorSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema, 423: errorSchema };

/** `POST /repos/{owner}/{repo}/branches` */
export const create = endpoint({
  summary: 'Make a branch',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({
    new_branch_name: requiredText,
    old_branch_name: optional.text,
    old_ref_name: optional.text,
  }),
  answers: { 201: branchSchema, ...refused },
  async handle({ params, body, caller }, context) {
    const wanted = {
      name: body.new_branch_name,
      from: body.old_branch_name ?? '',
      fromRef: body.old_ref_name ?? '',
    };
    return { status: 201, body: await createBranch(context, caller, params, wanted) };
  },
});

/** `DELETE /repos/{owner}/{repo}/branches/{branch}`, slashes in the name encoded or not */
export const remove = endpoint({
  summary: 'Delete a branch',
  access: 'caller',
  area: 'repository',
  params: branchPath,
  answers: { 204: emptySchema, ...refused },
  async handle({ params: { '*': branch, ...path }, caller }, context) {
    await deleteBranch(context, caller, { ...path, branch });
    return { status: 204 };
  },
});

/** `PATCH /repos/{owner}/{repo}/branches/{branch}` */
export const rename = endpoint({
  summary: 'Give a branch another name',
  access: 'caller',
  area: 'repository',
  params: branchPath,
  body: z.object({ name: requiredText }),
  answers: { 204: emptySchema, ...refused },
  async handle({ params: { '*': branch, ...path }, body, caller }, context) {
    await renameBranch(context, caller, { ...path, branch }, body.name);
    return { status: 204 };
  },
});

/** `PUT /repos/{owner}/{repo}/branches/{branch}` */
export const update = endpoint({
  summary: 'Move a branch to a commit',
  access: 'caller',
  area: 'repository',
  params: branchPath,
  body: z.object({ new_commit_id: requiredText, old_commit_id: optional.text, force: optional.boolean }),
  answers: { 204: emptySchema, ...refused },
  async handle({ params: { '*': branch, ...path }, body, caller }, context) {
    const target = {
      commit: body.new_commit_id,
      expected: body.old_commit_id ?? '',
      force: body.force ?? false,
    };
    await updateBranch(context, caller, { ...path, branch }, target);
    return { status: 204 };
  },
});
