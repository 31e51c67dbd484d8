import type { App } from '@croft/http';
import { withShare } from '@croft/runtime';
import { z } from 'zod';
import { admit } from '../admit.ts';
import { apiCredentialsOf } from '../caller/api-credentials.ts';
import { shareOf } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { parameter } from '../wire-schemas.ts';
import { showChanges } from './show-changes.ts';

const querySchema = z.object({ binary: parameter });

/**
 * `diff_url` and `patch_url` of a pull request. As in the reference they lead beside the API, and unlike those of pages what is there
 * is for programs: whoever is told of a pull request by a webhook fetches its changes there.
 */
export function changesRoutes(app: App, context: Context): void {
  const url = '/:owner/:repo/pulls/:index(^\\d+).:diffType(^(?:diff|patch)$)';
  app.get(url, { schema: { hide: true } }, async (request, reply) => {
    const needs = { access: 'reader', area: 'repository', intent: 'read' } as const;
    const caller = await admit(context, needs, apiCredentialsOf(context, request));
    const { diffType: type, ...path } = request.params as NumberedPath & { diffType: 'diff' | 'patch' };
    const { binary } = querySchema.parse(request.query);
    const body = await withShare(shareOf(caller), () => showChanges(context, caller, path, { type, binary }));
    return await reply
      .type('text/plain; charset=utf-8')
      .header('x-content-type-options', 'nosniff')
      .send(body);
  });
}
