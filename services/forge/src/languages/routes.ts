import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { errorSchema, repositoryPath } from '../wire-schemas.ts';
import { showLanguages } from './show-languages.ts';
import { showLicenses } from './show-licenses.ts';

/** `GET /repos/{owner}/{repo}/languages` */
export const list = endpoint({
  summary: 'Bytes of the default branch in each language',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.record(z.string(), z.int()), 404: errorSchema, 422: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showLanguages(context, caller, params) };
  },
});

/** `GET /repos/{owner}/{repo}/licenses` */
export const licenses = endpoint({
  summary: 'SPDX ids of the licenses in the root of the default branch',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.array(z.string()), 404: errorSchema },
  async handle({ params, caller }, context) {
    return { status: 200, body: await showLicenses(context, caller, params) };
  },
});
