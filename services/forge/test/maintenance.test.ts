import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog, systemClock } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { git } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Finding, type ForgeTasks, forgeSettings, openForgeTasks } from '../src/index.ts';
import { maintainNext } from '../src/maintenance/maintain-repositories.ts';
import { sweepAfterStart } from '../src/maintenance/sweep-after-start.ts';
import type { Git } from '../src/outside/git/git.ts';
import { removeLeftovers } from '../src/outside/git/leftovers.ts';
import { measureStorage } from '../src/outside/git/upkeep.ts';
import { roomLeft } from '../src/repositories/room-left.ts';
import { commit, pushedRepository, useForge } from './forge.ts';
import { ownGit } from './own-git.ts';
import { type Cast, castOf } from './repository-scene.ts';

const scene = useForge();
const stack = new AsyncDisposableStack();
let cast: Cast;
let tree: string;
let own: Git;
let database: Database;
let tasks: ForgeTasks;
beforeAll(async () => {
  cast = await castOf(scene)();
  tree = await pushedRepository(cast.ada, 'garden', scene.folder);
  own = await ownGit(stack, join(scene.dataFolder, 'repositories'));
  const opened = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
  database = stack.adopt(opened, (one) => one.close());
  const settings = readSettings(forgeSettings, {});
  const { databaseUrl, dataFolder } = scene;
  tasks = await openForgeTasks({ settings, databaseUrl, dataFolder, log: silentLog, version: '0.1.0' });
  stack.adopt(tasks, (one) => one.close());
});
afterAll(() => stack.disposeAsync());
const id = async (name = 'garden') =>
  (await scene.sql.row<{ id: number }>`select id from :schema.repositories where name = ${name}`)?.id ?? 0;
/** A clock that is ahead, so that everybody has been quiet for long. */
const ahead = (minutes: number) => ({ now: () => new Date(systemClock.now().getTime() + minutes * 60_000) });
const later = (minutes: number) => {
  const clock = ahead(minutes);
  return {
    git: own,
    clock,
    log: silentLog,
    database: { ...database, autocommit: () => ({ ...database.autocommit(), now: clock.now() }) } as Database,
  };
};
const never = new AbortController().signal;
const turns = async (minutes: number) => {
  let count = 0;
  while (await maintainNext(later(minutes), never)) count++;
  return count;
};

describe('after a start', () => {
  it('what a crash left goes, and nothing that may be in use', async () => {
    const bare = await scene.bare('ada', 'garden');
    await mkdir(join(bare, 'refs/heads/deep'), { recursive: true });
    const left = [
      'refs/heads/main.lock',
      'refs/heads/deep/er.lock',
      'HEAD.lock',
      'packed-refs.lock',
      'objects/maintenance.lock',
      'objects/tmp_obj_0123456789ab',
      'objects/tmp_obj_Ab12Ce',
      'objects/pack/tmp_pack_Ab12Cd',
      'objects/tmp_objdir-merge-old',
    ];
    const others = [
      'refs/heads/young.lock',
      'objects/tmp_obj_ba9876543210',
      'objects/tmp_objdir-incoming-young',
    ];
    const startedAt = Date.now() - 60_000;
    for (const name of [...left, ...others]) {
      if (name.includes('objdir')) await mkdir(join(bare, name, '1b'), { recursive: true });
      else await writeFile(join(bare, name), '');
      const made = new Date(startedAt + (left.includes(name) ? -20 : 1000));
      await utimes(join(bare, name), made, made);
    }
    await expect(git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/deep/er')).rejects.toThrow(
      /failed to update/,
    );
    const refs = await git(bare, 'for-each-ref');
    expect(await removeLeftovers(own, await id(), { madeBefore: startedAt })).toBe(left.length);
    expect(left.filter((name) => existsSync(join(bare, name)))).toEqual([]);
    expect(others.filter((name) => existsSync(join(bare, name)))).toEqual(others);
    expect(await git(bare, 'for-each-ref')).toBe(refs);
    await git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/deep/er');
    await git(tree, 'push', '-q', 'origin', ':deep/er');
    for (const name of others) await rm(join(bare, name), { recursive: true });
    expect(await removeLeftovers(own, await id(), { madeBefore: startedAt })).toBe(0);
  });
});

it('after a start what is there is swept once, when nothing of the process before goes on: clock set back or not', {
  timeout: 150_000,
}, async () => {
  const bare = await scene.bare('ada', 'garden');
  const [old, held] = [join(bare, 'refs/heads/old.lock'), join(bare, 'refs/heads/held.lock')];
  await writeFile(old, '');
  await utimes(old, new Date(1_700_000_000_000), new Date(1_700_000_000_000));
  vi.spyOn(Date, 'now').mockReturnValueOnce(Date.now() + 3_600_000);
  const sweeping = sweepAfterStart({ git: own, log: silentLog }, never);
  const nowhere = { folder: '/nonexistent' } as Git;
  const lost = sweepAfterStart({ git: nowhere, log: silentLog }, never);
  await writeFile(held, '');
  expect(existsSync(old)).toBe(true);
  await Promise.all([sweeping, lost]);
  expect([existsSync(old), existsSync(held)]).toEqual([false, true]);
  await rm(held);
});

describe('maintenance', () => {
  it('waits until a push is some time ago, then packs what lies about, and takes nothing away', async () => {
    const bare = await scene.bare('ada', 'garden');
    // What no ref reaches: the commit of a merge whose branch is about to move looks like this.
    const pieces = join(scene.folder, 'pieces');
    await mkdir(pieces);
    const files = Array.from({ length: 250 }, (_, number) => join(pieces, `${number}`));
    await Promise.all(files.map((file) => writeFile(file, file)));
    const lonely = (await git(bare, 'hash-object', '-w', '--', ...files)).split('\n');
    await commit(tree, { 'more.txt': 'more\n' }, 'more');
    await git(tree, 'push', '-q', 'origin', 'main');
    const before = await git(bare, 'rev-list', '--all', '--count');
    expect(await maintainNext(later(0), never)).toBe(false);
    expect((await measureStorage(own, await id())).looseObjects).toBeGreaterThan(200);
    expect(await turns(5)).toBeGreaterThan(0);
    const storage = await measureStorage(own, await id());
    expect(storage.packs).toBeGreaterThan(0);
    for (const object of lonely.slice(0, 9)) expect(await git(bare, 'cat-file', '-t', object)).toBe('blob');
    expect(await git(bare, 'rev-list', '--all', '--count')).toBe(before);
    expect(await git(bare, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    const { body } = await cast.ada.call('GET', '/repos/ada/garden');
    expect(body['size']).toBe(Math.ceil(storage.bytes / 1024));
    expect(await turns(30)).toBe(0);
  });

  it('leaves a repository alone while somebody pushes to it', async () => {
    await scene.sql.run`update :schema.repositories set updated_at = now() + interval '1 hour'`;
    await scene.sql.run`
      insert into :schema.pushes (repository_id, started_at) select id, now() from :schema.repositories`;
    expect(await turns(120)).toBe(0);
    await scene.sql.run`delete from :schema.pushes`;
    expect(await turns(120)).toBeGreaterThan(0);
    await scene.sql.run`update :schema.repositories set updated_at = now(), maintained_at = now()`;
  });

  it('comes back later and later to one that fails, and disturbs nobody else', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'broken', auto_init: true });
    await turns(60);
    const bare = await scene.bare('ada', 'broken');
    await rm(join(bare, 'HEAD'));
    await scene.sql.run`update :schema.repositories set updated_at = now() + interval '2 hours'
      where name = 'broken'`;
    expect(await turns(24 * 60)).toBe(1);
    const row = () => scene.sql.row<{ maintenance_failures: number }>`
      select maintenance_failures from :schema.repositories where name = 'broken'`;
    expect(await row()).toEqual({ maintenance_failures: 1 });
    expect(await turns(24 * 60 + 15)).toBe(0);
    expect(await turns(24 * 60 + 25)).toBe(1);
    expect(await row()).toEqual({ maintenance_failures: 2 });
    await writeFile(join(bare, 'HEAD'), 'ref: refs/heads/main\n');
    expect(await turns(24 * 60 + 90)).toBe(1);
    expect(await row()).toEqual({ maintenance_failures: 0 });
  });

  it('a quota leaves room as far as it goes', async () => {
    const room = (quota: string) =>
      roomLeft(
        { settings: readSettings(forgeSettings, { FORGE_GIT_MAX_REPOSITORY_BYTES: quota }), git: own },
        { id: ourId },
      );
    const ourId = await id();
    const { bytes } = await measureStorage(own, ourId);
    expect(await room('0')).toBeUndefined();
    expect(await room('1')).toBe(0);
    expect(await room(String(bytes + 5))).toBe(5);
  });
});

describe('the doctor', () => {
  const look = async () => {
    const found: Finding[] = [];
    await tasks.examine('everything', (finding) => found.push(finding));
    return found.map(({ repository, problem }) => `${repository}: ${problem}`);
  };

  it('finds nothing where nothing is', async () => {
    expect(await look()).toEqual([]);
  });

  it('finds what was lost, left and miscounted, and changes nothing', async () => {
    const folder = join(scene.dataFolder, 'repositories');
    for (const name of ['lost', 'astray', 'eaten', 'stuck'])
      await pushedRepository(cast.ada, name, scene.folder);
    await rm(await scene.bare('ada', 'lost'), { recursive: true });
    await mkdir(join(folder, '999999.git'));
    await mkdir(join(folder, '999998.making'));
    await git(await scene.bare('ada', 'astray'), 'symbolic-ref', 'HEAD', 'refs/heads/other');
    const eaten = await scene.bare('ada', 'eaten');
    const blob = await git(eaten, 'rev-parse', 'main:lines.txt');
    const object = join(eaten, 'objects', blob.slice(0, 2), blob.slice(2));
    if (existsSync(object)) await rm(object);
    else
      for (const name of await readdir(join(eaten, 'objects/pack')))
        await rm(join(eaten, 'objects/pack', name));
    const lock = join(await scene.bare('ada', 'stuck'), 'refs/heads/main.lock');
    await writeFile(lock, '');
    await utimes(lock, new Date(0), new Date(0));
    await scene.sql
      .run`update :schema.repositories set issues = issues + 2, branches = 7 where name = 'stuck'`;
    await cast.ada.call('POST', '/repos/ada/stuck/releases', { tag_name: 'v1' });
    await git(await scene.bare('ada', 'stuck'), 'update-ref', '-d', 'refs/tags/v1');
    const before = await scene.sql.rows`select * from :schema.repositories order by id`;
    const found = await look();
    const rows = new Map(await Promise.all(['lost'].map(async (name) => [name, await id(name)] as const)));
    expect(found).toEqual(
      expect.arrayContaining([
        `: the folder ${join(folder, '999999.git')} belongs to no repository`,
        `: the folder ${join(folder, '999998.making')} belongs to no repository`,
        `ada/lost: its folder ${rows.get('lost')}.git is missing`,
        'ada/astray: HEAD is refs/heads/other, and the default branch main',
        'ada/stuck: the number of issues is 2, and there are 0',
        'ada/stuck: it counts 7 branches, and has 1',
        'ada/stuck: the tag of release v1 is missing',
        'ada/stuck: refs/heads/main.lock was left behind',
        expect.stringMatching(/^ada\/eaten: git fsck: /),
      ]),
    );
    expect(await scene.sql.rows`select * from :schema.repositories order by id`).toEqual(before);
    expect(existsSync(lock)).toBe(true);
  });
});
