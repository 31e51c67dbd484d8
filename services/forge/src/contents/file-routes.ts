import type { App } from '@croft/http';
import { withShare } from '@croft/runtime';
import { admit } from '../admit.ts';
import { apiCredentialsOf } from '../caller/api-credentials.ts';
import { type Caller, shareOf } from '../caller/caller.ts';
import { showCommitChanges } from '../commits/show-commit.ts';
import type { Context } from '../context.ts';
import type { Answer } from '../endpoint.ts';
import { repeated } from '../wire-schemas.ts';
import { showArchive } from './show-archive.ts';
import { type RefKind, showRawOf } from './show-raw.ts';

interface RepositoryPath {
  owner: string;
  repo: string;
}

/**
 * Archives, files as they are and changes of commits under the addresses that they have beside the API in the reference: those stand
 * in what installs, packages and patches software, and unlike those of pages what is there is for programs.
 */
export function fileRoutes(app: App, context: Context): void {
  serve<{ '*': string }>('/:owner/:repo/archive/*', (caller, { '*': archive, ...path }, query) =>
    showArchive(context, caller, { ...path, archive }, repeated.parse(query['path'])),
  );
  serve<{ kind: RefKind; '*': string }>(
    '/:owner/:repo/raw/:kind(^(?:branch|tag|commit)$)/*',
    (caller, { kind, '*': file, ...path }) => showRawOf(context, caller, { ...path, file }, { kind }),
  );
  serve<{ sha: string; diffType: 'diff' | 'patch' }>(
    '/:owner/:repo/commit/:sha.:diffType(^(?:diff|patch)$)',
    async (caller, { diffType, ...path }) => ({
      status: 200,
      headers: { 'x-content-type-options': 'nosniff' },
      body: await showCommitChanges(context, caller, path, diffType),
    }),
  );

  function serve<Path>(
    url: string,
    show: (
      caller: Caller | undefined,
      path: RepositoryPath & Path,
      query: Record<string, unknown>,
    ) => Promise<Answer>,
  ): void {
    app.get(url, { schema: { hide: true } }, async (request, reply) => {
      const needs = { access: 'reader', area: 'repository', intent: 'read' } as const;
      const caller = await admit(context, needs, apiCredentialsOf(context, request));
      const path = request.params as RepositoryPath & Path;
      const query = request.query as Record<string, unknown>;
      const answer = await withShare(shareOf(caller), () => show(caller, path, query));
      return await reply
        .code(answer.status)
        .type(answer.type ?? 'text/plain; charset=utf-8')
        .headers(answer.headers ?? {})
        .send(answer.body);
    });
  }
}
