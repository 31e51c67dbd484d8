import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { createOrganization } from '../organizations/create-organization.ts';
import { listOrganizations } from '../organizations/list-organizations.ts';
import { fieldsOf, newOrganization } from '../organizations/new-organization.ts';
import { organizationJson, organizationSchema } from '../organizations/organization-json.ts';
import { findPerson } from '../users/find-user.ts';
import { renameAccount } from '../users/rename-account.ts';
import { searchUsers } from '../users/search-users.ts';
import { userSchema } from '../users/user-json.ts';
import { emptySchema, errorSchema, pageParameters, requiredText } from '../wire-schemas.ts';
import { deleteAccount } from './delete-account.ts';

const path = z.object({ username: z.string() });

/** `GET /admin/users` */
export const users = endpoint({
  summary: 'All people',
  access: 'caller',
  area: 'admin',
  query: z.object(pageParameters),
  answers: { 200: z.array(userSchema), 403: errorSchema },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await searchUsers(context, caller, query));
  },
});

/** `GET /admin/orgs` */
export const organizations = endpoint({
  summary: 'All organizations',
  access: 'caller',
  area: 'admin',
  query: z.object(pageParameters),
  answers: { 200: z.array(organizationSchema), 403: errorSchema },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listOrganizations(context, caller, query));
  },
});

/** `POST /admin/users/{username}/orgs` */
export const createOrganizationFor = endpoint({
  summary: 'Make an organization whose first owner is somebody else',
  access: 'caller',
  area: 'admin',
  params: path,
  body: newOrganization,
  answers: { 201: organizationSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    const owner = await findPerson(context, params.username);
    const made = await createOrganization(context, caller, owner.id, body.username, fieldsOf(body));
    return { status: 201, body: organizationJson(made, caller, context.links) };
  },
});

/** `POST /admin/users/{username}/rename` */
export const renameUser = endpoint({
  summary: 'Give a person another name; the old one leads to it',
  access: 'caller',
  area: 'admin',
  params: path,
  body: z.object({ new_username: requiredText }),
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, body }, context) {
    await renameAccount(context, await findPerson(context, params.username), body.new_username);
    return { status: 204 };
  },
});

/** `DELETE /admin/users/{username}` */
export const removeUser = endpoint({
  summary: 'Remove an account; what its owner wrote stays',
  access: 'caller',
  area: 'admin',
  params: path,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, caller }, context) {
    await deleteAccount(context, caller, params.username);
    return { status: 204 };
  },
});
