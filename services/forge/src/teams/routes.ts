import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import { emptySchema, errorSchema, optional, pageParameters, parameter } from '../wire-schemas.ts';
import { createTeam } from './create-team.ts';
import { deleteTeam } from './delete-team.ts';
import { editTeam } from './edit-team.ts';
import { findTeam } from './find-team.ts';
import { listOwnTeams, listTeams } from './list-teams.ts';
import { teamJson, teamSchema } from './team-json.ts';

const organizationPath = z.object({ org: z.string() });
const path = z.object({ id: z.string() });
const fields = {
  description: optional.text,
  includes_all_repositories: optional.boolean,
  permission: optional.text,
  units: optional.texts,
  units_map: z.record(z.string(), z.string()).nullish(),
  can_create_org_repo: optional.boolean,
  visibility: z.enum(['public', 'limited', 'private']).or(z.literal('')).nullish(),
};

/** `GET /orgs/{org}/teams` */
export const list = endpoint({
  summary: 'Teams of an organization, for its members',
  access: 'caller',
  area: 'organization',
  params: organizationPath,
  query: z.object(pageParameters),
  answers: { 200: z.array(teamSchema), 403: errorSchema, 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listTeams(context, caller, params.org, query));
  },
});

/** `GET /orgs/{org}/teams/search` */
export const search = endpoint({
  summary: 'Teams of an organization by a part of their name or description',
  access: 'caller',
  area: 'organization',
  params: organizationPath,
  query: z.object({ ...pageParameters, q: parameter, include_desc: parameter }),
  answers: {
    200: z.object({ ok: z.boolean(), data: z.array(teamSchema) }),
    403: errorSchema,
    404: errorSchema,
  },
  async handle({ params, query, caller, url }, context) {
    const found = await listTeams(context, caller, params.org, query, query);
    const answer = listAnswer(context, url, found);
    return { ...answer, body: { ok: true, data: found.items } };
  },
});

/** `GET /user/teams` */
export const listOwn = endpoint({
  summary: 'Teams the caller is in',
  access: 'caller',
  area: 'organization',
  query: z.object(pageParameters),
  answers: { 200: z.array(teamSchema) },
  async handle({ query, caller, url }, context) {
    return listAnswer(context, url, await listOwnTeams(context, caller, query));
  },
});

/** `POST /orgs/{org}/teams` */
export const create = endpoint({
  summary: 'Make a team',
  access: 'caller',
  area: 'organization',
  params: organizationPath,
  body: z.object({ name: z.string().trim().min(1, 'Required'), ...fields }),
  answers: { 201: teamSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    const { team, organization } = await createTeam(context, caller, params.org, {
      name: body.name,
      description: body.description ?? '',
      includesAllRepositories: body.includes_all_repositories ?? false,
      canCreateRepositories: body.can_create_org_repo ?? false,
      visibility: body.visibility || 'limited',
      permission: body.permission,
      units: body.units,
      unitsMap: body.units_map,
    });
    return { status: 201, body: teamJson(team, organization, caller, context.links) };
  },
});

/** `GET /teams/{id}` */
export const show = endpoint({
  summary: 'A team',
  access: 'caller',
  area: 'organization',
  params: path,
  answers: { 200: teamSchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const { team, organization } = await findTeam(context, caller, params.id);
    return { status: 200, body: teamJson(team, organization, caller, context.links) };
  },
});

/** `PATCH /teams/{id}` */
export const edit = endpoint({
  summary: 'Change a team',
  access: 'caller',
  area: 'organization',
  params: path,
  body: z.object({ name: optional.text, ...fields }),
  answers: { 200: teamSchema, 403: errorSchema, 404: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    const { team, organization } = await editTeam(context, caller, params.id, {
      name: body.name?.trim(),
      description: body.description ?? undefined,
      includesAllRepositories: body.includes_all_repositories ?? undefined,
      canCreateRepositories: body.can_create_org_repo ?? undefined,
      visibility: body.visibility || undefined,
      permission: body.permission,
      units: body.units,
      unitsMap: body.units_map,
    });
    return { status: 200, body: teamJson(team, organization, caller, context.links) };
  },
});

/** `DELETE /teams/{id}` */
export const remove = endpoint({
  summary: 'Remove a team; who is in no other leaves the organization',
  access: 'caller',
  area: 'organization',
  params: path,
  answers: { 204: emptySchema, 403: errorSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    await deleteTeam(context, caller, params.id);
    return { status: 204 };
  },
});
