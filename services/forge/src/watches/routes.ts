import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { repositorySchema } from '../repositories/repository-json.ts';
import { userSchema } from '../users/user-json.ts';
import { emptySchema, errorSchema, pageParameters, repositoryPath } from '../wire-schemas.ts';
import { listWatched, listWatchers } from './list-watches.ts';
import { watchSchema } from './watch-json.ts';
import { showWatch, unwatchRepository, watchRepository } from './watch-repository.ts';

/** `GET /repos/{owner}/{repo}/subscription` */
export const show = endpoint({
  summary: 'Whether the caller watches a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: watchSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showWatch(context, caller, params) };
  },
});

/** `PUT /repos/{owner}/{repo}/subscription` */
export const add = endpoint({
  summary: 'Watch a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: watchSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await watchRepository(context, caller, params) };
  },
});

/** `DELETE /repos/{owner}/{repo}/subscription` */
export const remove = endpoint({
  summary: 'Watch a repository no longer',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 204: emptySchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await unwatchRepository(context, caller, params);
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/subscribers` */
export const watchers = endpoint({
  summary: 'Who watches a repository',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(userSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listWatchers(context, caller, params, query));
  },
});

/** `GET /user/subscriptions` */
export const listOwn = endpoint({
  summary: 'Repositories the caller watches',
  access: 'caller',
  area: 'repository',
  query: z.object(pageParameters),
  answers: { 200: z.array(repositorySchema) },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listWatched(context, caller, caller.user.login, query));
  },
});

/** `GET /users/{username}/subscriptions` */
export const listOfUser = endpoint({
  summary: 'Repositories somebody watches, as far as the caller may see them',
  access: 'reader',
  area: 'repository',
  params: z.object({ username: z.string() }),
  query: z.object(pageParameters),
  answers: { 200: z.array(repositorySchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listWatched(context, caller, params.username, query));
  },
});
