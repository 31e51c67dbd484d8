import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { forbidden } from '../failures.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { findAccount } from '../users/find-user.ts';
import { emptySchema, errorSchema, optional, repositoryPath, requiredText } from '../wire-schemas.ts';
import { createRepository, type NewRepository } from './create-repository.ts';
import { deleteRepository } from './delete-repository.ts';
import { editRepository } from './edit-repository.ts';
import { presentRepository } from './present-repositories.ts';
import { repositorySchema } from './repository-json.ts';
import { showRepository, showRepositoryById } from './show-repository.ts';

const organizationPath = z.object({ org: z.string() });
const accountPath = z.object({ username: z.string() });

const newRepository = z.object({
  name: requiredText,
  description: optional.text,
  private: optional.boolean,
  template: optional.boolean,
  auto_init: optional.boolean,
  default_branch: optional.text,
  gitignores: optional.text,
  license: optional.text,
  readme: optional.text.describe('only `Default` there is'),
  issue_labels: optional.text.describe('one of `/label/templates`'),
  object_format_name: z.enum(['', 'sha1']).nullish(),
});

const readNew = (body: z.output<typeof newRepository>): NewRepository => ({
  name: body.name,
  description: body.description ?? '',
  private: body.private ?? false,
  template: body.template ?? false,
  autoInit: body.auto_init ?? false,
  defaultBranch: body.default_branch ?? '',
  licence: body.license ?? '',
  gitignores: body.gitignores ?? '',
  readme: body.readme ?? '',
  labelSet: body.issue_labels ?? '',
});

/** `POST /user/repos` */
export const create = endpoint({
  summary: 'Make a repository of the caller',
  access: 'caller',
  area: 'repository',
  body: newRepository,
  answers: { 201: repositorySchema, 409: errorSchema, 422: errorSchema },
  async handle({ body, caller }, context) {
    const made = await createRepository(context, caller, caller.user, readNew(body));
    return { status: 201, body: await presentRepository(context, caller, made) };
  },
});

/** `POST /orgs/{org}/repos`, and `POST /org/{org}/repos` for clients of long ago */
export const createInOrganization = endpoint({
  summary: 'Make a repository of an organization',
  access: 'caller',
  area: 'organization',
  params: organizationPath,
  body: newRepository,
  answers: { 201: repositorySchema, 403: errorSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    const { organization, creates } = await findOrganization(context, caller, params.org);
    if (!creates) throw forbidden('Given user is not allowed to create repository in organization.');
    const made = await createRepository(context, caller, organization, readNew(body));
    return { status: 201, body: await presentRepository(context, caller, made) };
  },
});

/** `POST /admin/users/{username}/repos` */
export const createForUser = endpoint({
  summary: 'Make a repository for somebody',
  access: 'caller',
  area: 'admin',
  params: accountPath,
  body: newRepository,
  answers: { 201: repositorySchema, 403: errorSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    if (!caller.isAdmin) throw forbidden('user should be the site admin');
    const owner = await findAccount(context, caller, params.username);
    const made = await createRepository(context, caller, owner, readNew(body));
    return { status: 201, body: await presentRepository(context, caller, made) };
  },
});

/** `GET /repos/{owner}/{repo}` */
export const show = endpoint({
  summary: 'A repository',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: repositorySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showRepository(context, caller, params) };
  },
});

/** `GET /repositories/{id}` */
export const showById = endpoint({
  summary: 'A repository by its id',
  access: 'reader',
  area: 'repository',
  params: z.object({ id: z.string() }),
  answers: { 200: repositorySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showRepositoryById(context, caller, params.id) };
  },
});

/** `PATCH /repos/{owner}/{repo}` */
export const edit = endpoint({
  summary: 'Change a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({
    name: optional.text,
    description: optional.text,
    website: optional.text,
    private: optional.boolean,
    template: optional.boolean,
    archived: optional.boolean,
    default_branch: optional.text,
    has_issues: optional.boolean,
    has_pull_requests: optional.boolean,
    has_releases: optional.boolean,
    internal_tracker: z
      .object({
        enable_time_tracker: optional.boolean,
        allow_only_contributors_to_track_time: optional.boolean,
        enable_issue_dependencies: optional.boolean,
      })
      .nullish(),
    allow_merge_commits: optional.boolean,
    allow_rebase: optional.boolean,
    allow_rebase_explicit: optional.boolean,
    allow_squash_merge: optional.boolean,
    allow_fast_forward_only_merge: optional.boolean,
    allow_manual_merge: optional.boolean,
    default_merge_style: optional.text,
    default_delete_branch_after_merge: optional.boolean,
    default_allow_maintainer_edit: optional.boolean,
    allow_merge_update: optional.boolean,
    allow_rebase_update: optional.boolean,
    default_update_style: optional.text,
  }),
  answers: { 200: repositorySchema, 403: errorSchema, 404: errorSchema, 422: errorSchema, 423: errorSchema },
  async handle({ params, body, caller }, context) {
    const found = await editRepository(context, caller, params, {
      name: body.name,
      description: body.description,
      website: body.website,
      private: body.private,
      template: body.template,
      archived: body.archived,
      defaultBranch: body.default_branch,
      hasIssues: body.has_issues,
      hasPulls: body.has_pull_requests,
      hasReleases: body.has_releases,
      tracksTime: body.internal_tracker?.enable_time_tracker,
      onlyContributorsTrackTime: body.internal_tracker?.allow_only_contributors_to_track_time,
      hasDependencies: body.internal_tracker?.enable_issue_dependencies,
      allowMerge: body.allow_merge_commits,
      allowRebase: body.allow_rebase,
      allowRebaseExplicit: body.allow_rebase_explicit,
      allowSquash: body.allow_squash_merge,
      allowFastForwardOnly: body.allow_fast_forward_only_merge,
      allowManualMerge: body.allow_manual_merge,
      defaultMergeStyle: body.default_merge_style,
      deleteBranchAfterMerge: body.default_delete_branch_after_merge,
      defaultMaintainerEdit: body.default_allow_maintainer_edit,
      allowMergeUpdate: body.allow_merge_update,
      allowRebaseUpdate: body.allow_rebase_update,
      defaultUpdateStyle: body.default_update_style,
    });
    return { status: 200, body: await presentRepository(context, caller, found) };
  },
});

/** `DELETE /repos/{owner}/{repo}` */
export const remove = endpoint({
  summary: 'Remove a repository with everything in it',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await deleteRepository(context, caller, params);
    return { status: 204 };
  },
});
