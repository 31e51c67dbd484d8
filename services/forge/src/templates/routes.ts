import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { errorSchema, repositoryPath } from '../wire-schemas.ts';
import { issueConfigSchema, issueTemplateSchema } from './read-template.ts';
import { listTemplates, showConfig } from './read-templates.ts';

/** `GET /repos/{owner}/{repo}/issue_templates` */
export const list = endpoint({
  summary: 'Templates of issues on the default branch',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.array(issueTemplateSchema), 404: errorSchema },
  async handle({ params, caller }, context) {
    const { templates, failed } = await listTemplates(context, caller, params);
    const warning = `error occurs when parsing issue template: count=${failed}`;
    return { status: 200, body: templates, headers: failed === 0 ? {} : { 'x-gitea-warning': warning } };
  },
});

/** `GET /repos/{owner}/{repo}/issue_config` */
export const config = endpoint({
  summary: 'How issues are to be opened',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: issueConfigSchema, 404: errorSchema },
  handle: async ({ params, caller }, context) => ({
    status: 200,
    body: (await showConfig(context, caller, params)).config,
  }),
});

/** `GET /repos/{owner}/{repo}/issue_config/validate` */
export const validate = endpoint({
  summary: 'Whether the configuration of issues can be read',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.object({ valid: z.boolean(), message: z.string() }), 404: errorSchema },
  async handle({ params, caller }, context) {
    const { problem } = await showConfig(context, caller, params);
    return { status: 200, body: { valid: problem === '', message: problem } };
  },
});
