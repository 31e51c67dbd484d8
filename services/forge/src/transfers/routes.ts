import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { presentRepository } from '../repositories/present-repositories.ts';
import { repositorySchema } from '../repositories/repository-json.ts';
import { errorSchema, optional, repositoryPath, requiredText } from '../wire-schemas.ts';
import { acceptTransfer, rejectTransfer, transferRepository } from './transfer-repository.ts';

const refusals = { 403: errorSchema, 404: errorSchema, 422: errorSchema };

/** `POST /repos/{owner}/{repo}/transfer` */
export const create = endpoint({
  summary: 'Give a repository to another owner',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({ new_owner: requiredText, team_ids: optional.integers }),
  answers: { 202: repositorySchema, ...refusals },
  async handle({ params, body, caller }, context) {
    const wanted = { newOwner: body.new_owner, teamIds: body.team_ids ?? [] };
    const found = await transferRepository(context, caller, params, wanted);
    return { status: 202, body: await presentRepository(context, caller, found) };
  },
});

/** `POST /repos/{owner}/{repo}/transfer/accept` */
export const accept = endpoint({
  summary: 'Take a repository that somebody gives',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 202: repositorySchema, ...refusals },
  async handle({ params, caller }, context) {
    const found = await acceptTransfer(context, caller, params);
    return { status: 202, body: await presentRepository(context, caller, found) };
  },
});

/** `POST /repos/{owner}/{repo}/transfer/reject` */
export const reject = endpoint({
  summary: 'Say no to a repository that somebody gives',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: repositorySchema, ...refusals },
  async handle({ params, caller }, context) {
    const found = await rejectTransfer(context, caller, params);
    return { status: 200, body: await presentRepository(context, caller, found) };
  },
});
