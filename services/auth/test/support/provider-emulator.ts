import {
  createHash,
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  timingSafeEqual,
} from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ProviderId, providerIds } from '../../src/rules/external/provider-ids.ts';
import { type Shape, type Somebody, shapes } from './provider-shapes.ts';

export const REDIRECT_URI = 'https://auth.example/callback';
export const ACCESS_TOKEN = 'access-token-of-the-provider';
export const REFRESH_TOKEN = 'refresh-token-of-the-provider';

/** A request as the emulator got it. */
export interface Received {
  method: string;
  /** Path and query, decoded. */
  path: string;
  headers: Record<string, string>;
  form: Record<string, string>;
}

/** What a browser brings back from the provider. */
export interface BroughtBack {
  method: 'GET' | 'POST';
  fields: Record<string, string>;
}

/** All providers on one loopback server, each below its own base; wrong requests are refused and noted. */
export interface ProviderEmulator extends AsyncDisposable {
  url: string;
  baseOf(id: ProviderId): string;
  /** Settings that make the service use it. */
  settings(...ids: ProviderId[]): Record<string, string>;
  /** Who is signed in at all providers. */
  somebody: Somebody;
  /** Their browser follows a redirect to the provider and agrees. */
  agree(location: string): BroughtBack;
  /** Everything the service asked. */
  received: Received[];
  /** What was wrong with it. */
  complaints: string[];
  /** Replaces what is answered at a path of a provider, such as `github/api/v3/user`. */
  instead: Map<string, (response: ServerResponse) => void>;
  /** Changes id_tokens before they are signed, or how. */
  tamper: {
    claims?: (claims: Record<string, unknown>) => void;
    token?: (header: object, claims: object) => string;
  };
  key: KeyObject;
}

/** What was agreed to, by code. */
interface Agreed {
  id: ProviderId;
  challenge: string | null;
  nonce: string | null;
  used: boolean;
}

/** Answers with JSON. */
export function json(body: unknown, status = 200): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

/** A compact JWT. */
export function signJwt(header: { alg: string; kid?: string }, claims: object, key: KeyObject): string {
  const parts = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const how = { key, dsaEncoding: 'ieee-p1363' } as const;
  return `${parts}.${sign('sha256', Buffer.from(parts), how).toString('base64url')}`;
}

export const KEY_ID = 'key-1';

/** Starts the providers. */
export async function startProviderEmulator(): Promise<ProviderEmulator> {
  const { privateKey: key, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const agreed = new Map<string, Agreed>();
  const twitter = new Map<string, { secret: string; verifier: string; callback: string }>();
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      emulator.complaints.push(String(error));
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const emulator: ProviderEmulator = {
    url,
    key,
    baseOf: (id) => `${url}/${id}`,
    settings: (...ids) =>
      Object.fromEntries(
        ids.flatMap((id) => {
          const name = `AUTHSVC_EXTERNAL_${id.toUpperCase()}`;
          return [
            [`${name}_ENABLED`, 'true'],
            [`${name}_CLIENT_ID`, `client of ${id}`],
            [`${name}_SECRET`, `secret+of/${id}`],
            [`${name}_REDIRECT_URI`, REDIRECT_URI],
            [`${name}_URL`, `${url}/${id}`],
          ];
        }),
      ),
    somebody: { id: '4711', email: 'ada@example.com', verified: true, name: 'Ada Lovelace' },
    agree,
    received: [],
    complaints: [],
    instead: new Map(),
    tamper: {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };

  function complain(about: string): void {
    emulator.complaints.push(about);
  }

  function expectEqual(what: string, actual: unknown, expected: unknown): boolean {
    if (actual === expected) return true;
    complain(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
    return false;
  }

  function agree(location: string): BroughtBack {
    const target = new URL(location);
    if (target.pathname === '/twitter/oauth/authenticate') {
      const token = target.searchParams.get('oauth_token') ?? '';
      const asked = twitter.get(token);
      if (asked === undefined) throw new Error('twitter: unknown request token');
      const state = new URL(asked.callback).searchParams.get('state') ?? '';
      return { method: 'GET', fields: { state, oauth_token: token, oauth_verifier: asked.verifier } };
    }
    const { id, shape, path } = providerAt(target);
    expectEqual(`${id} authorize path`, path, shape.authorize);
    const query = target.searchParams;
    for (const [name] of query) {
      if (query.getAll(name).length > 1) complain(`${id}: ${name} more than once`);
    }
    expectEqual(`${id} client_id`, query.get('client_id'), `client of ${id}`);
    expectEqual(`${id} redirect_uri`, query.get('redirect_uri'), REDIRECT_URI);
    expectEqual(`${id} response_type`, query.get('response_type'), 'code');
    for (const [name, value] of Object.entries(shape.wants ?? {})) {
      expectEqual(`${id} ${name}`, query.get(name), value);
    }
    if (shape.pkce === true) expectEqual(`${id} PKCE`, query.get('code_challenge_method'), 'S256');
    if (query.has('client_secret')) complain(`${id}: the secret is in the browser's address`);
    const code = `code-${randomBytes(8).toString('hex')}`;
    const nonce = query.get('nonce');
    agreed.set(code, { id, challenge: query.get('code_challenge'), nonce, used: false });
    const fields = { code, state: query.get('state') ?? '' };
    if (query.get('response_mode') !== 'form_post') return { method: 'GET', fields };
    const user = JSON.stringify({
      name: { firstName: 'Ada', lastName: 'Lovelace' },
      email: emulator.somebody.email,
    });
    return { method: 'POST', fields: { ...fields, user } };
  }

  function providerAt(target: URL): { id: Exclude<ProviderId, 'twitter'>; shape: Shape; path: string } {
    const name = target.pathname.split('/')[1] ?? '';
    const id = providerIds.find((one) => one === name);
    if (target.origin !== url || id === undefined || id === 'twitter')
      throw new Error(`not here: ${target.href}`);
    return { id, shape: shapes[id], path: target.pathname.slice(name.length + 1) };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? '', url);
    const form = Object.fromEntries(new URLSearchParams(await bodyOf(request)));
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const path = decodeURIComponent(target.pathname + target.search);
    const received = { method: request.method ?? '', path, headers, form };
    emulator.received.push(received);
    const other = emulator.instead.get(target.pathname.slice(1));
    if (other !== undefined) return other(response);
    if (target.pathname.startsWith('/twitter/')) return answerTwitter(received, target, response);
    const { id, shape, path: below } = providerAt(target);
    if (below === shape.discovery) return json(discovery(id, shape))(response);
    if (below === shape.keys) {
      const jwk = { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' };
      return json({ keys: [jwk] })(response);
    }
    if (below === shape.token) return answerToken(id, shape, received, response);
    return answerProfile(id, shape, received, response);
  }

  function discovery(id: ProviderId, shape: Shape) {
    const base = `${url}/${id}`;
    return {
      issuer: id === 'azure' ? `${base}/{tenantid}/v2.0` : base,
      authorization_endpoint: base + shape.authorize,
      token_endpoint: base + shape.token,
      jwks_uri: base + (shape.keys ?? ''),
    };
  }

  function answerToken(id: ProviderId, shape: Shape, received: Received, response: ServerResponse): void {
    const { form, headers, method } = received;
    const before = emulator.complaints.length;
    const credentials = { id: `client of ${id}`, secret: `secret+of/${id}` };
    expectEqual(`${id} token method`, method, 'POST');
    expectEqual(`${id} grant_type`, form['grant_type'], 'authorization_code');
    expectEqual(`${id} redirect_uri`, form['redirect_uri'], REDIRECT_URI);
    if (shape.secretIn === 'header') {
      const pair = new URLSearchParams([
        ['', credentials.id],
        ['', credentials.secret],
      ])
        .toString()
        .split('&')
        .map((one) => one.slice(1))
        .join(':');
      expectEqual(
        `${id} authorization`,
        headers['authorization'],
        `Basic ${Buffer.from(pair).toString('base64')}`,
      );
      expectEqual(`${id} secret in the body`, form['client_secret'], undefined);
    } else {
      expectEqual(`${id} client_id`, form['client_id'], credentials.id);
      if (id !== 'apple') expectEqual(`${id} client_secret`, form['client_secret'], credentials.secret);
      expectEqual(`${id} authorization`, headers['authorization'], undefined);
    }
    const flow = agreed.get(form['code'] ?? '');
    if (flow === undefined || flow.used || flow.id !== id) complain(`${id}: the code is not good`);
    if (shape.pkce === true) {
      const challenge = createHash('sha256')
        .update(form['code_verifier'] ?? '')
        .digest('base64url');
      expectEqual(`${id} code_verifier`, challenge, flow?.challenge);
    }
    if (emulator.complaints.length > before || flow === undefined) {
      return json({ error: 'invalid_grant' }, 400)(response);
    }
    flow.used = true;
    json({
      access_token: ACCESS_TOKEN,
      refresh_token: REFRESH_TOKEN,
      token_type: 'bearer',
      expires_in: 3600,
      ...shape.tokenAnswer?.(emulator.somebody),
      ...(shape.claims === undefined ? {} : { id_token: idToken(id, shape.claims, flow.nonce) }),
    })(response);
  }

  function idToken(id: ProviderId, claimsOf: NonNullable<Shape['claims']>, nonce: string | null): string {
    const claims: Record<string, unknown> = {
      aud: `client of ${id}`,
      // Tests have a clock of their own; this is long after it.
      exp: Date.parse('2036-01-01T00:00:00Z') / 1000,
      ...(nonce === null ? {} : { nonce }),
      ...claimsOf(emulator.somebody, `${url}/${id}`),
    };
    emulator.tamper.claims?.(claims);
    const header = { alg: 'RS256', kid: KEY_ID };
    return emulator.tamper.token?.(header, claims) ?? signJwt(header, claims, key);
  }

  function answerProfile(id: ProviderId, shape: Shape, received: Received, response: ServerResponse): void {
    const proof = createHmac('sha256', `secret+of/${id}`).update(ACCESS_TOKEN).digest('hex');
    const known = Object.entries(shape.profile(emulator.somebody)).find(
      ([path]) => `/${id}${path.replace('{proof}', proof)}` === received.path,
    );
    if (known === undefined) {
      complain(`${id}: nothing at ${received.path}`);
      return json({ message: 'Not Found' }, 404)(response);
    }
    const isKnown = expectEqual(`${id} bearer`, received.headers['authorization'], `Bearer ${ACCESS_TOKEN}`);
    for (const [name, value] of Object.entries(shape.profileHeaders ?? {})) {
      expectEqual(`${id} ${name}`, received.headers[name], value);
    }
    json(isKnown ? known[1] : { message: 'Bad credentials' }, isKnown ? 200 : 401)(response);
  }

  function answerTwitter(received: Received, target: URL, response: ServerResponse): void {
    const refuse = () =>
      json({ errors: [{ code: 32, message: 'Could not authenticate you.' }] }, 401)(response);
    const oauth = readOAuthHeader(received.headers['authorization'] ?? '');
    const token = oauth['oauth_token'] ?? '';
    const known = twitter.get(token);
    const secret = token === ACCESS_TOKEN ? 'secret of the access token' : (known?.secret ?? '');
    const expected = oauthSignature(received.method, target, oauth, 'secret+of/twitter', secret);
    const isSigned =
      expectEqual('twitter consumer', oauth['oauth_consumer_key'], 'client of twitter') &&
      expectEqual('twitter signature', same(oauth['oauth_signature'] ?? '', expected), true);
    if (!isSigned) return refuse();
    const form = (fields: Record<string, string>) => {
      response.writeHead(200, { 'content-type': 'text/html;charset=utf-8' });
      response.end(new URLSearchParams(fields).toString());
    };
    switch (target.pathname) {
      case '/twitter/oauth/request_token': {
        const fresh = `request-${randomBytes(6).toString('hex')}`;
        twitter.set(fresh, {
          secret: 'secret of the request token',
          verifier: `verifier-${fresh}`,
          callback: oauth['oauth_callback'] ?? '',
        });
        return form({
          oauth_token: fresh,
          oauth_token_secret: 'secret of the request token',
          oauth_callback_confirmed: 'true',
        });
      }
      case '/twitter/oauth/access_token':
        if (!expectEqual('twitter verifier', oauth['oauth_verifier'], known?.verifier)) return refuse();
        twitter.delete(token);
        return form({
          oauth_token: ACCESS_TOKEN,
          oauth_token_secret: 'secret of the access token',
          user_id: emulator.somebody.id,
          screen_name: 'ada',
        });
      case '/twitter/1.1/account/verify_credentials.json':
        expectEqual('twitter include_email', target.searchParams.get('include_email'), 'true');
        return json({
          id_str: emulator.somebody.id,
          name: emulator.somebody.name,
          screen_name: 'ada',
          email: emulator.somebody.email,
          profile_image_url_https: 'https://pictures.example/ada.png',
        })(response);
      default:
        complain(`twitter: nothing at ${received.path}`);
        return refuse();
    }
  }

  return emulator;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

function readOAuthHeader(header: string): Record<string, string> {
  return Object.fromEntries(
    [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      decodeURIComponent(value),
    ]),
  );
}

/** RFC 5849 §3.4, written apart from the service's own. */
function oauthSignature(
  method: string,
  target: URL,
  oauth: Record<string, string>,
  consumer: string,
  token: string,
): string {
  const encode = (text: string) =>
    [...Buffer.from(text)]
      .map((byte) => {
        const character = String.fromCharCode(byte);
        return /[A-Za-z0-9\-._~]/.test(character)
          ? character
          : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
      })
      .join('');
  const { oauth_signature: _signature, ...signed } = oauth;
  const pairs = [...Object.entries(signed), ...target.searchParams].map(
    ([name, value]) => `${encode(name)}=${encode(value)}`,
  );
  const base = `${method}&${encode(target.origin + target.pathname)}&${encode(pairs.sort().join('&'))}`;
  return createHmac('sha1', `${encode(consumer)}&${encode(token)}`)
    .update(base)
    .digest('base64');
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** A private key for ES256 as PEM, such as Apple hands out. */
export function applePrivateKey(): { pem: string; publicKey: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  createPrivateKey(pem);
  return { pem, publicKey };
}
