import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

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
      },
    };
  },
});
