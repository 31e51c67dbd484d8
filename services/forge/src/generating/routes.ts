import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { unacceptable } from '../failures.ts';
import { presentRepository } from '../repositories/present-repositories.ts';
import { repositorySchema } from '../repositories/repository-json.ts';
import { errorSchema, optional, repositoryPath, requiredText } from '../wire-schemas.ts';
import { generateRepository } from './generate-repository.ts';

/** Items of the reference that have something to copy here, and are not copied. */
const NOT_COPIED = ['webhooks', 'protected_branch'] as const;
const notCopied = optional.boolean.describe('refused: they hold what is for administrators of the template');

/** `POST /repos/{template_owner}/{template_repo}/generate` */
export const create = endpoint({
  summary: 'Make a repository of a template',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({
    owner: optional.text,
    name: requiredText,
    description: optional.text,
    private: optional.boolean,
    default_branch: optional.text,
    git_content: optional.boolean.describe('the files of the default branch, without their history'),
    topics: optional.boolean,
    labels: optional.boolean,
    webhooks: notCopied,
    protected_branch: notCopied,
  }),
  answers: { 201: repositorySchema, 403: errorSchema, 404: errorSchema, 409: errorSchema, 422: errorSchema },
  async handle({ params, body, caller }, context) {
    const refused = NOT_COPIED.find((item) => body[item] === true);
    if (refused !== undefined) throw unacceptable(`${refused} of a template cannot be copied`);
    const made = await generateRepository(context, caller, params, {
      owner: body.owner ?? '',
      name: body.name,
      description: body.description ?? '',
      private: body.private ?? false,
      defaultBranch: body.default_branch ?? '',
      items: {
        gitContent: body.git_content ?? false,
        topics: body.topics ?? false,
        labels: body.labels ?? false,
      },
    });
    return { status: 201, body: await presentRepository(context, caller, made) };
  },
});
