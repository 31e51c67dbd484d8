import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { readRepositoryFilter } from '../rules/repositories/repository-filter.ts';
import { findAccount } from '../users/find-user.ts';
import { errorSchema, pageParameters, parameter } from '../wire-schemas.ts';
import { listRepositories, NEWEST_FIRST } from './list-repositories.ts';
import { repositorySchema } from './repository-json.ts';

const listAnswers = { 200: z.array(repositorySchema), 404: errorSchema };

/** `GET /user/repos` */
export const listOwn = endpoint({
  summary: 'Repositories of the caller, and those others gave him, newest first',
  access: 'caller',
  area: 'repository',
  query: z.object(pageParameters),
  answers: { 200: z.array(repositorySchema) },
  async handle({ query, caller, url }, context) {
    const filter = { ownerId: caller.userId, reach: 'both', ...NEWEST_FIRST } as const;
    return listAnswer(context, url, await listRepositories(context, caller, filter, query));
  },
});

/** `GET /users/{username}/repos` */
export const listOfUser = endpoint({
  summary: 'Repositories of an account, newest first',
  access: 'reader',
  area: 'repository',
  params: z.object({ username: z.string() }),
  query: z.object(pageParameters),
  answers: listAnswers,
  async handle({ params, query, caller, url }, context) {
    const owner = await findAccount(context, caller, params.username);
    const filter = { ownerId: owner.id, ...NEWEST_FIRST };
    return listAnswer(context, url, await listRepositories(context, caller, filter, query));
  },
});

/** `GET /orgs/{org}/repos` */
export const listOfOrganization = endpoint({
  summary: 'Repositories of an organization, newest first',
  access: 'reader',
  area: 'organization',
  params: z.object({ org: z.string() }),
  query: z.object(pageParameters),
  answers: listAnswers,
  async handle({ params, query, caller, url }, context) {
    const { organization } = await findOrganization(context, caller, params.org);
    const filter = { ownerId: organization.id, ...NEWEST_FIRST };
    return listAnswer(context, url, await listRepositories(context, caller, filter, query));
  },
});

/** `GET /repos/search` */
export const search = endpoint({
  summary: 'Search repositories',
  access: 'reader',
  area: 'repository',
  query: z.object({
    q: parameter,
    topic: parameter,
    includeDesc: parameter,
    uid: parameter,
    priority_owner_id: parameter,
    team_id: parameter,
    starredBy: parameter,
    private: parameter,
    is_private: parameter,
    template: parameter,
    archived: parameter,
    mode: parameter,
    exclusive: parameter,
    sort: parameter,
    order: parameter,
    ...pageParameters,
  }),
  answers: { 200: z.object({ ok: z.boolean(), data: z.array(repositorySchema) }), 422: errorSchema },
  async handle({ query, caller, url }, context) {
    const found = await listRepositories(context, caller, readRepositoryFilter(query), query);
    const answer = listAnswer(context, url, found);
    return { ...answer, body: { ok: true, data: answer.body } };
  },
});
