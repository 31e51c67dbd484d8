import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { emptySchema, errorSchema, pageParameters, requiredText } from '../wire-schemas.ts';
import { createOrganization } from './create-organization.ts';
import { deleteOrganization } from './delete-organization.ts';
import { editOrganization } from './edit-organization.ts';
import { findOrganization } from './find-organization.ts';
import { listOrganizations, listOrganizationsOf } from './list-organizations.ts';
import { fieldsOf, newOrganization, organizationProfile } from './new-organization.ts';
import { organizationJson, organizationSchema } from './organization-json.ts';
import { renameOrganization } from './rename-organization.ts';
import { organizationPermissionsSchema, showPermissions } from './show-permissions.ts';

const path = z.object({ org: z.string() });
/** `POST /orgs` */
export const create = endpoint({
  summary: 'Make an organization; its maker is its first owner',
  access: 'caller',
  area: 'organization',
  body: newOrganization,
  answers: { 201: organizationSchema, 403: errorSchema, 422: errorSchema },
  async handle({ body, caller }, context) {
    const made = await createOrganization(context, caller, caller.userId, body.username, fieldsOf(body));
    return { status: 201, body: organizationJson(made, caller, context.links) };
  },
});

/** `GET /orgs` */
export const list = endpoint({
  summary: 'Organizations the caller may know of',
  access: 'reader',
  area: 'organization',
  query: z.object(pageParameters),
  answers: { 200: z.array(organizationSchema) },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listOrganizations(context, caller, query));
  },
});

/** `GET /user/orgs` */
export const listOwn = endpoint({
  summary: 'Organizations of the caller',
  access: 'caller',
  area: 'organization',
  query: z.object(pageParameters),
  answers: { 200: z.array(organizationSchema) },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listOrganizationsOf(context, caller, caller.user.login, query));
  },
});

/** `GET /users/{username}/orgs` */
export const listOfUser = endpoint({
  summary: "Somebody's organizations, as far as the caller may know of the membership",
  access: 'reader',
  area: 'organization',
  params: z.object({ username: z.string() }),
  query: z.object(pageParameters),
  answers: { 200: z.array(organizationSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listOrganizationsOf(context, caller, params.username, query));
  },
});

/** `GET /users/{username}/orgs/{org}/permissions` */
export const permissions = endpoint({
  summary: 'What somebody may do in an organization',
  access: 'caller',
  area: 'organization',
  params: path.extend({ username: z.string() }),
  answers: { 200: organizationPermissionsSchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showPermissions(context, caller, params) };
  },
});

/** `GET /orgs/{org}` */
export const show = endpoint({
  summary: 'An organization',
  access: 'reader',
  area: 'organization',
  params: path,
  answers: { 200: organizationSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const { organization } = await findOrganization(context, caller, params.org);
    return { status: 200, body: organizationJson(organization, caller, context.links) };
  },
});

/** `PATCH /orgs/{org}` */
export const edit = endpoint({
  summary: 'Change what an organization says of itself, and who may know of it',
  access: 'caller',
  area: 'organization',
  params: path,
  body: z.object(organizationProfile),
  answers: { 200: organizationSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    const after = await editOrganization(context, caller, params.org, {
      fullName: body.full_name ?? undefined,
      email: body.email ?? undefined,
      description: body.description ?? undefined,
      website: body.website ?? undefined,
      location: body.location ?? undefined,
      visibility: body.visibility ?? undefined,
      repositoryAdminsManageTeams: body.repo_admin_change_team_access ?? undefined,
    });
    return { status: 200, body: organizationJson(after, caller, context.links) };
  },
});

/** `POST /orgs/{org}/rename` */
export const rename = endpoint({
  summary: 'Give an organization another name',
  access: 'caller',
  area: 'organization',
  params: path,
  body: z.object({ new_name: requiredText }),
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    await renameOrganization(context, caller, params.org, body.new_name);
    return { status: 204 };
  },
});

/** `DELETE /orgs/{org}` */
export const remove = endpoint({
  summary: 'Remove an organization that has no repositories',
  access: 'caller',
  area: 'organization',
  params: path,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, caller }, context) {
    await deleteOrganization(context, caller, params.org);
    return { status: 204 };
  },
});
