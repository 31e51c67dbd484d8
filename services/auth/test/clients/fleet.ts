import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessTokens } from '@croft/access-token';
import { type RunningService, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { startAuth } from '../../src/index.ts';
import { migrations } from '../../src/open-context.ts';
import { authSettings } from '../../src/settings.ts';
import { JWT_SECRET } from '../harness.ts';
import { type IssuerEmulator, startIssuerEmulator } from '../support/issuer-emulator.ts';
import { type ProviderEmulator, REDIRECT_URI, startProviderEmulator } from '../support/provider-emulator.ts';
import { type Post, watchPost } from './post.ts';

/** How a server is set up; the rest is the same for all of them. */
export const configurations = {
  autoconfirm: { AUTHSVC_MAILER_AUTOCONFIRM: 'true', AUTHSVC_SMS_AUTOCONFIRM: 'true' },
  confirmation: {},
  'no sign-up': { AUTHSVC_DISABLE_SIGNUP: 'true' },
  'asymmetric keys': {
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_SMS_AUTOCONFIRM: 'true',
    AUTHSVC_JWT_KEYS: JSON.stringify([
      {
        ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
        kid: 'the key of the clients',
        alg: 'ES256',
        key_ops: ['sign', 'verify'],
      },
    ]),
  },
} as const satisfies Record<string, Record<string, string>>;
export type Configuration = keyof typeof configurations;
export const configurationNames = Object.keys(configurations) as Configuration[];

/** Whom the ID tokens of the emulated Google are for. */
export const ISSUER_CLIENT = 'the-application';
/** Where links of mails and providers lead to. */
export const APP = 'https://app.example/signed-in';

/** A server as clients reach it. */
export interface Server {
  configuration: Configuration;
  url: string;
}

/** Servers on one database, as `npm start` runs them, and what they send. */
export interface Fleet extends AsyncDisposable {
  serverOf(configuration: Configuration): Server;
  providers: ProviderEmulator;
  issuers: IssuerEmulator;
  /** A look at the rows, past every server. */
  rows: Database;
  post: Post;
  /** A token of that role without a user, as people make them for their own servers. */
  serviceToken: string;
}

/** Starts a server for each of the configurations. */
export async function startFleet(
  names: readonly Configuration[] = configurationNames,
  more: Record<string, string> = {},
): Promise<Fleet> {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await testDatabase({ schema: 'auth', migrations }));
  const folder = stack.use(await temporaryFolder());
  const providers = stack.use(await startProviderEmulator());
  const issuers = stack.use(await startIssuerEmulator());
  const servers = new Map<Configuration, Server>();
  for (const configuration of names) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const service = await startServer(database.url, folder.path, {
      ...providers.settings('github'),
      AUTHSVC_API_PORT: String(port),
      AUTHSVC_API_EXTERNAL_URL: url,
      AUTHSVC_EXTERNAL_GOOGLE_ENABLED: 'true',
      AUTHSVC_EXTERNAL_GOOGLE_CLIENT_ID: ISSUER_CLIENT,
      AUTHSVC_EXTERNAL_GOOGLE_SECRET: 'secret',
      AUTHSVC_EXTERNAL_GOOGLE_REDIRECT_URI: REDIRECT_URI,
      AUTHSVC_EXTERNAL_GOOGLE_URL: issuers.baseOf('google'),
      ...configurations[configuration],
      ...more,
    });
    stack.defer(() => service.close(1_000));
    servers.set(configuration, { configuration, url });
  }
  const rows = openDatabase({ url: database.url, schema: 'auth', log: silentLog, poolSize: 2 });
  stack.defer(() => rows.close());
  const serviceToken = accessTokens(JWT_SECRET).sign({
    role: 'service_role',
    exp: Math.floor(Date.now() / 1000) + 3600,
  });
  return {
    serverOf(configuration) {
      const server = servers.get(configuration);
      if (server === undefined) throw new Error(`no server for ${configuration}`);
      return server;
    },
    providers,
    issuers,
    rows,
    post: watchPost(folder.path),
    serviceToken,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function startServer(
  databaseUrl: string,
  dataFolder: string,
  more: Record<string, string>,
): Promise<RunningService> {
  const settings = readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_URI_ALLOW_LIST: 'https://app.example/**,http://localhost:*/**',
    AUTHSVC_JWT_SECRET: JWT_SECRET,
    AUTHSVC_RATE_LIMIT_ENABLED: 'false',
    AUTHSVC_SMTP_MAX_FREQUENCY: '1ms',
    AUTHSVC_SMS_MAX_FREQUENCY: '1ms',
    AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTHSVC_MFA_PHONE_ENROLL_ENABLED: 'true',
    AUTHSVC_MFA_PHONE_VERIFY_ENABLED: 'true',
    AUTHSVC_MFA_PHONE_MAX_FREQUENCY: '0',
    AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTHSVC_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
    AUTHSVC_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
    AUTHSVC_DB_MAX_POOL_SIZE: '4',
    ...more,
  });
  const secrets = { atRestKey: new Secret('an at-rest key of the clients') };
  return startAuth({ settings, databaseUrl, dataFolder, log: silentLog, version: '0.0.0-test', secrets });
}

/** A port nobody uses: links in mails name it before the server listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
