import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../failures.ts';
import { errorSchema } from '../wire-schemas.ts';
import { GITIGNORES } from './gitignores.ts';
import { findLabelSet, LABEL_SETS } from './label-sets.ts';
import { LICENCES } from './licences.ts';

const nameOnly = z.object({ name: z.string() });
const licenceSchema = z.object({ key: z.string(), name: z.string(), url: z.string() });

/** `GET /licenses` */
export const licences = endpoint({
  summary: 'Licences a repository may start with',
  access: 'public',
  area: 'misc',
  answers: { 200: z.array(licenceSchema) },
  async handle(_call, { links }) {
    const body = LICENCES.map(({ key, name }) => ({ key, name, url: links.api(`/licenses/${key}`) }));
    return { status: 200, body };
  },
});

/** `GET /licenses/{name}` */
export const licence = endpoint({
  summary: 'A licence with its text',
  access: 'public',
  area: 'misc',
  params: nameOnly,
  answers: {
    200: licenceSchema.extend({ implementation: z.string(), body: z.string() }),
    404: errorSchema,
  },
  async handle({ params }, { links }) {
    const found = LICENCES.find(({ key }) => key.toLowerCase() === params.name.toLowerCase());
    if (found === undefined) throw notFound();
    const { key, name, url, body } = found;
    return {
      status: 200,
      body: { key, name, url: links.api(`/licenses/${key}`), implementation: url, body },
    };
  },
});

/** `GET /gitignore/templates` */
export const gitignores = endpoint({
  summary: 'Names of gitignore templates',
  access: 'public',
  area: 'misc',
  answers: { 200: z.array(z.string()) },
  async handle() {
    return { status: 200, body: Object.keys(GITIGNORES) };
  },
});

/** `GET /gitignore/templates/{name}` */
export const gitignore = endpoint({
  summary: 'A gitignore template',
  access: 'public',
  area: 'misc',
  params: nameOnly,
  answers: { 200: z.object({ name: z.string(), source: z.string() }), 404: errorSchema },
  async handle({ params }) {
    const found = Object.entries(GITIGNORES).find(
      ([name]) => name.toLowerCase() === params.name.toLowerCase(),
    );
    if (found === undefined) throw notFound();
    return { status: 200, body: { name: found[0], source: found[1] } };
  },
});

/** `GET /label/templates` */
export const labelSets = endpoint({
  summary: 'Names of label sets a repository may start with',
  access: 'public',
  area: 'misc',
  answers: { 200: z.array(z.string()) },
  async handle() {
    return { status: 200, body: Object.keys(LABEL_SETS) };
  },
});

/** `GET /label/templates/{name}` */
export const labelSet = endpoint({
  summary: 'The labels of a set',
  access: 'public',
  area: 'misc',
  params: nameOnly,
  answers: {
    200: z.array(
      z.object({
        name: z.string(),
        color: z.string(),
        description: z.string(),
        exclusive: z.boolean(),
      }),
    ),
    404: errorSchema,
  },
  async handle({ params }) {
    const labels = findLabelSet(params.name);
    if (labels === undefined) throw notFound();
    return { status: 200, body: [...labels] };
  },
});
