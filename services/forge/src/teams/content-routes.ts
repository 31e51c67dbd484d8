import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { listRepositories, NEWEST_FIRST } from '../repositories/list-repositories.ts';
import { presentRepository } from '../repositories/present-repositories.ts';
import { repositorySchema } from '../repositories/repository-json.ts';
import { userSchema } from '../users/user-json.ts';
import { emptySchema, errorSchema, pageParameters } from '../wire-schemas.ts';
import { addTeamMember, removeTeamMember } from './change-members.ts';
import { addTeamRepository, findTeamRepository, removeTeamRepository } from './change-repositories.ts';
import { findTeam } from './find-team.ts';
import { listTeamMembers, showTeamMember } from './list-team-members.ts';

const path = z.object({ id: z.string() });
const memberPath = path.extend({ username: z.string() });
const repositoryPath = path.extend({ org: z.string(), repo: z.string() });
const refusals = { 403: errorSchema, 404: errorSchema };

/** `GET /teams/{id}/members` */
export const members = endpoint({
  summary: 'Members of a team',
  access: 'caller',
  area: 'organization',
  params: path,
  query: z.object(pageParameters),
  answers: { 200: z.array(userSchema), ...refusals },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listTeamMembers(context, caller, params.id, query));
  },
});

/** `GET /teams/{id}/members/{username}` */
export const member = endpoint({
  summary: 'A member of a team',
  access: 'caller',
  area: 'organization',
  params: memberPath,
  answers: { 200: userSchema, ...refusals },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showTeamMember(context, caller, params) };
  },
});

/** `PUT /teams/{id}/members/{username}` */
export const addMember = endpoint({
  summary: 'Put somebody into a team',
  access: 'caller',
  area: 'organization',
  params: memberPath,
  answers: { 204: emptySchema, ...refusals },
  async handle({ params, caller }, context) {
    await addTeamMember(context, caller, params);
    return { status: 204 };
  },
});

/** `DELETE /teams/{id}/members/{username}` */
export const removeMember = endpoint({
  summary: 'Take somebody out of a team',
  access: 'caller',
  area: 'organization',
  params: memberPath,
  answers: { 204: emptySchema, ...refusals },
  async handle({ params, caller }, context) {
    await removeTeamMember(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /teams/{id}/repos` */
export const repositories = endpoint({
  summary: 'Repositories a team reaches, as far as the caller may see them',
  access: 'caller',
  area: 'organization',
  params: path,
  query: z.object(pageParameters),
  answers: { 200: z.array(repositorySchema), ...refusals },
  async handle({ params, query, caller, url }, context) {
    const { team } = await findTeam(context, caller, params.id);
    const filter = { teamId: team.id, ...NEWEST_FIRST };
    return listAnswer(context, url, await listRepositories(context, caller, filter, query));
  },
});

/** `GET /teams/{id}/repos/{org}/{repo}` */
export const repository = endpoint({
  summary: 'A repository a team reaches',
  access: 'caller',
  area: 'organization',
  params: repositoryPath,
  answers: { 200: repositorySchema, ...refusals },
  async handle({ params, caller }, context) {
    const found = await findTeamRepository(context, caller, params);
    return { status: 200, body: await presentRepository(context, caller, found) };
  },
});

/** `PUT /teams/{id}/repos/{org}/{repo}` */
export const addRepository = endpoint({
  summary: 'Give a team a repository of its organization',
  access: 'caller',
  area: 'organization',
  params: repositoryPath,
  answers: { 204: emptySchema, ...refusals },
  async handle({ params, caller }, context) {
    await addTeamRepository(context, caller, params);
    return { status: 204 };
  },
});

/** `DELETE /teams/{id}/repos/{org}/{repo}` */
export const removeRepository = endpoint({
  summary: 'Take a repository from a team',
  access: 'caller',
  area: 'organization',
  params: repositoryPath,
  answers: { 204: emptySchema, ...refusals },
  async handle({ params, caller }, context) {
    await removeTeamRepository(context, caller, params);
    return { status: 204 };
  },
});
