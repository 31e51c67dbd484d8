import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { git, gitEnvironment } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { listBranches } from '../src/branches/list-branches.ts';
import { callerOf } from '../src/caller/caller.ts';
import { listCommits } from '../src/commits/list-commits.ts';
import { showContents } from '../src/contents/show-contents.ts';
import type { Context } from '../src/context.ts';
import { forgeSettings } from '../src/index.ts';
import { createContext, openForgeDatabase, openGit } from '../src/open-resources.ts';
import { Broker } from '../src/outside/git/broker.ts';
import { listReleases } from '../src/releases/list-releases.ts';
import { listStatuses } from '../src/statuses/list-statuses.ts';
import * as users from '../src/store/people/users.ts';
import { listTags } from '../src/tags/list-tags.ts';
import { commit, type Person, pushedRepository, SECRET, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'hello', scene.folder);
});

/** Runs git with text on its standard input. */
function pipe(folder: string, args: string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: gitEnvironment, maxBuffer: 1e8 };
    const child = execFile('git', args, options, (error, out) =>
      error === null ? resolve(out.trim()) : reject(new Error('git failed', { cause: error })),
    );
    child.stdin?.end(input);
  });
}

const COMMITTER = (second: number) =>
  `committer Person ${second} <person-${second}@example.test> ${second} +0000\n`;

describe('a page of fifty costs as much as a page of one', () => {
  const opened = new AsyncDisposableStack();
  let context: Context;
  beforeAll(async () => {
    const bare = await scene.bare('ada', 'hello');
    const commits = Array.from(
      { length: 60 },
      (_, n) =>
        `commit refs/heads/main\n${COMMITTER(2_000_000_000 + n)}data 2\nc\n` +
        `${n === 0 ? 'from refs/heads/main^0\n' : ''}M 644 inline file-${n}\ndata 2\nx\n\n` +
        `reset refs/heads/branch-${n}\nfrom refs/heads/main\n\n` +
        `tag tag-${n}\nfrom refs/heads/main\ntagger Ada <a@b> ${2_000_000_000 + n} +0000\ndata 2\nt\n`,
    );
    // Faster than making them one by one.
    await pipe(bare, ['fast-import', '--quiet', '--force'], commits.join(''));
    await scene.person('bob').call('GET', '/user');
    await scene.sql.run`
      with made as (
        insert into :schema.releases (repository_id, tag_name, target, name, body, prerelease, author_id, created_at,
          published_at)
        select r.id, 'tag-' || n, 'main', '', '', false, u.id, now(), now()
        from :schema.repositories r, :schema.users u, generate_series(1, 60) n where u.login = 'bob' returning *)
      insert into :schema.attachments (uuid, repository_id, release_id, name, size_bytes, stored, created_at)
      select gen_random_uuid(), repository_id, id, 'file', 0, true, now() from made, generate_series(1, 3)`;
    const settings = readSettings(forgeSettings, { FORGE_HTTP_PORT: '0' });
    const options = {
      settings,
      databaseUrl: scene.databaseUrl,
      dataFolder: scene.dataFolder,
      log: silentLog,
      version: '0.1.0',
      atRestKey: new Secret(SECRET),
      tokens: { secret: new Secret(SECRET) },
      authUrl: undefined,
    };
    const database = opened.adopt(openForgeDatabase(options), (one) => one.close());
    context = createContext(
      options,
      database,
      opened.adopt(await openGit(options), (one) => one.close()),
    );
  });
  afterAll(() => opened.disposeAsync());

  it.each(['branches', 'tags', 'commits', 'entries of a folder', 'statuses', 'releases'] as const)(
    'of %s',
    async (what) => {
      const path = { owner: 'ada', repo: 'hello' };
      const user = await users.findByLogin(context.database.autocommit(), 'ada');
      if (user === undefined) throw new Error('ada is missing');
      const viewer = callerOf(user);
      const lists = {
        branches: (limit: string) => listBranches(context, viewer, path, { limit }),
        tags: (limit: string) => listTags(context, viewer, path, { limit }),
        commits: (limit: string) => listCommits(context, viewer, path, { limit }),
        // A folder has no pages: an old commit has few files, the latest many.
        'entries of a folder': async (limit: string) => {
          const ref = limit === '1' ? 'main' : 'branch-0';
          return { items: [await showContents(context, viewer, { ...path, file: '' }, ref)].flat() };
        },
        releases: (limit: string) => listReleases(context, viewer, path, { limit }),
        statuses: (limit: string) => listStatuses(context, viewer, { ...path, sha: 'main' }, { limit }),
      };
      const list = lists[what];
      const starts = vi.spyOn(Broker.prototype, 'start');
      const cost = async (limit: string) => {
        const before = [starts.mock.calls.length, context.database.roundTrips] as const;
        const { items } = await list(limit);
        return {
          items: items.length,
          processes: starts.mock.calls.length - before[0],
          statements: context.database.roundTrips - before[1],
        };
      };
      await list('2');
      const one = await cost('1');
      const fifty = await cost('50');
      starts.mockRestore();
      expect(fifty.items).not.toBe(what === 'statuses' ? 1 : one.items);
      expect(fifty.processes).toBeLessThanOrEqual(one.processes);
      expect(fifty.statements).toBe(one.statements);
      expect(one.processes).toBeLessThanOrEqual(3);
      expect(one.statements).toBeLessThanOrEqual(4);
    },
  );
});

describe('a folder of 100,000 files', () => {
  const COUNT = 100_000;
  beforeAll(async () => {
    await ada.call('POST', '/user/repos', { name: 'wide' });
    const bare = await scene.bare('ada', 'wide');
    const blob = await pipe(bare, ['hash-object', '-w', '--stdin'], 'x\n');
    const names = Array.from({ length: COUNT }, (_, n) => `file-${String(n).padStart(6, '0')}`);
    const folder = await pipe(
      bare,
      ['mktree'],
      names.map((name) => `100644 blob ${blob}\t${name}\n`).join(''),
    );
    const root = await pipe(bare, ['mktree'], `040000 tree ${folder}\tfolder\n`);
    await git(bare, 'update-ref', 'refs/heads/main', await git(bare, 'commit-tree', '-m', 'wide', root));
  });

  it('is shown in pages', async () => {
    const { status, body } = await ada.call('GET', '/repos/ada/wide/git/trees/main?recursive=true&page=100');
    expect(status).toBe(200);
    expect(body).toMatchObject({ page: 100, total_count: COUNT + 1, truncated: true });
    expect(body['tree']).toHaveLength(1000);
  });

  it('is shown so far as a folder, and each of its files is found', async () => {
    const { items } = await ada.call('GET', '/repos/ada/wide/contents/folder');
    expect(items).toHaveLength(10_000);
    const { body } = await ada.call('GET', '/repos/ada/wide/contents/folder/file-099999');
    expect(body).toMatchObject({
      content: Buffer.from('x\n').toString('base64'),
      last_commit_sha: expect.any(String),
    });
    expect((await ada.call('GET', '/repos/ada/wide/contents/folder/file-1*')).status).toBe(404);
    expect((await ada.call('GET', '/repos/ada/wide/contents/folder/none')).status).toBe(404);
  });

  it('does not make the answer about its commit as long', async () => {
    const { status, text } = await ada.call('GET', '/repos/ada/wide/commits');
    expect(status).toBe(200);
    // Named are some of its files at most, or, where counting them takes too long, none.
    expect(text.length).toBeLessThan(300_000);
  });

  it('is not the only one with many files', async () => {
    const files = Object.fromEntries(Array.from({ length: 3100 }, (_, n) => [`many/${n}`, 'x\n']));
    await commit(tree, files, 'many');
    await git(tree, 'push', '-q', 'origin', 'HEAD:refs/heads/many');
    await git(tree, 'reset', '-q', '--hard', 'HEAD~1');
    const { body } = await ada.call('GET', '/repos/ada/hello/git/commits/many');
    expect(body).toMatchObject({ stats: { total: 3100, additions: 3100 } });
    expect(body['files']).toHaveLength(3000);
  });
});

describe('damaged objects', () => {
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    await git(tree, 'checkout', '-q', '-B', 'damaged');
    await commit(
      tree,
      { 'd/blob': 'to be damaged', 'e/f': 'a tree to be damaged' },
      'under the damaged commit',
    );
    ids['blob'] = await git(tree, 'rev-parse', 'HEAD:d/blob');
    ids['tree'] = await git(tree, 'rev-parse', 'HEAD:e');
    ids['commit'] = await commit(tree, {}, 'to be damaged');
    await git(tree, 'push', '-q', 'origin', 'HEAD~1:refs/heads/damaged', 'HEAD:refs/heads/damaged-tip');
    const bare = await scene.bare('ada', 'hello');
    for (const id of Object.values(ids)) {
      const file = join(bare, 'objects', id.slice(0, 2), id.slice(2));
      await chmod(file, 0o644);
      await writeFile(file, 'no object');
    }
  });

  it.each([
    ['contents/d/blob?ref=damaged', 404],
    ['raw/d/blob?ref=damaged', 404],
    ['contents/e?ref=damaged', 404],
    ['contents/e/f?ref=damaged', 404],
    ['contents?ref=damaged', 200],
    ['branches/damaged-tip', 404],
    ['branches', 200],
    ['git/refs', 200],
    ['tags', 200],
    ['commits?sha=damaged-tip', 404],
    ['git/commits/damaged-tip', 404],
    ['commits/damaged-tip/status', 404],
    ['git/trees/damaged?recursive=true', 422],
    ['compare/main...damaged', 200],
  ])('answer precisely at %s', async (path, status) => {
    // Others ask at the same time, and get their answers.
    const [answer, ...others] = await Promise.all([
      ada.call('GET', `/repos/ada/hello/${path}`),
      ada.call('GET', '/repos/ada/hello/contents/README.md'),
      ada.call('GET', '/repos/ada/hello/git/commits/main'),
    ]);
    expect(others.map((other) => other.status)).toEqual([200, 200]);
    expect(answer.status).toBe(status);
  });

  it('break off an archive that has begun', async () => {
    await expect(ada.call('GET', '/repos/ada/hello/archive/damaged.zip')).rejects.toThrow('terminated');
    expect((await ada.call('GET', '/repos/ada/hello/archive/damaged-tip.zip')).status).toBe(404);
    expect((await ada.call('GET', '/repos/ada/hello/archive/main.zip')).status).toBe(200);
  });

  it('answer 404 by their ids', async () => {
    for (const [kind, id] of Object.entries(ids))
      expect((await ada.call('GET', `/repos/ada/hello/git/${kind}s/${id}`)).status).toBe(404);
  });
});
