import type { App } from '@croft/http';
import { admit } from '../admit.ts';
import { apiCredentialsOf } from '../caller/api-credentials.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { attachmentName } from '../rules/files/attachment-name.ts';
import { findByUuid, openDownload, openReleaseFile } from './find-download.ts';

/**
 * Files go as they came. What somebody sent is never shown by a browser as part of this site: it is saved, and would run
 * nowhere if it were shown.
 */
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
    const file = await openDownload(context, caller, row);
    return await reply.headers(headersOf(row)).send(file.createReadStream());
  });

  // Where scripts that install something look for it; the tag may have slashes, the name of a file has none.
  app.get('/:owner/:repo/releases/download/*', options, async (request, reply) => {
    const needs = { access: 'reader', area: 'repository', intent: 'read' } as const;
    const caller = await admit(context, needs, apiCredentialsOf(context, request));
    const { owner, repo, '*': rest } = request.params as { owner: string; repo: string; '*': string };
    const end = rest.lastIndexOf('/');
    const path = { owner, repo, tag: rest.slice(0, Math.max(0, end)), file: rest.slice(end + 1) };
    const { row, file } = await openReleaseFile(context, caller, path);
    return await reply.headers(headersOf(row)).send(file.createReadStream());
  });
}

const headersOf = ({ name, size_bytes: size }: { name: string; size_bytes: number }) => ({
  'content-type': 'application/octet-stream',
  'content-disposition': `attachment; ${attachmentName(name)}`,
  'content-length': String(size),
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'private, no-cache',
});
