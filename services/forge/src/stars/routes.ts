import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { listRepositories, NEWEST_FIRST } from '../repositories/list-repositories.ts';
import { repositorySchema } from '../repositories/repository-json.ts';
import { findPerson } from '../users/find-user.ts';
import { userSchema } from '../users/user-json.ts';
import { emptySchema, errorSchema, pageParameters, repositoryPath } from '../wire-schemas.ts';
import { listStargazers } from './list-stargazers.ts';
import { checkStarred, starRepository, unstarRepository } from './star-repository.ts';

/** `GET /user/starred` */
export const listOwn = endpoint({
  summary: 'Repositories the caller starred',
  access: 'caller',
  area: 'repository',
  query: z.object(pageParameters),
  answers: { 200: z.array(repositorySchema) },
  async handle({ query, caller, url }, context) {
    const filter = { starredBy: caller.userId, ...NEWEST_FIRST };
    return listAnswer(context, url, await listRepositories(context, caller, filter, query));
  },
});

/** `GET /users/{username}/starred` */
export const listOfUser = endpoint({
  summary: 'Repositories somebody starred, as far as the caller may see them',
  access: 'reader',
  area: 'repository',
  params: z.object({ username: z.string() }),
  query: z.object(pageParameters),
  answers: { 200: z.array(repositorySchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    const person = await findPerson(context, params.username);
    const filter = { starredBy: person.id, ...NEWEST_FIRST };
    return listAnswer(context, url, await listRepositories(context, caller, filter, query));
  },
});

/** `GET /user/starred/{owner}/{repo}` */
export const check = endpoint({
  summary: 'Whether the caller starred a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await checkStarred(context, caller, params);
    return { status: 204 };
  },
});

/** `PUT /user/starred/{owner}/{repo}` */
export const add = endpoint({
  summary: 'Star a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await starRepository(context, caller, params);
    return { status: 204 };
  },
});

/** `DELETE /user/starred/{owner}/{repo}` */
export const remove = endpoint({
  summary: 'Take a star back',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await unstarRepository(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/stargazers` */
export const stargazers = endpoint({
  summary: 'Who starred a repository',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(userSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listStargazers(context, caller, params, query));
  },
});
