import type { Clock } from '@croft/runtime';
import type { Database } from '@croft/sql';
import * as failures from '../failures.ts';
import { perFiveMinutes, perHour, perMinute, perTime, shareOf } from '../rules/limits/rate-value.ts';
import { type Bucket, refillMs } from '../rules/limits/token-bucket.ts';
import type { AuthSettings } from '../settings.ts';
import { memoryTokens } from './memory.ts';
import { sharedTokens } from './postgres.ts';

/** What clients are limited in, each by itself (as in GoTrue). */
export type BucketName =
  | 'token' // POST /token
  | 'refresh' // the same with a refresh token of ours, of one session, whoever has it
  | 'verify' // GET and POST /verify
  | 'signup' // POST /signup with an address
  | 'anonymous' // POST /signup without one
  | 'recover'
  | 'magiclink'
  | 'otp'
  | 'resend'
  | 'user' // PUT /user and GET /reauthenticate
  | 'web3' // POST /token with a wallet's message, besides 'token'
  | 'factors' // challenges of second factors and answers to them
  | 'current-password' // guesses at the present password of one user, whoever makes them
  | 'authorize'; // GET /authorize, which writes a row for anybody

/** How often things may be asked for. */
export interface Limits {
  /**
   * One request of a client, by what tells it from others; null is a client of its own.
   * @throws Failure `over_request_rate_limit`
   */
  take(bucket: BucketName, client: string | null): Promise<void>;
  /**
   * One mail or SMS of the whole service, when one is about to be recorded, and of the share its client has of them.
   * @param client undefined for administrators, who have all of them
   * @returns seconds until both permit it, 0 when they do
   */
  takeHourly(what: Hourly, client?: string | null): Promise<number>;
  /** The mail or SMS was not recorded after all, because its address had one just now. */
  giveBackHourly(what: Hourly, client?: string | null): void;
  close?(): Promise<void>;
}

type Hourly = 'mail' | 'sms';

/** In five minutes. */
const CURRENT_PASSWORDS = 10;

/** Where buckets are kept. */
export interface Tokens {
  /**
   * Takes a token from the bucket of that name.
   * @returns milliseconds to wait, 0 when there was one
   */
  take(name: string, bucket: Bucket): number | Promise<number>;
  giveBack(name: string, bucket: Bucket): void;
  /** Milliseconds until there is a token, as far as that is known here; takes none. */
  waitFor(name: string, bucket: Bucket): number;
  close(): Promise<void>;
}

/** The limits of the settings, counted where they say; `RATE_LIMIT_ENABLED=false` switches all of them off. */
export function openLimits(settings: AuthSettings, database: Database, clock: Clock): Limits {
  if (!settings.RATE_LIMIT_ENABLED) return unlimited;
  const { clients, hourly, shares } = bucketsOf(settings);
  const shared = settings.RATE_LIMIT_STORE === 'postgres' ? sharedTokens(database, clock) : undefined;
  const ofClients = shared ?? memoryTokens(clock);
  // Apart from the clients', so that no flood of clients can push them out, nor of sessions a client.
  const ofService = shared ?? memoryTokens(clock);
  const ofSessions = shared ?? memoryTokens(clock);
  return {
    async take(name, client) {
      const tokens = name === 'refresh' ? ofSessions : ofClients;
      const ms = await tokens.take(`${name} ${client ?? ''}`, clients[name]);
      if (ms > 0) throw failures.overRequestRate(seconds(ms));
    },
    async takeHourly(what, client) {
      const [service, own] = [`service ${what}`, `${what} ${client ?? ''}`];
      const ownMs = client === undefined ? 0 : await ofClients.take(own, shares[what]);
      // Who has used up the share takes nothing from the others, and waits for both.
      if (ownMs > 0) return seconds(Math.max(ownMs, ofService.waitFor(service, hourly[what])));
      const ms = await ofService.take(service, hourly[what]);
      if (ms > 0 && client !== undefined) ofClients.giveBack(own, shares[what]);
      return seconds(ms);
    },
    giveBackHourly(what, client) {
      ofService.giveBack(`service ${what}`, hourly[what]);
      if (client !== undefined) ofClients.giveBack(`${what} ${client ?? ''}`, shares[what]);
    },
    async close() {
      await shared?.close();
    },
  };
}

/** How long a bucket nobody takes from must be kept, in milliseconds: afterwards it is full and the same as none. */
export function longestRefillMs(settings: AuthSettings): number {
  const { clients, hourly, shares } = bucketsOf(settings);
  const all = [clients, hourly, shares].flatMap((buckets) => Object.values<Bucket>(buckets));
  return Math.max(...all.map(refillMs));
}

const unlimited: Limits = {
  take: async () => {},
  takeHourly: async () => 0,
  giveBackHourly: () => {},
};

function bucketsOf(settings: AuthSettings): {
  clients: Readonly<Record<BucketName, Bucket>>;
  hourly: Readonly<Record<Hourly, Bucket>>;
  /** What one client may use of `hourly`. */
  shares: Readonly<Record<Hourly, Bucket>>;
} {
  const asking = perFiveMinutes(settings.RATE_LIMIT_OTP);
  const share = settings.RATE_LIMIT_SENT_SHARE;
  return {
    clients: {
      token: perFiveMinutes(settings.RATE_LIMIT_TOKEN_REFRESH),
      refresh: perFiveMinutes(settings.RATE_LIMIT_TOKEN_REFRESH),
      verify: perFiveMinutes(settings.RATE_LIMIT_VERIFY),
      anonymous: perHour(settings.RATE_LIMIT_ANONYMOUS_USERS),
      web3: perFiveMinutes(settings.RATE_LIMIT_WEB3),
      'current-password': perFiveMinutes(CURRENT_PASSWORDS),
      authorize: perFiveMinutes(settings.RATE_LIMIT_AUTHORIZE),
      factors: perMinute(settings.MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY),
      signup: asking,
      recover: asking,
      magiclink: asking,
      otp: asking,
      resend: asking,
      user: asking,
    },
    hourly: {
      mail: perTime(settings.RATE_LIMIT_EMAIL_SENT),
      sms: perTime(settings.RATE_LIMIT_SMS_SENT),
    },
    shares: {
      mail: perTime(shareOf(settings.RATE_LIMIT_EMAIL_SENT, share)),
      sms: perTime(shareOf(settings.RATE_LIMIT_SMS_SENT, share)),
    },
  };
}

/** Whole seconds, rounded up but for what sums of fractions add: who waits so long is not refused once more. */
function seconds(ms: number): number {
  return ms > 0 ? Math.max(1, Math.ceil(ms / 1000 - 1e-6)) : 0;
}
