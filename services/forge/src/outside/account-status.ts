import { assertOutsideTransaction, type Clock, type Log } from '@croft/runtime';
import { LRUCache } from 'lru-cache';
import { type AccountStatus, isStale, readStatus, STATUS_COUNTS_MS } from '../rules/access/account-status.ts';

/** What the auth service says of a user, and when it was asked. */
export interface StatusAnswer extends AccountStatus {
  askedAt: Date;
}

/** Asks the auth service about its users. */
export interface AccountStatusCheck {
  /**
   * What it says of one, or said less than a minute ago; undefined when it cannot be learned right now. Questions about
   * the same user are one.
   */
  ask(authUserId: string): Promise<StatusAnswer | undefined>;
}

/** What asking needs. */
export interface AccountStatusOptions {
  authUrl: string;
  /** An access token of an administrator, made for one question. */
  adminToken: () => string;
  clock: Clock;
  log: Log;
}

const TIMEOUT_MS = 2_000;
/** So long nobody waits for an auth service that does not answer. */
const PAUSE_MS = 10_000;

/**
 * The administration of the auth service at `authUrl`. While it cannot be asked the log says so once a minute, and
 * each account is tried once a minute at most.
 */
export function accountStatusCheck(options: AccountStatusOptions): AccountStatusCheck {
  const { clock, log } = options;
  const underWay = new Map<string, Promise<StatusAnswer | undefined>>();
  // Also for requests that looked into their account's row before the answer stood there, and for who gets no row.
  const lastQuestions = new LRUCache<string, { askedAt: Date; answer: StatusAnswer | undefined }>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
  });
  let pausedUntil = 0;
  let complainedAt = 0;

  function complain(reason: string): void {
    const now = clock.now().getTime();
    if (now - complainedAt < STATUS_COUNTS_MS) return;
    complainedAt = now;
    log.warn(
      { reason },
      'the auth service cannot be asked who was banned or deleted: accounts stay as they are',
    );
  }

  async function question(authUserId: string): Promise<StatusAnswer | undefined> {
    const askedAt = clock.now();
    let answer: StatusAnswer | undefined;
    try {
      const { status: httpStatus, body } = await fetchUser(options, authUserId);
      const status = readStatus(httpStatus, body, askedAt);
      if (status === undefined) complain(reasonFor(httpStatus));
      else answer = { ...status, askedAt };
    } catch (error) {
      pausedUntil = clock.now().getTime() + PAUSE_MS;
      complain(error instanceof Error ? error.message : String(error));
    }
    lastQuestions.set(authUserId, { askedAt, answer });
    return answer;
  }

  return {
    async ask(authUserId) {
      const same = underWay.get(authUserId);
      if (same !== undefined) return await same;
      const last = lastQuestions.get(authUserId);
      if (last !== undefined && !isStale(last.askedAt, clock.now())) return last.answer;
      if (clock.now().getTime() < pausedUntil) return undefined;
      const answer = question(authUserId).finally(() => underWay.delete(authUserId));
      underWay.set(authUserId, answer);
      return await answer;
    },
  };
}

async function fetchUser(
  { authUrl, adminToken }: AccountStatusOptions,
  authUserId: string,
): Promise<{ status: number; body: unknown }> {
  assertOutsideTransaction('asking the auth service');
  const answer = await fetch(`${authUrl}/admin/users/${authUserId}`, {
    headers: { authorization: `Bearer ${adminToken()}`, accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  });
  const text = await answer.text();
  try {
    return { status: answer.status, body: JSON.parse(text) as unknown };
  } catch {
    return { status: answer.status, body: undefined };
  }
}

/** A refusal is nearly always a secret of another auth service. */
function reasonFor(status: number): string {
  const wayOut =
    status === 401 || status === 403
      ? ': FORGE_JWT_SECRET or FORGE_JWT_KEYS must be what auth signs with, and AUTHSVC_JWT_ADMIN_ROLES what auth has'
      : '';
  return `it answers ${status}${wayOut}`;
}
