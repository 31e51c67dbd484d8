import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
beforeAll(() => {
  ada = scene.person('ada');
  bob = scene.person('bob');
});
const folders = () => readdirSync(join(scene.dataFolder, 'repositories')).sort();

describe('creating a repository', () => {
  it('answers with everything clients read', async () => {
    const { status, body } = await ada.call('POST', '/user/repos', {
      name: 'Tools',
      description: 'sharp',
      private: true,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Tools',
      full_name: 'ada/Tools',
      description: 'sharp',
      owner: { login: 'ada' },
      private: true,
      empty: true,
      default_branch: 'main',
      archived: false,
      mirror: false,
      has_issues: true,
      has_pull_requests: true,
      allow_merge_commits: true,
      default_merge_style: 'merge',
      permissions: { admin: true, push: true, pull: true },
      clone_url: `${scene.address}/ada/Tools.git`,
      html_url: `${scene.address}/ada/Tools`,
    });
    expect((await ada.call('GET', '/repos/ADA/tools')).body).toEqual(body);
    expect((await ada.call('GET', '/user/repos')).items).toEqual([body]);
  });

  it('makes a folder named after the id, without template and hooks', async () => {
    const { body } = await ada.call('POST', '/user/repos', { name: 'plain', default_branch: 'trunk' });
    const bare = join(scene.dataFolder, 'repositories', `${body.id}.git`);
    expect(readdirSync(bare).sort()).toEqual(['HEAD', 'config', 'objects', 'refs']);
    expect(await git(bare, 'symbolic-ref', 'HEAD')).toBe('refs/heads/trunk');
  });

  it('with auto_init starts with a commit', async () => {
    const { body } = await ada.call('POST', '/user/repos', {
      name: 'ready',
      description: 'Words.',
      auto_init: true,
    });
    expect(body).toMatchObject({ empty: false, default_branch: 'main' });
    await git(scene.folder, 'clone', '-q', ada.remote('ada/ready'), 'ready');
    expect(await git(join(scene.folder, 'ready'), 'show', 'HEAD:README.md')).toBe('# ready\n\nWords.');
    expect(await git(await scene.bare('ada', 'ready'), 'fsck', '--strict')).toBe('');
  });

  it.each([
    [
      'a name that is taken, in another case',
      { name: 'tOOLS' },
      409,
      'The repository with the same name already exists.',
    ],
    ['no name', {}, 422, '[Name]: Required'],
    ['an empty name', { name: ' ' }, 422, '[Name]: Required'],
    ['a slash', { name: 'a/b' }, 422, '[Name]: AlphaDashDot'],
    ['a backslash', { name: 'a\\b' }, 422, '[Name]: AlphaDashDot'],
    ['letters that look like others', { name: 'tооls' }, 422, '[Name]: AlphaDashDot'],
    ['`.`', { name: '.' }, 422, 'The repository name is reserved [name: .]'],
    ['`..`', { name: '..' }, 422, 'The repository name is reserved [name: ..]'],
    ['`.git` at the end', { name: 'a.git' }, 422, 'The repository name is reserved [name: a.git]'],
    ['`.lock` at the end', { name: 'a.lock' }, 422, 'The repository name is reserved [name: a.lock]'],
    ['a leading dash', { name: '-rf' }, 422, 'The repository name is reserved [name: -rf]'],
    ['101 characters', { name: 'a'.repeat(101) }, 422, '[Name]: MaxSize(100)'],
    [
      'a branch that would answer for another',
      { name: 'b', auto_init: true, default_branch: 'refs/heads/x' },
      422,
      '[DefaultBranch]: GitRefName',
    ],
    ['a branch name git refuses', { name: 'b', default_branch: 'a..b' }, 422, '[DefaultBranch]: GitRefName'],
    [
      'a branch name that is an option',
      { name: 'b', default_branch: '--help' },
      422,
      '[DefaultBranch]: GitRefName',
    ],
    ['NUL', { name: 'b', description: 'a\u0000b' }, 422, '[Description]: NUL is not allowed'],
    [
      'a format of objects that git has and this has not',
      { name: 'b', object_format_name: 'sha256' },
      422,
      /^\[ObjectFormatName\]: /,
    ],
    ['a number as name', { name: 5 }, 422, '[Name]: Invalid input: expected string, received number'],
    ['JSON that is none', '{"name":', 422, /^\[\]: /],
    ['an array', [], 422, /^\[\]: /],
  ])('is refused with %s, and nothing changes', async (_what, body, status, message) => {
    const before = [await scene.sql.rows`select id from :schema.repositories`, folders()];
    const refused = await ada.call('POST', '/user/repos', body);
    expect(refused.status).toBe(status);
    if (message instanceof RegExp) expect(refused.body.message).toMatch(message);
    else expect(refused.body.message).toBe(message);
    expect(refused.body['url']).toBe(`${scene.address}/api/v1/openapi.json`);
    expect([await scene.sql.rows`select id from :schema.repositories`, folders()]).toEqual(before);
  });

  it('is refused when the body is too large', async () => {
    const refused = await ada.call('POST', '/user/repos', { name: 'big', description: 'x'.repeat(2 ** 20) });
    expect(refused.status).toBe(413);
    expect(refused.body.message).toContain('larger than');
  });
});

describe('seeing a repository', () => {
  it('private ones of others look like none', async () => {
    await ada.call('POST', '/user/repos', { name: 'secret', private: true });
    const hidden = await bob.call('GET', '/repos/ada/secret');
    const missing = await bob.call('GET', '/repos/ada/none-such');
    expect(hidden.status).toBe(404);
    expect(hidden.text).toBe(missing.text);
  });

  it('public ones are there for everybody signed in, for reading', async () => {
    await ada.call('POST', '/user/repos', { name: 'open' });
    const { body } = await bob.call('GET', '/repos/ada/open');
    expect(body['permissions']).toEqual({ admin: false, push: false, pull: true });
  });

  it('site admins see and administer everything', async () => {
    const root = scene.person('root', { role: 'service_role' });
    const { body } = await root.call('GET', '/repos/ada/secret');
    expect(body['permissions']).toEqual({ admin: true, push: true, pull: true });
  });
});

describe('removing a repository', () => {
  it('removes rows and folder, and frees the name', async () => {
    const { body } = await ada.call('POST', '/user/repos', { name: 'brief', auto_init: true });
    await ada.call('POST', '/repos/ada/brief/issues', { title: 'one' });
    expect((await ada.call('DELETE', '/repos/ada/brief')).status).toBe(204);
    expect((await ada.call('GET', '/repos/ada/brief')).status).toBe(404);
    expect(existsSync(join(scene.dataFolder, 'repositories', `${body.id}.git`))).toBe(false);
    expect((await ada.call('POST', '/user/repos', { name: 'brief' })).status).toBe(201);
  });

  it('is for its owner', async () => {
    expect((await bob.call('DELETE', '/repos/ada/open')).status).toBe(403);
    expect((await bob.call('DELETE', '/repos/ada/secret')).status).toBe(404);
    expect((await ada.call('GET', '/repos/ada/open')).status).toBe(200);
  });

  it('is not for administrators who are no owners', async () => {
    await ada.call('PUT', '/repos/ada/open/collaborators/bob', { permission: 'admin' });
    expect((await bob.call('DELETE', '/repos/ada/open')).status).toBe(403);
    expect((await ada.call('GET', '/repos/ada/open')).status).toBe(200);
    await ada.call('DELETE', '/repos/ada/open/collaborators/bob');
  });
});

it('a crash in the middle of a creation or a removal leaves nothing after the next start', async () => {
  const { body: half } = await ada.call('POST', '/user/repos', { name: 'half-made' });
  const { body: gone } = await ada.call('POST', '/user/repos', { name: 'half-gone' });
  await scene.restart(async () => {
    // As the crash would have left them: a row without a folder and an unfinished one, and a row with a folder.
    await scene.sql.run`update :schema.repositories set state = 'making' where id = ${half.id}`;
    await mkdir(join(scene.dataFolder, 'repositories', `${half.id}.making`));
    await scene.sql.run`update :schema.repositories set state = 'removing' where id = ${gone.id}`;
  });
  const left = await scene.sql.rows`select id from :schema.repositories where id in (${half.id}, ${gone.id})`;
  expect(left).toEqual([]);
  expect(folders().filter((name) => [half.id, gone.id].includes(Number.parseInt(name, 10)))).toEqual([]);
  expect((await ada.call('POST', '/user/repos', { name: 'half-made' })).status).toBe(201);
});

describe('methods and paths', () => {
  it('unknown methods answer 405 with Allow', async () => {
    const { status, headers, body } = await ada.call('PUT', '/repos/ada/open');
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('DELETE, GET, HEAD, PATCH');
    expect(body.message).toBe('PUT is not allowed here');
  });

  it('unknown paths answer 404 in the same shape', async () => {
    const { status, body } = await ada.call('GET', '/no/such/thing');
    expect(status).toBe(404);
    expect(body).toEqual({
      message: "The target couldn't be found.",
      url: `${scene.address}/api/v1/openapi.json`,
    });
  });

  it('the list of repositories is paged', async () => {
    const pat = scene.person('pat');
    for (const name of ['r1', 'r2', 'r3']) await pat.call('POST', '/user/repos', { name });
    const page = await pat.call('GET', '/user/repos?limit=2&page=1');
    expect(page.items.map((item) => item['name'])).toEqual(['r3', 'r2']);
    expect(page.headers.get('x-total-count')).toBe('3');
    const base = `${scene.address}/api/v1/user/repos?limit=2`;
    expect(page.headers.get('link')).toBe(`<${base}&page=2>; rel="next",<${base}&page=2>; rel="last"`);
  });
});
