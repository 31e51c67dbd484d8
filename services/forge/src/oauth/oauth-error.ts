import type { ErrorAnswer } from '@croft/http';

/** What has a status of its own in OAuth 2.0 as well; other requests that cannot be carried out are 400. */
const KEPT = new Set([405, 413, 429]);

/** A failure that is not of OAuth 2.0, in its words (RFC 6749 §5.2, and §4.1.2.1 for those of the server). */
export function oauthError(status: number, message: string): ErrorAnswer {
  const error = { 500: 'server_error', 503: 'temporarily_unavailable', 504: 'temporarily_unavailable' }[
    status
  ];
  return {
    status: error !== undefined || KEPT.has(status) ? status : 400,
    headers: { 'cache-control': 'no-store', 'access-control-allow-origin': '*' },
    body: { error: error ?? 'invalid_request', error_description: message },
  };
}
