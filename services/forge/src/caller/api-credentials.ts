import type { Context } from '../context.ts';
import { type Credentials, credentialsOf } from './authenticate.ts';

/** What of a request to the API says who asks, and in whose name. */
export interface ApiCredentials extends Credentials {
  /** The account to act as, for site administrators. */
  sudo: string | undefined;
}

/** The parts of a request that are looked at. */
interface Asking {
  headers: Parameters<typeof credentialsOf>[0]['headers'] & {
    sudo?: string | string[] | undefined;
    'x-gitea-otp'?: string | string[] | undefined;
  };
  socket: { remoteAddress?: string | undefined };
  query: unknown;
}

/** Reads them: `Authorization`, or where the settings allow it `?token=`; `X-Gitea-OTP`; `Sudo` or `?sudo=`. */
export function apiCredentialsOf({ settings, log }: Context, request: Asking): ApiCredentials {
  const credentials = {
    ...credentialsOf(request),
    code: textOf(request.headers['x-gitea-otp']),
  };
  const query = request.query as Readonly<Record<string, unknown>>;
  const sudo = textOf(request.headers.sudo) ?? textOf(query['sudo']);
  const token = textOf(query['token']) ?? textOf(query['access_token']);
  if (credentials.authorization !== undefined || token === undefined || !settings.QUERY_TOKENS) {
    return { ...credentials, sudo };
  }
  log.warn(
    { client: credentials.client },
    'a token came as part of an address, where others may read it: use the Authorization header',
  );
  return { ...credentials, authorization: `token ${token}`, sudo };
}

/** Of several values the first one counts, and an empty one for none. */
function textOf(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : undefined;
}
