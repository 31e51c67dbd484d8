import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type RunningService, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { openDatabase } from '@croft/sql';
import { git, mountSmallDisk, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgeSettings, openForgeTasks, startForge } from '../src/index.ts';
import * as catalogue from '../src/store/upkeep/catalogue.ts';
import { failingGit } from './failing-git.ts';
import { commit, pushBranch, pushedRepository, request, SECRET, useForge } from './forge.ts';
import { type Cast, castOf, openTo, organization } from './repository-scene.ts';

const scene = useForge();
const stack = new AsyncDisposableStack();
const settings = readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' });
let cast: Cast;
let tree: string;
let token: string;
let attached: string;
let backups: string;
beforeAll(async () => {
  cast = await castOf(scene)();
  backups = stack.use(await temporaryFolder()).path;
  tree = await pushedRepository(cast.ada, 'garden', scene.folder);
  await pushBranch(tree, 'next', { 'next.txt': 'x\n' });
  await openTo(cast, 'ada/garden');
  await organization(scene, 'club', { owner: cast.ada, maker: cast.writer });
  await cast.ada.call('POST', '/orgs/club/repos', { name: 'spade', private: true, auto_init: true });
  await cast.stranger.call('POST', '/repos/ada/garden/forks', {});
  await cast.ada.call('PUT', '/repos/ada/garden/topics', { topics: ['tools'] });
  await cast.ada.call('POST', '/repos/ada/garden/branch_protections', { rule_name: 'main' });
  await cast.ada.call('POST', '/repos/ada/garden/tag_protections', {
    name_pattern: '/^v\\d/',
    whitelist_usernames: ['ada', 'writer'],
  });
  await cast.ada.call('PATCH', '/repos/club/spade', { name: 'shovel' });
  for (let number = 1; number <= 12; number++)
    await cast.ada.call('POST', '/repos/ada/garden/issues', {
      title: `'quoted' \\ "number" ${number} \u{1f331}`,
      body: 'a\tb\r\nc\u2028d\u2029e\u0085 $1 :schema ${x}',
    });
  await cast.ada.call('PATCH', '/repos/ada/garden/issues/3', { state: 'closed' });
  await cast.ada.call('POST', '/repos/ada/garden/pulls', { title: 'next', head: 'next', base: 'main' });
  for (const release of [{ tag_name: 'v1' }, { tag_name: 'v2', draft: true }])
    await cast.ada.call('POST', '/repos/ada/garden/releases', release);
  await scene.sql.run`
    insert into :schema.stars (repository_id, user_id, created_at)
    select r.id, u.id, now() from :schema.repositories r, :schema.users u where r.name = 'garden' and u.kind = 'person'`;
  const attachment = await scene.sql.row<{ id: number }>`
    insert into :schema.attachments (uuid, repository_id, issue_id, name, size_bytes, stored, created_at)
    select gen_random_uuid(), repository_id, id, ${'a\u2028.txt'}, 8, true, now() from :schema.issues limit 1 returning id`;
  attached = String(attachment?.id);
  await mkdir(join(scene.dataFolder, 'attachments'), { recursive: true });
  await writeFile(join(scene.dataFolder, 'attachments', attached), 'attached');
  token = cast.ada.token;
});
afterAll(() => stack.disposeAsync());

const open = (databaseUrl: string, dataFolder: string) =>
  openForgeTasks({ settings, databaseUrl, dataFolder, log: silentLog, version: '0.1.0' });

/** A database and a data folder in which nothing is. */
async function emptyPlace(): Promise<{ databaseUrl: string; dataFolder: string }> {
  const { url } = stack.use(
    await testDatabase({ schema: 'other', migrations: new URL('../migrations/', import.meta.url) }),
  );
  return { databaseUrl: url, dataFolder: stack.use(await temporaryFolder()).path };
}

async function backUp(name: string): Promise<string> {
  const folder = join(backups, name);
  const tasks = await open(scene.databaseUrl, scene.dataFolder);
  try {
    await tasks.backUp(folder);
    return folder;
  } finally {
    await tasks.close();
  }
}

async function restore(folder: string): Promise<{ databaseUrl: string; dataFolder: string }> {
  const place = await emptyPlace();
  const tasks = await open(place.databaseUrl, place.dataFolder);
  try {
    await tasks.restore(folder);
    return place;
  } finally {
    await tasks.close();
  }
}

async function start(place: { databaseUrl: string; dataFolder: string }): Promise<RunningService> {
  const service = await startForge({
    ...place,
    settings,
    log: silentLog,
    version: '0.1.0',
    atRestKey: new Secret('0'.repeat(64)),
    tokens: { secret: new Secret(SECRET), adminRoles: ['service_role'] },
    authUrl: undefined,
  });
  stack.adopt(service, (one) => one.close(1000));
  return service;
}

/** What a forge says, without its own address. */
async function answers(address: string, paths: readonly string[]): Promise<unknown[]> {
  return await Promise.all(
    paths.map(async (path) => {
      const { status, text, headers } = await request(`${address}/api/v1${path}`, 'GET', undefined, {
        authorization: `Bearer ${token}`,
      });
      return [path, status, text.replaceAll(address, ''), headers.get('x-total-count')];
    }),
  );
}

const PATHS = [
  '/user',
  '/user/repos',
  '/repos/search?q=a',
  '/repos/ada/garden',
  '/repos/club/spade',
  '/repos/stranger/garden',
  '/repos/ada/garden/collaborators',
  '/repos/ada/garden/branch_protections',
  '/repos/ada/garden/tag_protections',
  '/repos/ada/garden/branches',
  '/repos/ada/garden/contents/lines.txt',
  '/repos/ada/garden/releases',
  '/repos/ada/garden/issues?state=all&limit=50',
  '/repos/ada/garden/pulls?state=all',
  '/repos/club/shovel/teams',
];

it('what comes back answers as it did, and goes on', async () => {
  const before = await answers(scene.address, PATHS);
  const place = await restore(await backUp('whole'));
  const service = await start(place);
  expect(await answers(service.address, PATHS)).toEqual(before);
  expect(await readFile(join(place.dataFolder, 'attachments', attached), 'utf8')).toBe('attached');
  const call = (method: string, path: string, body: object) =>
    request(`${service.address}/api/v1${path}`, method, body, { authorization: `Bearer ${token}` });
  const issue = await call('POST', '/repos/ada/garden/issues', { title: 'after' });
  expect([issue.status, issue.body.number]).toEqual([201, 14]);
  expect((await call('POST', '/user/repos', { name: 'new', auto_init: true })).status).toBe(201);
  const remote = `${service.address.replace('://', `://ada:${token}@`)}/ada/garden.git`;
  await git(scene.folder, 'clone', '-q', remote, 'restored');
  await commit(join(scene.folder, 'restored'), { 'more.txt': 'x' }, 'more');
  await git(join(scene.folder, 'restored'), 'push', '-q', 'origin', 'main:elsewhere');
  const tasks = await open(place.databaseUrl, place.dataFolder);
  const found: object[] = [];
  await tasks.examine('everything', (finding) => found.push(finding));
  await tasks.close();
  expect(found).toEqual([]);
});

it('a backup made while people push, open and remove is whole, and starts', async () => {
  let done = false;
  let rounds = 0;
  const work = (async () => {
    for (; !done; rounds++) {
      await commit(tree, { [`busy${rounds}.txt`]: 'x' }, `busy ${rounds}`);
      await git(tree, 'push', '-q', '-f', 'origin', 'HEAD:next');
      await cast.ada.call('POST', '/repos/ada/garden/issues', { title: `busy ${rounds}` });
      await cast.ada.call('POST', '/user/repos', { name: `brief-${rounds}`, auto_init: true });
      if (rounds > 0) await cast.ada.call('DELETE', `/repos/ada/brief-${rounds - 1}`);
    }
  })();
  const folder = await backUp('busy');
  done = true;
  await work;
  expect(rounds).toBeGreaterThan(0);
  const place = await restore(folder);
  const service = await start(place);
  const [, status] = (await answers(service.address, ['/repos/ada/garden/pulls/13']))[0] as [string, number];
  expect(status).toBe(200);
  const tasks = await open(place.databaseUrl, place.dataFolder);
  const found: object[] = [];
  await tasks.examine('everything', (finding) => found.push(finding));
  await tasks.close();
  expect(found).toEqual([]);
});

describe('a backup that would not be whole is none:', () => {
  const manifestOf = (name: string) => existsSync(join(backups, name, 'manifest.json'));

  it('without the folder of the attachments, something else in its place, or one without what there should be', async () => {
    const folder = join(scene.dataFolder, 'attachments');
    await rename(folder, `${folder}-away`);
    await expect(backUp('no-folder')).rejects.toThrow(
      `lacks the files of attachments, 1 in all, such as ${attached}`,
    );
    await writeFile(folder, 'no folder');
    await expect(backUp('a-file')).rejects.toThrow('ENOTDIR');
    await rm(folder);
    await mkdir(folder);
    await expect(backUp('empty')).rejects.toThrow(
      `lacks the files of attachments, 1 in all, such as ${attached}`,
    );
    await rm(folder, { recursive: true });
    await rename(`${folder}-away`, folder);
    expect(['no-folder', 'a-file', 'empty'].map(manifestOf)).toEqual([false, false, false]);
    await backUp('with-files');
    expect(await readdir(join(backups, 'with-files', 'attachments'))).toEqual([attached]);
  });

  it('no folder is needed where no file was ever stored', async () => {
    const folder = join(scene.dataFolder, 'attachments');
    const update = (stored: boolean) =>
      scene.sql.run`update :schema.attachments set stored = ${stored} where id = ${Number(attached)}`;
    await update(false);
    await rename(folder, `${folder}-away`);
    await backUp('none-stored');
    await rename(`${folder}-away`, folder);
    await update(true);
    expect(await readdir(join(backups, 'none-stored', 'attachments'))).toEqual([]);
  });

  it('with a git that could not say where refs are when it began', async () => {
    await using failing = await failingGit();
    const own = readSettings(forgeSettings, { FORGE_GIT_COMMAND: failing.command });
    const tasks = await openForgeTasks({
      settings: own,
      databaseUrl: scene.databaseUrl,
      dataFolder: scene.dataFolder,
      log: silentLog,
      version: '0.1.0',
    });
    // The first list fails, and those that the copies are made by do not.
    await failing.fail('for-each-ref');
    const making = tasks.backUp(join(backups, 'no-refs'));
    const tables = join(backups, 'no-refs', 'tables');
    const looking = setInterval(() => existsSync(tables) && void failing.recover(), 1);
    await expect(making).rejects.toThrow('for-each-ref');
    clearInterval(looking);
    await tasks.close();
    expect(manifestOf('no-refs')).toBe(false);
  });
});

describe('is refused, and nothing changes:', () => {
  it('a backup into a folder in which something is', async () => {
    const folder = join(backups, 'taken');
    await mkdir(folder);
    await writeFile(join(folder, 'mine'), 'x');
    await expect(backUp('taken')).rejects.toThrow('is not empty');
    expect(await readdir(folder)).toEqual(['mine']);
  });

  it.each([
    ['a file', 'file', /file cannot take the backup: a part of its path is no folder\./],
    ['below a file', 'file/below', /a part of its path is no folder\./],
    ['where no folders are', '/proc/backup', /^\/proc\/backup cannot take the backup: /],
  ])('a backup into %s', async (_what, name, message) => {
    await writeFile(join(backups, 'file'), 'mine');
    const tasks = await open(scene.databaseUrl, scene.dataFolder);
    await expect(tasks.backUp(resolve(backups, name))).rejects.toThrow(message);
    await tasks.close();
    expect(await readFile(join(backups, 'file'), 'utf8')).toBe('mine');
  });

  it('a backup onto a disk that gets full, which leaves it as it was', {
    timeout: 150_000,
  }, async (context) => {
    const folder = join(backups, 'small');
    await mkdir(folder);
    await using _disk = await mountSmallDisk(context, folder, '64k');
    await expect(backUp('small')).rejects.toThrow(
      /small cannot take the backup: its disk is full\. Name another/,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('a restore over a forge', async () => {
    const folder = await backUp('over');
    const before = await scene.sql.rows`select * from :schema.repositories order by id`;
    const tasks = await open(scene.databaseUrl, scene.dataFolder);
    await expect(tasks.restore(folder)).rejects.toThrow('holds something already');
    await tasks.close();
    expect(await scene.sql.rows`select * from :schema.repositories order by id`).toEqual(before);
    expect(existsSync(await scene.bare('ada', 'garden'))).toBe(true);
  });

  it.each([
    ['without its end', (folder: string) => rm(join(folder, 'manifest.json')), 'no complete backup'],
    [
      'of another version',
      async (folder: string) => {
        const file = join(folder, 'manifest.json');
        const text = await readFile(file, 'utf8');
        await writeFile(file, text.replace('0001_accounts', '9999_tomorrow'));
      },
      'of another version of Croft',
    ],
    [
      'that lacks rows',
      async (folder: string) => {
        const file = join(folder, 'tables/users.jsonl');
        await writeFile(file, (await readFile(file, 'utf8')).split('\n').slice(1).join('\n'));
      },
      'rows of users',
    ],
    [
      'whose rows are cut off',
      async (folder: string) => {
        const file = join(folder, 'tables/users.jsonl');
        await writeFile(file, (await readFile(file, 'utf8')).slice(0, -20));
      },
      'tables/users.jsonl cannot be read, a line is no row',
    ],
    [
      'without a table',
      (folder: string) => rm(join(folder, 'tables/users.jsonl')),
      'tables/users.jsonl cannot be read, it is missing',
    ],
    [
      'without a repository',
      async (folder: string) => {
        const [name = ''] = await readdir(join(folder, 'repositories'));
        await rm(join(folder, 'repositories', name), { recursive: true });
      },
      '.git is missing',
    ],
    [
      'whose manifest is cut off',
      async (folder: string) => {
        const file = join(folder, 'manifest.json');
        await writeFile(file, (await readFile(file, 'utf8')).slice(0, -20));
      },
      'manifest.json is no JSON',
    ],
    [
      'that lacks objects',
      async (folder: string) => {
        const [name = ''] = await readdir(join(folder, 'repositories'));
        await rm(join(folder, 'repositories', name, 'objects'), { recursive: true });
        await mkdir(join(folder, 'repositories', name, 'objects'));
      },
      'is not whole in the backup',
    ],
  ])('a restore of one %s', async (_what, spoil, message) => {
    const folder = join(backups, `spoilt-${message.length}`);
    await cp(join(backups, 'whole'), folder, { recursive: true });
    await spoil(folder);
    const place = await emptyPlace();
    const tasks = await open(place.databaseUrl, place.dataFolder);
    await expect(tasks.restore(folder)).rejects.toThrow(message);
    await tasks.close();
    const database = openDatabase({ url: place.databaseUrl, schema: 'forge', log: silentLog });
    const left = await database.autocommit().rows`
      select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'forge'`;
    await database.close();
    expect(left).toEqual([]);
    expect(await readdir(join(place.dataFolder, 'repositories'))).toEqual([]);
  });
});

it('reads few rows of a table at a time, and all of them', async () => {
  const database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  try {
    const batches = await database.transaction(async (tx) => {
      await tx.script(
        'create temporary table many on commit drop as select n from generate_series(1, 250) n',
      );
      const folder = await tx.row<{ name: string }>`select pg_my_temp_schema()::regnamespace::text as name`;
      const read: string[][] = [];
      for await (const lines of catalogue.readRows(tx, folder?.name ?? '', 'many')) read.push(lines);
      return read;
    });
    expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(batches.flat()).toEqual(Array.from({ length: 250 }, (_, index) => `{"n":${index + 1}}`));
  } finally {
    await database.close();
  }
});
