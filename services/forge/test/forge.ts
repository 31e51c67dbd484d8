import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type AccessTokenClaims, accessTokens } from '@croft/access-token';
import { type Clock, type Log, type RunningService, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { openDatabase, type Tx } from '@croft/sql';
import { git, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll } from 'vitest';
import { forgeSettings, startForge } from '../src/index.ts';
import { checkDeclared } from './declared-answers.ts';

/** The secret both the tests and the forge under test know. */
export const SECRET = 'a-secret-of-at-least-thirty-two-characters';
/** The tables of the forge. */
export const MIGRATIONS = new URL('../migrations/', import.meta.url);

/** What a test may decide about its forge. */
export interface ForgeUnderTest {
  environment?: Record<string, string>;
  /** Asked for at each start. */
  authUrl?: () => string;
  clock?: Clock;
  log?: Log;
}

/** A running forge with a database, a folder and people of its own. */
export interface Scene {
  readonly address: string;
  readonly dataFolder: string;
  readonly databaseUrl: string;
  /** A folder for work trees. */
  readonly folder: string;
  /** Looks into the forge's tables. */
  readonly sql: Tx;
  /** Somebody signed in with the auth service. */
  person(name: string, claims?: AccessTokenClaims): Person;
  /** The forge's own repository of a name, on its disk. */
  bare(owner: string, name: string): Promise<string>;
  restart(whileDown?: () => Promise<void>): Promise<void>;
}

/** Parts of answers that tests look into; the rest is compared as a whole. */
export interface Body {
  [key: string]: unknown;
  id: number;
  number: number;
  message: string;
  login: string;
  sha1: string;
  title: string;
  merge_base: string;
  merge_commit_sha: string;
  mergeable: boolean;
  head: { sha: string; ref: string };
  base: { sha: string };
}

/** An answer, read. */
export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: Body;
  items: Body[];
}

/** Makes requests in somebody's name. */
export interface Person {
  readonly name: string;
  readonly token: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Address of a repository with the person's credentials in it. */
  remote(repository: string): string;
}

/** Runs a forge for the tests of a file. */
export function useForge(options: ForgeUnderTest = {}): Scene {
  const scene = {} as { -readonly [K in keyof Scene]: Scene[K] };
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    const { url } = stack.use(await testDatabase({ schema: 'forge', migrations: MIGRATIONS }));
    const database = stack.adopt(openDatabase({ url, schema: 'forge', log: silentLog }), (one) =>
      one.close(),
    );
    const { path: dataFolder } = stack.use(await temporaryFolder());
    let service: RunningService;
    async function start(): Promise<void> {
      service = await startForge({
        settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0', ...options.environment }),
        databaseUrl: url,
        dataFolder,
        log: options.log ?? silentLog,
        ...(options.clock === undefined ? {} : { clock: options.clock }),
        version: '0.1.0',
        atRestKey: new Secret(SECRET),
        tokens: { secret: new Secret(SECRET), adminRoles: ['service_role'] },
        authUrl: options.authUrl?.(),
      });
      scene.address = service.address;
    }
    await start();
    stack.defer(() => service.close(1000));
    scene.folder = stack.use(await temporaryFolder()).path;
    scene.dataFolder = dataFolder;
    scene.databaseUrl = url;
    scene.sql = database.autocommit();
    scene.person = (name, claims) => personWith(name, tokenFor(name, claims), () => scene.address);
    scene.bare = async (owner, name) => {
      const row = await scene.sql.row<{ id: number }>`
        select r.id from :schema.repositories r join :schema.users u on u.id = owner_id
        where login = ${owner} and name = ${name}`;
      return join(dataFolder, 'repositories', `${row?.id}.git`);
    };
    scene.restart = async (whileDown) => {
      await service.close(1000);
      await whileDown?.();
      await start();
    };
  });
  afterAll(() => stack.disposeAsync());
  return scene;
}

/** An access token of the auth service. */
export function tokenFor(name: string, claims: AccessTokenClaims = {}): string {
  return accessTokens(SECRET).sign({
    sub: randomUUID(),
    role: 'authenticated',
    email: `${name}@example.test`,
    exp: Math.floor(Date.now() / 1000) + 3600,
    user_metadata: { user_name: name },
    ...claims,
  });
}

/** Somebody with a token of whatever kind. */
export function personWith(name: string, token: string, address: () => string): Person {
  return {
    name,
    token,
    call: (method, path, body, headers = {}) =>
      request(`${address()}/api/v1${path}`, method, body, { authorization: `Bearer ${token}`, ...headers }),
    remote: (repository) => `${address().replace('://', `://${name}:${token}@`)}/${repository}.git`,
  };
}

/** One request, with a body that is sent as JSON unless it is text already. */
export async function request(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const answer = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const json = text !== '' && answer.headers.get('content-type')?.startsWith('application/json') === true;
  const read: unknown = json ? JSON.parse(text) : undefined;
  const { pathname } = new URL(url);
  if (pathname.startsWith('/api/v1/'))
    checkDeclared(method, pathname.slice('/api/v1'.length), answer.status, read);
  return { status: answer.status, headers: answer.headers, text, body: read as Body, items: read as Body[] };
}

/** A work tree with a first commit on `main`, pushed to a new repository of the person. */
export async function pushedRepository(
  person: Person,
  name: string,
  folder: string,
  options: { private?: boolean } = {},
): Promise<string> {
  const made = await person.call('POST', '/user/repos', { name, ...options });
  if (made.status !== 201) throw new Error(`repository not made: ${made.text}`);
  const tree = join(folder, name);
  await git(folder, 'init', '-q', '-b', 'main', tree);
  // Random bytes do not get smaller, and trying takes most of the time of a test that pushes many.
  await git(tree, 'config', 'core.compression', '0');
  await commit(tree, { 'README.md': `# ${name}\n`, 'lines.txt': lines(1, 20) }, 'first');
  await git(tree, 'remote', 'add', 'origin', person.remote(`${person.name}/${name}`));
  await git(tree, 'push', '-q', 'origin', 'main');
  return tree;
}

/** Commits files by path, null removing one, and returns the commit. */
export async function commit(
  tree: string,
  files: Record<string, string | Buffer | null>,
  message: string,
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(tree, path);
    await mkdir(dirname(file), { recursive: true });
    if (content === null) await rm(file);
    else await writeFile(file, content);
  }
  await git(tree, 'add', '-A');
  await git(tree, 'commit', '-q', '--allow-empty', '-m', message);
  return await git(tree, 'rev-parse', 'HEAD');
}

/** Commits files on a branch that starts at `from`, pushes it and returns to main. */
export async function pushBranch(
  tree: string,
  branch: string,
  files: Record<string, string | Buffer | null>,
  from = 'main',
): Promise<string> {
  await git(tree, 'checkout', '-q', '-B', branch, from);
  const id = await commit(tree, files, `work on ${branch}`);
  await git(tree, 'push', '-q', '-f', 'origin', branch);
  await git(tree, 'checkout', '-q', 'main');
  return id;
}

/** Numbered lines, a text that merges well. */
export function lines(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');
}
