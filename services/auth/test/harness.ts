import { join } from 'node:path';
import { accessTokens } from '@croft/access-token';
import type { App } from '@croft/http';
import { type Log, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { type Database, type Outbox, openDatabase, startOutbox } from '@croft/sql';
import {
  capturedMails,
  type FixedClock,
  fixedClock,
  type Mail,
  temporaryFolder,
  testDatabase,
} from '@croft/testing';
import { createAuthApp } from '../src/app.ts';
import type { AuthContext } from '../src/context.ts';
import { effectHandlers } from '../src/effects/handlers.ts';
import { migrations, openContext } from '../src/open-context.ts';
import { chooseMailer } from '../src/outside/mail/mailer.ts';
import { openSms } from '../src/outside/sms/sms.ts';
import { authSettings } from '../src/settings.ts';
import { PASSWORD, someone } from './support/people.ts';

export { PASSWORD, someone };

/** The key every test signs with. */
export const JWT_SECRET = 'a-secret-of-the-tests-that-nobody-else-has';

/** Members that tests read by name; everything else is compared as a whole. */
export interface AnswerBody {
  [name: string]: unknown;
  id?: string;
  access_token?: string;
  refresh_token?: string;
  user?: { id: string; email: string; [name: string]: unknown };
}

/** An answer as tests look at it. */
export interface Answer {
  status: number;
  body: AnswerBody;
  headers: Record<string, unknown>;
  text: string;
}

/** A service on its own database, with its own clock, whose outbox is worked off only when a test says so. */
export interface Subject extends AsyncDisposable {
  context: AuthContext;
  app: App;
  clock: FixedClock;
  databaseUrl: string;
  dataFolder: string;
  /** A second pool for looking at rows, so that counting round trips of the service stays exact. */
  rows: Database;
  outbox(): Promise<Outbox>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  send(
    method: string,
    path: string,
    payload: string | undefined,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Delivers what is due and returns all captured mails, oldest first. */
  mails(): Promise<Mail[]>;
  /** Actions in the audit log, oldest first: by transaction, because the clock stands still and pages fill side by side. */
  audit(): Promise<string[]>;
  /** Everything the database says of users, to compare before and after. */
  snapshot(): Promise<string>;
  /** Round trips the work takes. */
  countRoundTrips(work: () => Promise<unknown>): Promise<number>;
}

/** Starts a service with the given settings on top of the smallest ones. */
export async function startSubject(
  environment: Record<string, string> = {},
  log: Log = silentLog,
  /** Another database than the test's own, such as one that is away. */
  databaseUrl?: string,
): Promise<Subject> {
  const database = await testDatabase({ schema: 'auth', migrations });
  const folder = await temporaryFolder();
  const clock = fixedClock();
  const settings = readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_JWT_SECRET: JWT_SECRET,
    // One client makes all requests of a test.
    AUTHSVC_RATE_LIMIT_ENABLED: 'false',
    ...environment,
  });
  const secrets = { atRestKey: new Secret('an at-rest key of the tests') };
  const context = openContext({
    settings,
    databaseUrl: databaseUrl ?? database.url,
    log,
    clock,
    version: '0.0.0-test',
    secrets,
  });
  const app = await createAuthApp(context);
  const rows = openDatabase({ url: database.url, schema: 'auth', log: silentLog, poolSize: 2 });
  const outboxes: Outbox[] = [];

  const send: Subject['send'] = async (method, path, payload, headers = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url: path,
      headers: { ...(payload === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return {
      status: response.statusCode,
      body: isJson && response.body !== '' ? response.json() : {},
      headers: response.headers,
      text: response.body,
    };
  };
  const outbox = async (): Promise<Outbox> => {
    outboxes[0] ??= startOutbox({
      database: context.database,
      handlers: effectHandlers(context, {
        mailer: chooseMailer(settings, folder.path, log, clock),
        sms: openSms(settings, context.outside.http, folder.path, log, clock),
      }),
      log,
    });
    return outboxes[0];
  };

  async function delivered(): Promise<void> {
    await (await outbox()).drain();
    for (;;) {
      const { waiting } = (await rows.autocommit().row<{ waiting: number }>`
        select count(*) as waiting from :schema.outbox where parked_at is null`) ?? { waiting: 0 };
      if (waiting === 0) return;
      await (await outbox()).drain();
    }
  }

  return {
    context,
    app,
    clock,
    databaseUrl: database.url,
    dataFolder: folder.path,
    rows,
    outbox,
    send,
    post: (path, body, headers) =>
      send('POST', path, body === undefined ? undefined : JSON.stringify(body), headers),
    get: (path, headers) => send('GET', path, undefined, headers),
    async mails() {
      await delivered();
      return await capturedMails(join(folder.path, 'mail'));
    },
    async audit() {
      const entries = await rows.autocommit().rows<{ action: string }>`
        select payload ->> 'action' as action from :schema.audit_log_entries order by age(xmin) desc, ctid`;
      return entries.map(({ action }) => action);
    },
    async snapshot() {
      // A worker that was asked for works on by itself, and what it delivers would be a change.
      if (outboxes.length > 0) await delivered();
      const all = await rows.autocommit().row<{ all: object }>`
        select jsonb_build_array(
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.users t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.identities t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.sessions t),
          (select jsonb_agg(to_jsonb(t) order by t.session_id) from :schema.refresh_tokens t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.one_time_tokens t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.auth_codes t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.mfa_factors t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.mfa_challenges t),
          (select jsonb_agg(to_jsonb(t) order by t.factor_id, t.code_hash) from :schema.mfa_recovery_codes t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.mfa_amr_claims t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.audit_log_entries t),
          (select jsonb_agg(to_jsonb(t) order by t.id) from :schema.outbox t)) as all`;
      return JSON.stringify(all, null, 1);
    },
    async countRoundTrips(work) {
      const before = context.database.roundTrips;
      await work();
      return context.database.roundTrips - before;
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      await Promise.all(outboxes.map((one) => one.close()));
      await context.limits.close?.();
      await context.outside.hooks.close();
      await context.database.close();
      await rows.close();
      await database[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The link and the code of a mail. */
export function readMail(mail: Mail | undefined): { url: URL; token: string; code: string } {
  const url = new URL(/https?:\/\/\S+\/verify\?\S+/.exec(mail?.text ?? '')?.[0] ?? '');
  return { url, token: url.searchParams.get('token') ?? '', code: codeIn(mail) };
}

/** The code of a mail, or an empty text. */
export function codeIn(mail: Mail | undefined): string {
  return /enter the code: (\d+)/.exec(mail?.text ?? '')?.[1] ?? '';
}

/** Signs up, follows the mail and returns the session. */
export async function confirmedUser(subject: Subject, email = someone()): Promise<Answer> {
  await subject.post('/signup', { email, password: PASSWORD });
  const mail = (await subject.mails()).findLast(({ headers }) => headers.get('to')?.includes(email));
  const answer = await subject.post('/verify', { type: 'signup', token_hash: readMail(mail).token });
  if (answer.status !== 200) throw new Error(`the test's own sign-up failed: ${answer.text}`);
  return answer;
}

/** The claims of an access token, its signature checked. */
export function claimsOf(subject: Subject, answer: Answer) {
  return accessTokens(JWT_SECRET, () => subject.clock.now().getTime()).verify(
    String(answer.body['access_token']),
  );
}

/** The header that proves the bearer of a session. */
export function bearer(answer: Answer): Record<string, string> {
  return { authorization: `Bearer ${String(answer.body['access_token'])}` };
}
