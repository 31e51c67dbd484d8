import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { listAnswer } from '../list-answer.ts';
import {
  emptySchema,
  errorSchema,
  optional,
  pageParameters,
  parameter,
  repositoryPath,
  requiredText,
  storable,
} from '../wire-schemas.ts';
import { createRelease } from './create-release.ts';
import { deleteRelease } from './delete-release.ts';
import { editRelease } from './edit-release.ts';
import { findLatest, findRelease } from './find-release.ts';
import { listReleases } from './list-releases.ts';
import { presentRelease } from './present-releases.ts';
import { releaseSchema } from './release-json.ts';

const onePath = repositoryPath.extend({ release: z.string() });
const tagPath = repositoryPath.extend({ '*': z.string() });
const fields = {
  target_commitish: optional.line,
  name: optional.line,
  body: optional.text,
  draft: optional.boolean,
  prerelease: optional.boolean,
};
const refusals = { 403: errorSchema, 404: errorSchema, 423: errorSchema };
const notWritten = { ...refusals, 409: errorSchema, 422: errorSchema };

/** `GET /repos/{owner}/{repo}/releases` */
export const list = endpoint({
  summary: 'Releases of a repository, newest first; drafts for those who write',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  query: z.object({ draft: parameter, 'pre-release': parameter, ...pageParameters }),
  answers: { 200: z.array(releaseSchema), 404: errorSchema },
  async handle({ params, query, caller, url }, context) {
    return listAnswer(context, url, await listReleases(context, caller, params, query));
  },
});

/** `POST /repos/{owner}/{repo}/releases` */
export const create = endpoint({
  summary: 'Make a release, and its tag if there is none; a draft makes none',
  access: 'caller',
  area: 'repository',
  params: repositoryPath,
  body: z.object({ tag_name: requiredText, ...fields, tag_message: optional.text }),
  answers: { 201: releaseSchema, ...notWritten },
  async handle({ params, body, caller }, context) {
    const wanted = {
      tag: body.tag_name,
      target: body.target_commitish ?? '',
      name: body.name ?? '',
      body: body.body ?? '',
      draft: body.draft ?? false,
      prerelease: body.prerelease ?? false,
      tagMessage: body.tag_message ?? '',
    };
    return { status: 201, body: await createRelease(context, caller, params, wanted) };
  },
});

/** `GET /repos/{owner}/{repo}/releases/latest` */
export const latest = endpoint({
  summary: 'The newest release that is neither draft nor prerelease',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: releaseSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const found = await findLatest(context, caller, params);
    return { status: 200, body: await presentRelease(context, caller, found) };
  },
});

/** `GET /repos/{owner}/{repo}/releases/tags/{tag}`, slashes in the name encoded or not */
export const showOfTag = endpoint({
  summary: 'The release of a tag',
  access: 'reader',
  area: 'repository',
  params: tagPath,
  answers: { 200: releaseSchema, 404: errorSchema },
  async handle({ params: { '*': tag, ...path }, caller }, context) {
    const found = await findRelease(context, caller, { ...path, tag });
    return { status: 200, body: await presentRelease(context, caller, found) };
  },
});

/** `DELETE /repos/{owner}/{repo}/releases/tags/{tag}`, slashes in the name encoded or not */
export const removeOfTag = endpoint({
  summary: 'Delete the release of a tag; the tag stays',
  access: 'caller',
  area: 'repository',
  params: tagPath,
  answers: { 204: emptySchema, ...refusals },
  async handle({ params: { '*': tag, ...path }, caller }, context) {
    await deleteRelease(context, caller, { ...path, tag });
    return { status: 204 };
  },
});

/** `GET /repos/{owner}/{repo}/releases/{id}` */
export const show = endpoint({
  summary: 'A release',
  access: 'reader',
  area: 'repository',
  params: onePath,
  answers: { 200: releaseSchema, 404: errorSchema },
  async handle({ params, caller }, context) {
    const found = await findRelease(context, caller, params);
    return { status: 200, body: await presentRelease(context, caller, found) };
  },
});

/** `PATCH /repos/{owner}/{repo}/releases/{id}` */
export const edit = endpoint({
  summary: 'Edit a release, or publish a draft, which makes its tag if there is none',
  access: 'caller',
  area: 'repository',
  params: onePath,
  body: z.object({ tag_name: storable.trim().nullish(), ...fields }),
  answers: { 200: releaseSchema, ...notWritten },
  async handle({ params, body, caller }, context) {
    return { status: 200, body: await editRelease(context, caller, params, body) };
  },
});

/** `DELETE /repos/{owner}/{repo}/releases/{id}` */
export const remove = endpoint({
  summary: 'Delete a release; its tag stays',
  access: 'caller',
  area: 'repository',
  params: onePath,
  answers: { 204: emptySchema, ...refusals },
  async handle({ params, caller }, context) {
    await deleteRelease(context, caller, params);
    return { status: 204 };
  },
});
