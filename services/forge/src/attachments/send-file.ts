import type { Reply, Request } from '@croft/http';
import send from '@fastify/send';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { attachmentName } from '../rules/files/attachment-name.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { attachmentFolder } from './attachment-file.ts';

/**
 * Answers with a file: whole, a part of it, only what would be told of it, or that it has not changed (RFC 9110 §13, §14). It counts
 * as downloaded by whoever gets its beginning. What somebody sent is never shown by a browser as part of this site: it is saved, and
 * would run nowhere if it were shown.
 * @throws 404 when its bytes are gone, as after a restored database
 */
export async function sendFile(
  context: Context,
  { raw: request }: Request,
  reply: Reply,
  { id, name }: { id: number; name: string },
): Promise<Reply> {
  const options = { root: attachmentFolder(context), contentType: false, cacheControl: false, index: false };
  const sent = await send(request, String(id), options);
  const { statusCode, headers, stream } = sent;
  if (statusCode === 404) throw notFound();
  if (sent.type === 'error' && statusCode >= 500) throw sent.metadata.error;
  if (sent.type !== 'file') {
    // Of a part that is not there, and of a file that is not the one it was taken for, nothing but that is told.
    const range = headers['Content-Range'];
    return await reply
      .code(statusCode)
      .headers(range === undefined ? {} : { 'content-range': range })
      .send();
  }
  if (request.method === 'GET' && (statusCode === 200 || headers['Content-Range']?.startsWith('bytes 0-')))
    await attachments.countDownload(context.database.autocommit(), id).catch((error: unknown) => {
      stream.destroy();
      throw error;
    });
  return await reply
    .code(statusCode)
    .headers(headers)
    .headers({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; ${attachmentName(name)}`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-cache',
    })
    .send(stream);
}
