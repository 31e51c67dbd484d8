import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { userSchema } from '../users/user-json.ts';
import { emptySchema, errorSchema, pageParameters } from '../wire-schemas.ts';
import { checkIsMember, checkIsPublicMember } from './check-member.ts';
import { listMembers } from './list-members.ts';
import { publishMembership } from './publish-membership.ts';
import { removeMember } from './remove-member.ts';

const path = z.object({ org: z.string() });
const memberPath = path.extend({ username: z.string() });

/** `GET /orgs/{org}/members` */
export const list = endpoint({
  summary: 'Members of an organization; for others than members those who show it',
  access: 'reader',
  area: 'organization',
  params: path,
  query: z.object(pageParameters),
  answers: { 200: z.array(userSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listMembers(context, caller, params.org, query, 'all'));
  },
});

/** `GET /orgs/{org}/members/{username}` */
export const check = endpoint({
  summary: 'Whether somebody is a member; who is none himself is sent to the public members',
  access: 'reader',
  area: 'organization',
  params: memberPath,
  answers: { 204: emptySchema, 302: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    if ((await checkIsMember(context, caller, params)) === 'yes') return { status: 204 };
    const { org, username } = params;
    const place = `/orgs/${encodeURIComponent(org)}/public_members/${encodeURIComponent(username)}`;
    return { status: 302, headers: { location: context.links.api(place) } };
  },
});

/** `DELETE /orgs/{org}/members/{username}` */
export const remove = endpoint({
  summary: 'Take somebody out of all teams of an organization',
  access: 'caller',
  area: 'organization',
  params: memberPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await removeMember(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /orgs/{org}/public_members` */
export const listPublic = endpoint({
  summary: 'Members of an organization who show it',
  access: 'reader',
  area: 'organization',
  params: path,
  query: z.object(pageParameters),
  answers: { 200: z.array(userSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listMembers(context, caller, params.org, query, 'public'));
  },
});

/** `GET /orgs/{org}/public_members/{username}` */
export const checkPublic = endpoint({
  summary: 'Whether somebody is a member and shows it',
  access: 'reader',
  area: 'organization',
  params: memberPath,
  answers: { 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await checkIsPublicMember(context, caller, params);
    return { status: 204 };
  },
});

/** `PUT /orgs/{org}/public_members/{username}` */
export const show = endpoint({
  summary: 'Show the own membership to everybody',
  access: 'caller',
  area: 'organization',
  params: memberPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await publishMembership(context, caller, params, 'show');
    return { status: 204 };
  },
});

/** `DELETE /orgs/{org}/public_members/{username}` */
export const hide = endpoint({
  summary: 'Hide the own membership',
  access: 'caller',
  area: 'organization',
  params: memberPath,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await publishMembership(context, caller, params, 'hide');
    return { status: 204 };
  },
});
