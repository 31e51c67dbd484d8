import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { emptySchema, errorSchema, parameter, repositoryPath } from '../wire-schemas.ts';
import { hookEndpoints } from './hook-endpoints.ts';
import { ofCaller, ofOrganization, ofRepository, ofSystem } from './hook-place.ts';
import { testHook } from './test-hook.ts';

/** `/repos/{owner}/{repo}/hooks` */
export const repository = hookEndpoints('a repository', 'repository', repositoryPath, ofRepository);

/** `/orgs/{org}/hooks` */
export const organization = hookEndpoints(
  'an organization',
  'organization',
  z.object({ org: z.string() }),
  ofOrganization,
);

/** `/user/hooks` */
export const caller = hookEndpoints('the caller', 'user', z.object({}), ofCaller);

/** `/admin/hooks` */
export const system = hookEndpoints('the system', 'admin', z.object({}), ofSystem);

/** `POST /repos/{owner}/{repo}/hooks/{id}/tests` */
export const test = endpoint({
  summary: 'Send a push that moved nothing to a webhook of a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath.extend({ id: z.string() }),
  query: z.object({ ref: parameter }),
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, query, caller: who }, context) {
    const hook = await repository.findHook(context, who, params);
    await testHook(context, who, params, hook, query.ref ?? '');
    return { status: 204 };
  },
});
