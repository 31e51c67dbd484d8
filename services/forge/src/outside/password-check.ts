import { createHmac, randomBytes } from 'node:crypto';
import { Failure } from '@croft/failure';
import { assertOutsideTransaction } from '@croft/runtime';
import { LRUCache } from 'lru-cache';

/** Asks the auth service whether a password is right. */
export interface PasswordCheck {
  /**
   * The access token that the auth service gives for the password; undefined when it is wrong.
   * @param client address of who presents it
   */
  check(email: string, password: string, client: string | undefined): Promise<string | undefined>;
}

const TIMEOUT_MS = 5_000;
/** git sends its password with every request; a right one is not asked about again for this long. */
const REMEMBER_MS = 60_000;

/**
 * The password grant of the auth service at `authUrl`. Right answers are remembered, under a keyed hash; wrong ones are not.
 * Who asks while the same is being asked gets that answer. The session that a grant opens ends at once: nobody refreshes it,
 * and where people may have one only it must not take the place of the one they have.
 */
export function passwordCheck(authUrl: string): PasswordCheck {
  const key = randomBytes(32);
  const right = new LRUCache<string, string>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
    ttl: REMEMBER_MS,
  });
  const underWay = new Map<string, Promise<string | undefined>>();
  return {
    async check(email, password, client) {
      const name = createHmac('sha256', key).update(`${email}\0${password}`).digest('base64');
      const ask = async (): Promise<string | undefined> => {
        const token = await grant(authUrl, email, password, client);
        if (token === undefined) return undefined;
        right.set(name, token);
        await endSession(authUrl, token, client);
        return token;
      };
      const known = right.get(name) ?? underWay.get(name);
      if (known !== undefined) return await known;
      const asked = ask().finally(() => underWay.delete(name));
      underWay.set(name, asked);
      return await asked;
    },
  };
}

async function grant(
  authUrl: string,
  email: string,
  password: string,
  client: string | undefined,
): Promise<string | undefined> {
  assertOutsideTransaction('asking the auth service');
  let answer: Response;
  try {
    answer = await fetch(`${authUrl}/token?grant_type=password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...from(client) },
      body: JSON.stringify({ email, password }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    });
  } catch (error) {
    throw new Failure('unavailable', 'auth_unreachable', 'passwords cannot be checked right now', {
      cause: error,
    });
  }
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get('retry-after')) || 60;
    throw new Failure('exhausted', 'too_many_passwords', 'too many attempts', { retryAfterSeconds: seconds });
  }
  if (answer.status >= 500) {
    const cause = new Error(`the auth service answers ${answer.status}`);
    throw new Failure('unavailable', 'auth_unreachable', 'passwords cannot be checked right now', { cause });
  }
  if (!answer.ok) return undefined;
  const { access_token: token } = (await answer.json()) as { access_token?: unknown };
  return typeof token === 'string' ? token : undefined;
}

/** The access token goes on as long as its signature does. Where this fails, the session stays, and nobody has its refresh token. */
async function endSession(authUrl: string, token: string, client: string | undefined): Promise<void> {
  const answer = await fetch(`${authUrl}/logout?scope=local`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...from(client) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  }).catch(() => undefined);
  await answer?.body?.cancel();
}

/** Whom the auth service is asked for: else all who use git would share one client's limits there. */
function from(client: string | undefined): Record<string, string> {
  return client === undefined ? {} : { 'x-forwarded-for': client };
}
