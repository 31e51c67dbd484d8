import { createHmac } from 'node:crypto';
import { forgeSettings, startForge } from '@croft/forge';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { openDatabase } from '@croft/sql';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { startAuthBeside } from './auth-service.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

/** Auth and forge on one database and one clock, for people with a second factor. */
export interface GuardedServices extends AsyncDisposable {
  auth: string;
  forge: string;
  /** An empty folder. */
  folder: string;
  /** Lets time go by for both. */
  advance: (milliseconds: number) => void;
  /** Somebody with an account at auth, and at the forge unless he does not come there. */
  person: (name: string, more?: { comesToForge: boolean }) => Promise<Guarded>;
  /** Makes a phone of somebody's app: no code of an app proves it. */
  turnIntoPhone: (factorId: string) => Promise<void>;
  /** What a refusal must leave as it is: sessions, accounts, tokens, what programs may do, repositories. */
  kept: () => Promise<unknown>;
  /** Sign-ins at the page of the forge that wait for a code. */
  waiting: () => Promise<number>;
}

/** Somebody with a password, and a second factor when he has enrolled one. */
export interface Guarded {
  id: string;
  name: string;
  email: string;
  password: string;
  /** What auth answered when he signed up. */
  session: Session;
  /** Adds an authenticator app; with the session that shows another one where there is one. */
  enrol: (session?: Session) => Promise<App>;
  signIn: () => Promise<Session>;
  basic: string;
}

/** Of an answer of auth. */
export interface Session {
  access_token: string;
  refresh_token: string;
  user: { id: string; factors?: { id: string; status: string }[] };
}

/** An authenticator app that proved itself. */
export interface App {
  id: string;
  /** A code that was not used yet. */
  next: () => string;
  /** One that is none of those that count. */
  wrong: () => string;
  /** The session that it raised. */
  session: Session;
}

/** Sends JSON and reads it. */
export async function send(
  address: string,
  method: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const answer = await fetch(address, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
  };
}

/** Starts both. */
export async function guardedServices(settings: Record<string, string> = {}): Promise<GuardedServices> {
  const stack = new AsyncDisposableStack();
  const databaseUrl = stack.use(await testDatabase()).url;
  const dataFolder = stack.use(await temporaryFolder()).path;
  const folder = stack.use(await temporaryFolder()).path;
  let ahead = 0;
  const clock = { now: () => new Date(Date.now() + ahead) };
  const shared = { databaseUrl, dataFolder, log: silentLog, version: '0.1.0', clock };
  const auth = await startAuthBeside(shared, SECRET, {
    AUTHSVC_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '1000',
    ...settings,
  });
  stack.defer(() => auth.close(1000));
  const forge = await startForge({
    ...shared,
    settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' }),
    atRestKey: new Secret(SECRET),
    tokens: { secret: new Secret(SECRET), adminRoles: ['service_role'] },
    authUrl: auth.address,
  });
  stack.defer(() => forge.close(1000));
  const open = (schema: string) =>
    stack.adopt(openDatabase({ url: databaseUrl, schema, log: silentLog }), (one) => one.close());
  const [people, work] = [open('auth'), open('forge')];

  const session = async (path: string, body: object, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await send(auth.address + path, 'POST', headers, body);
    if (answer.status !== 200) throw new Error(`a step of the test itself failed: ${JSON.stringify(answer)}`);
    return answer.body as unknown as Session;
  };
  const advance = (milliseconds: number) => {
    ahead += milliseconds;
  };

  async function enrol({ access_token: token }: Session): Promise<App> {
    const made = await session(
      '/factors',
      { factor_type: 'totp', friendly_name: String(Math.random()) },
      token,
    );
    const { id, totp } = made as unknown as { id: string; totp: { secret: string } };
    const step = () => Math.floor(clock.now().getTime() / 30_000);
    let used = 0;
    const next = () => {
      // A code is good once: the time of the next one comes.
      if (step() <= used) advance((used + 1 - step()) * 30_000);
      used = step();
      return totpCode(totp.secret, used);
    };
    const wrong = () => {
      const right = [-1, 0, 1].map((one) => totpCode(totp.secret, step() + one));
      return ['000000', '111111', '222222', '333333'].find((code) => !right.includes(code)) ?? '';
    };
    const challenge = await session(`/factors/${id}/challenge`, {}, token);
    const answer = { challenge_id: (challenge as unknown as { id: string }).id, code: next() };
    return { id, next, wrong, session: await session(`/factors/${id}/verify`, answer, token) };
  }

  return {
    auth: auth.address,
    forge: forge.address,
    folder,
    advance,
    async person(name, { comesToForge } = { comesToForge: true }) {
      const [email, password] = [`${name}@example.test`, `correct horse of ${name}`];
      const first = await session('/signup', { email, password });
      const authorization = `Bearer ${first.access_token}`;
      if (comesToForge) await send(`${forge.address}/api/v1/user`, 'GET', { authorization });
      return {
        id: first.user.id,
        name,
        email,
        password,
        session: first,
        enrol: (by = first) => enrol(by),
        signIn: () => session('/token?grant_type=password', { email, password }),
        basic: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
      };
    },
    async turnIntoPhone(factorId) {
      await people.autocommit().run`
        update :schema.mfa_factors set factor_type = 'phone', phone = '15550100', secret = null where id = ${factorId}`;
    },
    async kept() {
      const [auth, forge] = [people.autocommit(), work.autocommit()];
      return [
        await auth.rows`select id, user_id, aal from :schema.sessions order by id`,
        await forge.rows`select id, login from :schema.users order by id`,
        await forge.rows`select id, token_hash from :schema.access_tokens order by id`,
        await forge.rows`select id, updated_at from :schema.oauth_grants order by id`,
        await forge.rows`select code_hash from :schema.oauth_codes order by code_hash`,
        await forge.rows`select id, name from :schema.repositories order by id`,
      ];
    },
    async waiting() {
      return (await work.autocommit().rows`select from :schema.oauth_steps`).length;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** RFC 6238 with SHA-1, six digits and thirty seconds, by another hand than auth's. */
function totpCode(secret: string, step: number): string {
  const bits = secret
    .split('')
    .map((one) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'));
  const key = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', key).update(counter).digest();
  const at = hash.readUInt8(19) & 15;
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
