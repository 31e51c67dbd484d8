import type { App } from '@croft/http';
import { admit } from '../admit.ts';
import { apiCredentialsOf } from '../caller/api-credentials.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { checkDownload, findByUuid, findReleaseFile } from './find-download.ts';
import { sendFile } from './send-file.ts';

/** Files as they came, by their own names and by those of releases. */
export function downloadRoutes(app: App, context: Context): void {
  // A large file takes as long as it takes.
  const options = { schema: { hide: true }, config: { timeoutMs: 0 } };

  app.get('/attachments/:uuid', options, async (request, reply) => {
    // What the token must have been made for depends on what the file belongs to; nobody guesses such a name.
    const row = await findByUuid(context, (request.params as { uuid: string }).uuid);
    const area = row?.release_id ? 'repository' : 'issue';
    const needs = { access: 'reader', area, intent: 'read' } as const;
    const caller = await admit(context, needs, apiCredentialsOf(context, request));
    if (row === undefined) throw notFound();
    await checkDownload(context, caller, row);
    return await sendFile(context, request, reply, row);
  });

  // Where scripts that install something look for it; the tag may have slashes, the name of a file has none.
  app.get('/:owner/:repo/releases/download/*', options, async (request, reply) => {
    const needs = { access: 'reader', area: 'repository', intent: 'read' } as const;
    const caller = await admit(context, needs, apiCredentialsOf(context, request));
    const { owner, repo, '*': rest } = request.params as { owner: string; repo: string; '*': string };
    const end = rest.lastIndexOf('/');
    const path = { owner, repo, tag: rest.slice(0, Math.max(0, end)), file: rest.slice(end + 1) };
    return await sendFile(context, request, reply, await findReleaseFile(context, caller, path));
  });
}
