import { randomUUID } from 'node:crypto';
import { accessTokens } from '@croft/access-token';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  claimsOf,
  JWT_SECRET,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';

// Endpoint × caller. The rows are declared below; the endpoints are read from the document the service serves of
// itself, so that a new one without a row fails.

/** Who calls, or what is presented instead of a token. */
const callers = [
  'none',
  'garbage',
  'expired',
  'user',
  'banned',
  'anonymous',
  'other', // a user who names somebody else's id wherever there is room for one
  'admin', // a signed-in user with the role of an administrator
  'sessionless', // a token of that role, made by hand: neither user nor session
] as const;
type CallerName = (typeof callers)[number];
type Statuses = Record<CallerName, number>;

/** One request of the table. */
interface Cell {
  who: CallerName;
  /** Of the caller, or of nobody. */
  ownId: string;
  /** Of somebody who is not the caller; whatever happens to them is a failure of the table. */
  victimId: string;
  /** An address nobody has. */
  fresh: string;
}

interface Row {
  /** Path and query; the default is the documented path. */
  path?: (cell: Cell) => string;
  body?: (cell: Cell) => object;
  expected: Statuses;
  /** Whether administrators reach the victim by design. */
  reachesVictim?: true;
  /** Whether callers are not the same afterwards: the row gets some of its own. */
  spendsCallers?: true;
}

/** The token plays no part. */
const open = (status: number): Statuses => fill(() => status);
/** Whoever is signed in: the user exists, is not banned, and so is the session if the token names one. */
const signedIn = (status: number, others: Partial<Statuses> = {}): Statuses => ({
  ...fill(() => status),
  ...NO_TOKEN,
  banned: 403,
  sessionless: 403, // no `sub`: there is no user to speak of
  ...others,
});
/** The same, but not anonymous. */
const withFactors = (status: number): Statuses => signedIn(status, { anonymous: 403 });
/** A role of JWT_ADMIN_ROLES, whether or not a user stands behind it. */
const administrators = (status: number): Statuses => ({
  ...fill((who) => (who === 'admin' || who === 'sessionless' ? status : 403)),
  ...NO_TOKEN,
});
const NO_TOKEN = { none: 401, garbage: 403, expired: 403 } as const;

function fill(status: (who: CallerName) => number): Statuses {
  return Object.fromEntries(callers.map((who) => [who, status(who)])) as Statuses;
}

const address = ({ fresh }: Cell) => ({ email: fresh });

const table: Readonly<Record<string, Row>> = {
  'get /health': { expected: open(200) },
  'get /ready': { expected: open(200) },
  'get /settings': { expected: open(200) },
  'get /.well-known/jwks.json': { expected: open(200) },
  'get /.well-known/openid-configuration': { expected: open(200) },

  'post /signup': { body: ({ fresh }) => ({ email: fresh, password: PASSWORD }), expected: open(200) },
  'post /token': {
    path: () => '/token?grant_type=password',
    body: ({ fresh }) => ({ email: fresh, password: PASSWORD }),
    expected: open(400),
  },
  'post /verify': { body: () => ({ type: 'signup', token_hash: randomUUID() }), expected: open(403) },
  'get /verify': { path: () => '/verify?type=signup&token=unknown', expected: open(303) },
  'post /recover': { body: address, expected: open(200) },
  'post /magiclink': { body: address, expected: open(200) },
  'post /otp': { body: address, expected: open(200) },
  'post /resend': { body: ({ fresh }) => ({ type: 'signup', email: fresh }), expected: open(200) },
  'get /authorize': { path: () => '/authorize?provider=github', expected: open(302) },
  'get /callback': { expected: open(303) },
  'post /callback': { expected: open(303) },

  'get /user': { path: naming('/user'), expected: signedIn(200) },
  'put /user': {
    body: (cell) => ({ data: { color: 'blue' }, ...(cell.who === 'other' ? victimIn(cell) : {}) }),
    expected: signedIn(200),
  },
  // An anonymous user has no address to send a code to.
  'get /reauthenticate': { path: naming('/reauthenticate'), expected: signedIn(200, { anonymous: 400 }) },
  'post /logout': { path: naming('/logout'), expected: signedIn(204), spendsCallers: true },

  'get /user/identities/authorize': {
    path: (cell) => naming('/user/identities/authorize')(cell).replace(/\?|$/, '?provider=github&'),
    expected: signedIn(302),
  },
  // Everybody names one of the victim's.
  'delete /user/identities/{identity_id}': {
    path: () => `/user/identities/${victimIdentity}`,
    expected: signedIn(422),
  },
  'get /user/sessions': { path: naming('/user/sessions'), expected: signedIn(200) },
  // Each has a factor of the victim's, or none.
  'post /factors': { body: () => ({ factor_type: 'totp' }), expected: withFactors(200) },
  'post /factors/{factor_id}/challenge': {
    path: () => `/factors/${victimFactor}/challenge`,
    expected: withFactors(404),
  },
  'post /factors/{factor_id}/verify': {
    path: () => `/factors/${victimFactor}/verify`,
    body: () => ({ challenge_id: randomUUID(), code: '123456' }),
    expected: withFactors(404),
  },
  'delete /factors/{factor_id}': { path: () => `/factors/${victimFactor}`, expected: withFactors(404) },
  'get /factors/recovery-codes': { expected: withFactors(404) },
  'post /factors/recovery-codes': { expected: withFactors(422) },
  'post /factors/recovery-codes/regenerate': { expected: withFactors(422) },
  'post /factors/recovery-codes/verify': { body: () => ({ code: 'x' }), expected: withFactors(422) },
  'delete /factors/recovery-codes': { expected: withFactors(404) },

  'delete /user/sessions/{session_id}': {
    path: () => `/user/sessions/${randomUUID()}`,
    expected: signedIn(404),
  },

  'post /invite': { body: address, expected: administrators(200) },
  'post /admin/users': { body: address, expected: administrators(200) },
  // Makes a user of that id; for the other one it is taken.
  'get /admin/users/{user_id}': {
    path: ({ victimId }) => `/admin/users/${victimId}`,
    expected: administrators(200),
  },
  'post /admin/users/{user_id}': {
    path: ({ who, victimId }) => `/admin/users/${who === 'other' ? victimId : randomUUID()}`,
    body: ({ fresh }) => ({ email: fresh, role: 'service_role' }),
    expected: administrators(200),
  },
  'put /admin/users/{user_id}': {
    path: ({ victimId }) => `/admin/users/${victimId}`,
    body: () => ({ user_metadata: { color: 'blue' } }),
    expected: administrators(200),
    reachesVictim: true,
  },
  'get /admin/users': { expected: administrators(200) },
  'delete /admin/users/{user_id}': {
    path: ({ who, victimId }) =>
      `/admin/users/${who === 'admin' || who === 'sessionless' ? randomUUID() : victimId}`,
    expected: administrators(404),
  },
  'post /admin/users/{user_id}/logout': {
    path: ({ victimId }) => `/admin/users/${victimId}/logout`,
    expected: administrators(204),
    reachesVictim: true,
  },
  'get /admin/users/{user_id}/factors': {
    path: ({ victimId }) => `/admin/users/${victimId}/factors`,
    expected: administrators(200),
  },
  'put /admin/users/{user_id}/factors/{factor_id}': {
    path: ({ victimId }) => `/admin/users/${victimId}/factors/${victimFactor}`,
    body: () => ({ friendly_name: 'renamed' }),
    expected: administrators(200),
    reachesVictim: true,
  },
  'delete /admin/users/{user_id}/factors/{factor_id}': {
    path: ({ who, victimId }) =>
      `/admin/users/${victimId}/factors/${who === 'admin' || who === 'sessionless' ? randomUUID() : victimFactor}`,
    expected: administrators(404),
  },
  'get /admin/audit': { expected: administrators(200) },
  'post /admin/generate_link': {
    body: ({ fresh }) => ({ type: 'magiclink', email: fresh }),
    expected: administrators(200),
  },
};

/** The path, with the victim's id in its query for the caller who tries that. */
function naming(path: string): (cell: Cell) => string {
  return (cell) =>
    cell.who === 'other' ? `${path}?${new URLSearchParams(victimIn(cell)).toString()}` : path;
}

/** The victim's id under each name an endpoint might read. */
function victimIn({ victimId }: Cell): Record<string, string> {
  return { id: victimId, user_id: victimId, sub: victimId };
}

let subject: Subject;
let victimId: string;
let victimFactor: string;
let victimIdentity: string;
beforeAll(async () => {
  subject = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTHSVC_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTHSVC_EXTERNAL_GITHUB_CLIENT_ID: 'client',
    AUTHSVC_EXTERNAL_GITHUB_SECRET: 'secret',
    AUTHSVC_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.example/callback',
  });
  const victim = await signUp();
  victimId = idOf(victim);
  const identities = victim.body.user?.['identities'] as { identity_id: string }[] | undefined;
  const identity = identities?.[0];
  victimIdentity = identity?.identity_id ?? '';
  victimFactor = (await subject.post('/factors', { factor_type: 'totp' }, bearer(victim))).body.id ?? '';
});
afterAll(() => subject[Symbol.asyncDispose]());

const idOf = (answer: Answer): string => String(answer.body.user?.id);

async function signUp(body: object = { email: someone(), password: PASSWORD }): Promise<Answer> {
  const answer = await subject.post('/signup', body);
  if (answer.status !== 200) throw new Error(`the test's own sign-up failed: ${answer.text}`);
  return answer;
}

/** What a caller presents. */
interface Caller {
  headers: Record<string, string>;
  id: string;
}

const shared = new Map<CallerName, Promise<Caller>>();

/** The caller all rows share: each costs a hash or two. */
function sharedCaller(who: CallerName): Promise<Caller> {
  const caller = shared.get(who) ?? newCaller(who);
  shared.set(who, caller);
  return caller;
}

async function newCaller(who: CallerName): Promise<Caller> {
  const nowSeconds = Math.floor(subject.clock.now().getTime() / 1000);
  const sign = (claims: object) =>
    `Bearer ${accessTokens(JWT_SECRET, () => subject.clock.now().getTime()).sign({ exp: nowSeconds + 600, ...claims })}`;
  switch (who) {
    case 'none':
      return { headers: {}, id: randomUUID() };
    case 'garbage':
      return { headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }, id: randomUUID() };
    case 'sessionless':
      return { headers: { authorization: sign({ role: 'service_role' }) }, id: randomUUID() };
    case 'anonymous':
      return own(await signUp({}));
    case 'expired': {
      const session = await signUp();
      const claims = { ...claimsOf(subject, session), iat: nowSeconds - 3600, exp: nowSeconds - 1 };
      return { headers: { authorization: sign(claims) }, id: idOf(session) };
    }
    case 'banned': {
      const session = await signUp();
      const until = new Date(subject.clock.now().getTime() + 3_600_000);
      await subject.rows.autocommit()
        .run`update :schema.users set banned_until = ${until} where id = ${idOf(session)}`;
      return own(session);
    }
    case 'admin': {
      const email = someone('admin');
      const session = await signUp({ email, password: PASSWORD });
      await subject.rows.autocommit()
        .run`update :schema.users set role = 'service_role' where id = ${idOf(session)}`;
      return own(await subject.post('/token?grant_type=password', { email, password: PASSWORD }));
    }
    case 'user':
    case 'other':
      return own(await signUp());
  }
}

const own = (session: Answer) => ({ headers: bearer(session), id: idOf(session) });

/** All that belongs to the victim. */
async function victim(): Promise<string> {
  const rows = await subject.rows.autocommit().row<{ all: object }>`
    select jsonb_build_array(
      (select to_jsonb(u) from :schema.users u where u.id = ${victimId}),
      (select jsonb_agg(to_jsonb(i) order by i.id) from :schema.identities i where i.user_id = ${victimId}),
      (select jsonb_agg(to_jsonb(f) order by f.id) from :schema.mfa_factors f where f.user_id = ${victimId}),
      (select jsonb_agg(to_jsonb(s) order by s.id) from :schema.sessions s where s.user_id = ${victimId})) as all`;
  return JSON.stringify(rows);
}

test('every endpoint has a row and every row an endpoint', async () => {
  const { body } = await subject.get('/openapi.json');
  const served = Object.entries(body['paths'] as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(Object.keys(table).sort()).toEqual(served.sort());
});

test.each(Object.entries(table))(
  '%s',
  async (endpoint, { path, body, expected, reachesVictim, spendsCallers }) => {
    const [method = '', documented = ''] = endpoint.split(' ');
    const statuses: Partial<Statuses> = {};
    for (const who of callers) {
      const { headers, id } = await (spendsCallers ? newCaller(who) : sharedCaller(who));
      const cell: Cell = { who, ownId: id, victimId, fresh: someone('fresh') };
      const before = { all: await subject.snapshot(), victim: await victim() };
      const payload = body === undefined ? undefined : JSON.stringify(body(cell));
      const answer = await subject.send(method.toUpperCase(), path?.(cell) ?? documented, payload, headers);
      statuses[who] = answer.status;
      if (answer.status >= 400) expect(await subject.snapshot(), `${who}: nothing changed`).toBe(before.all);
      if (reachesVictim === undefined)
        expect(await victim(), `${who}: nobody else was touched`).toBe(before.victim);
      // A refusal says why, and never what somebody is who was not allowed to ask.
      if (answer.status >= 400) expect(answer.text, who).not.toContain('encrypted_password');
    }
    expect(statuses).toEqual(expected);
  },
);

test('the table can fail: a signed-in user is not an administrator', () => {
  expect(signedIn(200)).not.toEqual(administrators(200));
  expect(new Set(Object.values(administrators(200)))).toEqual(new Set([200, 401, 403]));
});
