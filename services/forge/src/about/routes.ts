import { z } from 'zod';
import type { Context } from '../context.ts';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../failures.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { REACTIONS } from '../rules/issues/reaction.ts';
import { errorSchema, repositoryPath } from '../wire-schemas.ts';
import { nodeInfoSchema, showNodeInfo } from './node-info.ts';

/** Clients parse the first part to learn what they may use; the second says what really answers. */
const COMPATIBLE_VERSION = '1.27.0';

/** `GET /version`: the one endpoint for which nobody needs credentials. */
export const version = endpoint({
  summary: 'Version of the forge',
  access: 'public',
  area: 'misc',
  answers: { 200: z.object({ version: z.string() }) },
  async handle(_call, context) {
    return { status: 200, body: { version: `${COMPATIBLE_VERSION}+croft.${context.version}` } };
  },
});

/** `GET /nodeinfo` */
export const nodeInfo = endpoint({
  summary: 'What runs here, as NodeInfo 2.1',
  access: 'reader',
  area: 'misc',
  answers: { 200: nodeInfoSchema },
  async handle(_call, context) {
    return { status: 200, body: await showNodeInfo(context) };
  },
});

/** `GET /signing-key.pub` */
export const signingKey = endpoint({
  summary: 'The key that signs the commits of merges, as a line of `authorized_keys`',
  access: 'reader',
  area: 'misc',
  answers: { 200: z.string(), 404: errorSchema },
  async handle(_call, context) {
    return { status: 200, body: keyOf(context) };
  },
});

/** `GET /repos/{owner}/{repo}/signing-key.pub` */
export const signingKeyOfRepository = endpoint({
  summary: 'The key that signs the commits of merges in a repository: the same in all of them',
  access: 'reader',
  area: 'repository',
  params: repositoryPath,
  answers: { 200: z.string(), 404: errorSchema },
  async handle({ params, caller }, context) {
    await findRepository(context, caller, params);
    return { status: 200, body: keyOf(context) };
  },
});

/** @throws 404 where commits are not signed */
function keyOf({ identity }: Context): string {
  if (identity.signingKey === undefined) throw notFound('commits are not signed');
  return `${identity.signingKey.publicKey}\n`;
}

/** `GET /settings/api` */
export const apiSettings = endpoint({
  summary: 'Limits of the API',
  access: 'reader',
  area: 'misc',
  answers: {
    200: z.object({
      max_response_items: z.int(),
      default_paging_num: z.int(),
      default_git_trees_per_page: z.int(),
      default_max_blob_size: z.int(),
      default_max_response_size: z.int(),
    }),
  },
  async handle(_call, { settings }) {
    return {
      status: 200,
      body: {
        max_response_items: settings.MAX_RESPONSE_ITEMS,
        default_paging_num: settings.DEFAULT_PAGING_NUM,
        default_git_trees_per_page: 1000,
        default_max_blob_size: 10 * 1024 * 1024,
        default_max_response_size: 100 * 1024 * 1024,
      },
    };
  },
});

/** `GET /settings/attachment` */
export const attachmentSettings = endpoint({
  summary: 'Limits of attachments',
  access: 'reader',
  area: 'misc',
  answers: {
    200: z.object({
      enabled: z.boolean(),
      allowed_types: z.string(),
      max_size: z.int().describe('MiB'),
      max_files: z.int(),
    }),
  },
  async handle(_call, { settings }) {
    return {
      status: 200,
      body: {
        enabled: true,
        allowed_types: settings.ATTACHMENT_TYPES.join(','),
        max_size: Math.floor(settings.ATTACHMENT_MAX_BYTES / 1_048_576),
        max_files: 50,
      },
    };
  },
});

/** `GET /settings/ui` */
export const uiSettings = endpoint({
  summary: 'What pages would show',
  access: 'reader',
  area: 'misc',
  answers: {
    200: z.object({
      default_theme: z.string(),
      allowed_reactions: z.array(z.string()),
      custom_emojis: z.array(z.string()),
    }),
  },
  async handle() {
    return {
      status: 200,
      body: { default_theme: '', allowed_reactions: [...REACTIONS], custom_emojis: [] },
    };
  },
});

/** `GET /settings/repository` */
export const repositorySettings = endpoint({
  summary: 'What repositories can do here',
  access: 'reader',
  area: 'misc',
  answers: {
    200: z.object({
      mirrors_disabled: z.boolean(),
      http_git_disabled: z.boolean(),
      migrations_disabled: z.boolean(),
      stars_disabled: z.boolean(),
      time_tracking_disabled: z.boolean(),
      lfs_disabled: z.boolean(),
    }),
  },
  async handle() {
    return {
      status: 200,
      body: {
        mirrors_disabled: true,
        http_git_disabled: false,
        migrations_disabled: true,
        stars_disabled: false,
        time_tracking_disabled: false,
        lfs_disabled: true,
      },
    };
  },
});
