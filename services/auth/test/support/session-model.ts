// What sessions are, on one page: the service must behave like this whatever it is asked in whatever order.

/** How long sessions live here, as the settings say it. */
export interface Policy {
  timeboxMs: number;
  inactivityMs: number;
  singlePerUser: boolean;
}

/** A session as its holder and the model know it. */
export interface ModelSession {
  id: string;
  accessToken: string;
  /** Every refresh token it ever had, oldest first: the last is the one that counts. */
  tokens: string[];
  begunAt: number;
  refreshedAt: number;
  /** Ended for reuse: the session is there, but no token of it is worth anything. */
  revoked: boolean;
  /** Signed out. */
  gone: boolean;
}

/** What a refresh must come to. */
export type Expected = 'rotates' | 'repeats' | 'reuse' | `refused as ${string}`;

/** One person with all their sessions. */
export class SessionModel {
  readonly sessions: ModelSession[] = [];
  now = 0;
  bannedUntil = 0;
  password = 'password 0';
  #passwords = 0;
  readonly policy: Policy;

  constructor(policy: Policy) {
    this.policy = policy;
  }

  get banned(): boolean {
    return this.bannedUntil > this.now;
  }

  nextPassword(): string {
    return `password ${++this.#passwords}`;
  }

  /** The session a number stands for; the same number means another one as sessions come. */
  pick(number: number): ModelSession | undefined {
    return this.sessions[number % Math.max(1, this.sessions.length)];
  }

  begin(id: string, accessToken: string, token: string): void {
    this.sessions.push({
      id,
      accessToken,
      tokens: [token],
      begunAt: this.now,
      refreshedAt: this.now,
      revoked: false,
      gone: false,
    });
  }

  /** What a refresh with the token of so many generations ago comes to, by the rules in the order they are asked. */
  expectRefresh(session: ModelSession, generationsAgo: number): Expected {
    if (session.gone) return 'refused as refresh_token_not_found';
    if (this.banned) return 'refused as user_banned';
    if (this.isOver(session)) return 'refused as session_expired';
    if (session.revoked) return 'refused as refresh_token_already_used';
    if (generationsAgo === 0) return 'rotates';
    return generationsAgo === 1 ? 'repeats' : 'reuse';
  }

  /** Whether its time is over, or another whose time is not took its place. */
  isOver(session: ModelSession): boolean {
    if (this.isLate(session)) return true;
    const hasNewer = (other: ModelSession) => isNewer(other, session) && !this.isLate(other);
    return this.policy.singlePerUser && this.sessions.some(hasNewer);
  }

  /** Whether its time is over. */
  isLate(session: ModelSession): boolean {
    const { timeboxMs, inactivityMs } = this.policy;
    if (timeboxMs > 0 && this.now - session.begunAt >= timeboxMs) return true;
    return inactivityMs > 0 && this.now - session.refreshedAt >= inactivityMs;
  }

  /** Sessions that can be refreshed: what their owner is shown. */
  living(): ModelSession[] {
    return this.sessions.filter((one) => !one.gone && !one.revoked && !this.isOver(one));
  }

  /** Whether its access token still opens anything. */
  admits(session: ModelSession): boolean {
    return !session.gone && !this.banned;
  }

  endAll(except?: ModelSession): void {
    for (const session of this.sessions) if (session !== except) session.gone = true;
  }
}

/** The one that was used last; of two of the same moment the one with the greater id. */
function isNewer(other: ModelSession, session: ModelSession): boolean {
  if (other === session || other.gone || other.revoked) return false;
  if (other.refreshedAt !== session.refreshedAt) return other.refreshedAt > session.refreshedAt;
  return other.id > session.id;
}
