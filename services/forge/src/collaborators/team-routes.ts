import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { teamSchema } from '../teams/team-json.ts';
import { emptySchema, errorSchema, repositoryPath } from '../wire-schemas.ts';
import { giveToTeam, takeFromTeam } from './change-team-access.ts';
import { listTeamsOfRepository, showTeamOfRepository } from './list-teams-of-repository.ts';

const teamPath = repositoryPath.extend({ team: z.string() });
const answers = {
  204: emptySchema,
  403: errorSchema,
  404: errorSchema,
  405: errorSchema,
  422: errorSchema,
};

/** `GET /repos/{owner}/{repo}/teams` */
export const list = endpoint({
  summary: 'Teams that reach a repository',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.array(teamSchema), 404: errorSchema, 405: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await listTeamsOfRepository(context, caller, params) };
  },
});

/** `GET /repos/{owner}/{repo}/teams/{team}` */
export const check = endpoint({
  summary: 'A team that reaches a repository',
  access: 'caller',
  area: 'repository',
  params: teamPath,
  answers: { 200: teamSchema, 404: errorSchema, 405: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showTeamOfRepository(context, caller, params) };
  },
});

/** `PUT /repos/{owner}/{repo}/teams/{team}` */
export const add = endpoint({
  summary: 'Give a repository to a team',
  access: 'caller',
  area: 'repository',
  params: teamPath,
  answers,
  async handle({ params, caller }, context) {
    await giveToTeam(context, caller, params);
    return { status: 204 };
  },
});

/** `DELETE /repos/{owner}/{repo}/teams/{team}` */
export const remove = endpoint({
  summary: 'Take a repository from a team',
  access: 'caller',
  area: 'repository',
  params: teamPath,
  answers,
  async handle({ params, caller }, context) {
    await takeFromTeam(context, caller, params);
    return { status: 204 };
  },
});
