import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApp } from '@croft/http';
import { type RunningService, silentLog, systemClock } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { openDatabase } from '@croft/sql';
import { git, temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveHealth } from '../src/about/serve-health.ts';
import { forgeDialect } from '../src/error-dialect.ts';
import { forgeSettings, openForgeTasks, startForge } from '../src/index.ts';
import { Links } from '../src/links.ts';
import { commit, type Person, pushedRepository, request, SECRET, useForge } from './forge.ts';
import { ownGit } from './own-git.ts';

const ROOT = 'https://code.example.test/git';
const scene = useForge({ environment: { FORGE_ROOT_URL: ROOT } });
const stack = new AsyncDisposableStack();
let ada: Person;
beforeAll(() => {
  ada = scene.person('ada');
});
afterAll(() => stack.disposeAsync());

describe('GET /api/healthz', () => {
  const look = async (address = scene.address) => {
    const { status, body } = await request(`${address}/api/healthz`, 'GET');
    return { status, body: body as unknown as { checks: Record<string, object[]> } };
  };
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const pass = [{ status: 'pass', time }];

  it('is 200 for everybody while requests can be served', async () => {
    expect(await look()).toMatchObject({
      status: 200,
      body: {
        status: 'pass',
        description: expect.any(String),
        checks: { 'database:ping': pass, 'repositories:access': pass },
      },
    });
  });

  it('is 503 without the folder of the repositories, and says nothing of where it is', async () => {
    const folder = join(scene.dataFolder, 'repositories');
    await rename(folder, `${folder}.away`);
    const { status, body } = await look();
    await rename(`${folder}.away`, folder);
    expect({ status, body }).toMatchObject({
      status: 503,
      body: {
        status: 'fail',
        checks: {
          'database:ping': pass,
          'repositories:access': [
            { status: 'fail', time, output: 'the folder of the repositories cannot be used' },
          ],
        },
      },
    });
    expect(JSON.stringify(body)).not.toContain(scene.dataFolder);
    expect((await look()).status).toBe(200);
  });

  it('is 503 without a database', async () => {
    const links = new Links(ROOT);
    const app = await createApp({
      api: { title: '', description: '', version: '' },
      log: silentLog,
      errors: forgeDialect(links),
    });
    const nobody = openDatabase({
      url: 'postgresql://nobody@127.0.0.1:1/none',
      schema: 'forge',
      log: silentLog,
    });
    stack.adopt(nobody, (one) => one.close());
    const own = await ownGit(stack, join(scene.dataFolder, 'repositories'));
    serveHealth(app, { database: nobody, git: own, clock: systemClock, log: silentLog });
    const answer = await app.inject('/api/healthz');
    expect([answer.statusCode, answer.json()]).toMatchObject([
      503,
      {
        status: 'fail',
        checks: {
          'database:ping': [{ status: 'fail', output: 'the database cannot be reached' }],
          'repositories:access': pass,
        },
      },
    ]);
  });
});

describe('where a page would be', () => {
  it.each(['/', '/ada/hello/compare/main...greet', '/ada'])(
    '%s tells a person where the API is',
    async (path) => {
      const { status, headers, text } = await request(`${scene.address}${path}`, 'GET', undefined, {
        accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      });
      expect([status, headers.get('content-type')]).toEqual([
        path === '/' ? 200 : 404,
        'text/plain; charset=utf-8',
      ]);
      expect(text).toContain(`the API is at ${ROOT}/api/v1`);
      expect(text).toContain(`${ROOT}/api/v1/repos/OWNER/REPOSITORY/pulls`);
    },
  );

  it('programs get what is not there as everywhere', async () => {
    const html = { accept: 'text/html' };
    for (const [path, headers] of [
      ['/ada/hello', {}],
      ['/api/v1/nothing', html],
    ] as const) {
      const { status, body } = await request(`${scene.address}${path}`, 'GET', undefined, headers);
      expect([status, typeof body.message]).toEqual([404, 'string']);
    }
  });
});

it('the descriptions of the API know the path of the public address', async () => {
  const swagger = await request(`${scene.address}/swagger.v1.json`, 'GET');
  expect(swagger.body).toMatchObject({ basePath: '/git/api/v1', paths: { '/version': {} } });
  const openApi = await request(`${scene.address}/api/v1/openapi.json`, 'GET');
  expect(openApi.body).toMatchObject({ servers: [{ url: '/git' }], paths: { '/api/v1/version': {} } });
});

describe('a repository whose folder is lost', () => {
  const bare = () => scene.bare('ada', 'lost');
  const doctor = async () => {
    const { databaseUrl, dataFolder } = scene;
    const settings = readSettings(forgeSettings, {});
    const tasks = await openForgeTasks({
      settings,
      databaseUrl,
      dataFolder,
      log: silentLog,
      version: '0.1.0',
    });
    const found: string[] = [];
    await tasks.examine('everything', ({ problem, remedy }) => found.push(`${problem}: ${remedy}`));
    return { found, tasks };
  };
  let tree: string;
  beforeAll(async () => {
    tree = await pushedRepository(ada, 'lost', scene.folder);
  });

  it.each(['git-receive-pack', 'git-upload-pack'])(
    'answers %s with an error, not with half an answer',
    async (service) => {
      const folder = await bare();
      await rename(folder, `${folder}.away`);
      const refs = `${scene.address}/ada/lost.git/info/refs?service=${service}`;
      const authorization = `Bearer ${ada.token}`;
      const { status, body } = await request(refs, 'GET', undefined, { authorization });
      await rename(`${folder}.away`, folder);
      expect([status, body.message]).toEqual([500, 'Internal Server Error']);
      expect((await fetch(refs, { headers: { authorization } })).status).toBe(200);
    },
  );

  it('is whole again with its folder of a backup, and takes pushes, as the doctor says', async () => {
    const backup = join(stack.use(await temporaryFolder()).path, 'backup');
    const before = await doctor();
    expect(before.found).toEqual([]);
    await before.tasks.backUp(backup);
    const folder = await bare();
    await rm(folder, { recursive: true });
    const lost = await doctor();
    expect(lost.found).toEqual([expect.stringMatching(/is missing: put its folder of a backup.*DELETE/)]);
    await cp(join(backup, 'repositories', folder.split('/').at(-1) as string), folder, { recursive: true });
    const after = await doctor();
    expect(after.found).toEqual([]);
    await commit(tree, { 'more.txt': 'x' }, 'more');
    await git(tree, 'push', '-q', ada.remote('ada/lost'), 'main');
    for (const { tasks } of [before, lost, after]) await tasks.close();
  });

  it('can be removed, and pushed to a new one, as the doctor says', async () => {
    await rm(await bare(), { recursive: true });
    expect((await ada.call('DELETE', '/repos/ada/lost')).status).toBe(204);
    expect((await ada.call('POST', '/user/repos', { name: 'lost' })).status).toBe(201);
    await git(tree, 'push', '-q', ada.remote('ada/lost'), 'main');
    expect(await git(await bare(), 'rev-parse', 'main')).toBe(await git(tree, 'rev-parse', 'main'));
  });
});

describe('schema and data folder belong together:', () => {
  const start = (dataFolder: string): Promise<RunningService> =>
    startForge({
      databaseUrl: scene.databaseUrl,
      dataFolder,
      settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' }),
      log: silentLog,
      version: '0.1.0',
      atRestKey: new Secret(SECRET),
      tokens: { secret: new Secret(SECRET), adminRoles: [] },
      authUrl: undefined,
    });
  const mark = () =>
    scene.sql.row<{ mark: string | null }>`
      select obj_description(${'forge.croft_migrations'}::regclass, 'pg_class') as mark`;

  it('a second forge with another folder is refused, and nothing changes', async () => {
    const other = stack.use(await temporaryFolder()).path;
    const before = await mark();
    const id = (await readFile(join(scene.dataFolder, 'forge-id'), 'utf8')).trim();
    expect(before).toEqual({ mark: `data folder ${id}` });
    await expect(start(other)).rejects.toThrow(
      new RegExp(
        `"forge" are not in the data folder ${other}.*Set CROFT_DATA.*write ${id} into ${other}/forge-id`,
      ),
    );
    expect(await mark()).toEqual(before);
    expect(existsSync(join(other, 'forge-id'))).toBe(false);
    // What the sentence says works.
    await writeFile(join(other, 'forge-id'), `${id}\n`);
    await (await start(other)).close(0);
  });

  it('an installation of an earlier version is taken as a pair, with its own folder only', async () => {
    await scene.sql.run`comment on table :schema.croft_migrations is null`;
    const file = join(scene.dataFolder, 'forge-id');
    await rm(file);
    const other = stack.use(await temporaryFolder()).path;
    await expect(start(other)).rejects.toThrow('not in the data folder');
    expect([await mark(), existsSync(join(other, 'forge-id'))]).toEqual([{ mark: null }, false]);
    await scene.restart();
    const id = (await readFile(file, 'utf8')).trim();
    expect(await mark()).toEqual({ mark: `data folder ${id}` });
  });

  it('a folder of one schema is not taken for another that is new', async () => {
    const other = stack.use(await temporaryFolder()).path;
    await mkdir(join(other, 'repositories/1.git'), { recursive: true });
    await writeFile(join(other, 'forge-id'), 'its own\n');
    await chmod(other, 0o700);
    const starting = startForge({
      databaseUrl: scene.databaseUrl,
      dataFolder: other,
      settings: readSettings(forgeSettings, { FORGE_HTTP_PORT: '0', FORGE_DB_SCHEMA: 'fresh' }),
      log: silentLog,
      version: '0.1.0',
      atRestKey: new Secret(SECRET),
      tokens: { secret: new Secret(SECRET), adminRoles: [] },
      authUrl: undefined,
    });
    await expect(starting).rejects.toThrow(/belong to another schema than "fresh".*move .*repositories away/);
    expect(await readFile(join(other, 'forge-id'), 'utf8')).toBe('its own\n');
  });
});
