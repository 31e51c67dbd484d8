import { Failure } from '@croft/failure';
import { assertOutsideTransaction } from '@croft/runtime';

const TIMEOUT_MS = 5_000;

/** What is asked of the auth service in somebody's name. */
export interface AuthQuestion {
  path: string;
  body: Readonly<Record<string, string>>;
  /** The access token of who asks; undefined of whoever has none yet. */
  token?: string;
  /** For whom it is asked: else all who use git would share one client's limits there. */
  client: string | undefined;
}

/**
 * Asks the auth service.
 * @returns undefined when it refuses
 * @throws 429 when it has been asked too often, 503 when it cannot be asked
 */
export async function askAuth(
  authUrl: string,
  { path, body, token, client }: AuthQuestion,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  assertOutsideTransaction('asking the auth service');
  let answer: Response;
  try {
    answer = await fetch(authUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersFor(token, client) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    });
  } catch (error) {
    throw unreachable(error);
  }
  if (answer.ok) return (await answer.json()) as Record<string, unknown>;
  await answer.body?.cancel();
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get('retry-after')) || 60;
    throw new Failure('exhausted', 'too_many_passwords', 'too many attempts', { retryAfterSeconds: seconds });
  }
  if (answer.status >= 500) throw unreachable(new Error(`the auth service answers ${answer.status}`));
  return undefined;
}

/** Ends the session of an access token. Where this fails the session stays, and nobody has its refresh token. */
export async function endSession(authUrl: string, token: string, client: string | undefined): Promise<void> {
  const answer = await fetch(`${authUrl}/logout?scope=local`, {
    method: 'POST',
    headers: headersFor(token, client),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  }).catch(() => undefined);
  await answer?.body?.cancel();
}

const headersFor = (token: string | undefined, client: string | undefined): Record<string, string> => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(client === undefined ? {} : { 'x-forwarded-for': client }),
});

const unreachable = (cause: unknown) =>
  new Failure('unavailable', 'auth_unreachable', 'passwords cannot be checked right now', { cause });
