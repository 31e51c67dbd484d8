import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound, unacceptable } from '../failures.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as teamRepositories from '../store/people/team-repositories.ts';
import * as repositoryTeams from '../store/repositories/repository-teams.ts';
import { teamJson, teamSchema } from '../teams/team-json.ts';
import { emptySchema, errorSchema, repositoryPath } from '../wire-schemas.ts';
import { findOfOrganization, findTeamToChange } from './find-team.ts';

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
    const { owner, repository } = await findOfOrganization(context, caller, params);
    const teams = await repositoryTeams.list(context.database.autocommit(), repository.id, viewerOf(caller));
    return { status: 200, body: teams.map((team) => teamJson(team, owner, caller)) };
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
    const { owner, repository } = await findOfOrganization(context, caller, params);
    const teams = await repositoryTeams.list(context.database.autocommit(), repository.id, viewerOf(caller));
    const team = teams.find(({ name_key: key }) => key === params.team.toLowerCase());
    if (team === undefined) throw notFound();
    return { status: 200, body: teamJson(team, owner, caller) };
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
    const { repository, team, reaches } = await findTeamToChange(context, caller, params);
    if (reaches) throw unacceptable(`team '${team.name}' is already added to repo`);
    await teamRepositories.add(context.database.autocommit(), team.id, repository.id);
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
    const { repository, team } = await findTeamToChange(context, caller, params);
    if (!(await teamRepositories.remove(context.database.autocommit(), team.id, repository.id)))
      throw unacceptable(`team '${team.name}' was not added to repo`);
    return { status: 204 };
  },
});
