import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, request, useForge } from './forge.ts';

const scene = useForge({ environment: { FORGE_REQUIRE_SIGNIN: 'false' } });
let ada: Person;
const PATHS = [
  'branches',
  'branches/main',
  'tags',
  'tags/v1',
  'contents',
  'contents/README.md',
  'raw/README.md',
  'archive/main.tar.gz',
  'languages',
  'licenses',
  'commits',
  'compare/v1...main',
  'git/commits/main',
  'git/commits/main.patch',
  'git/trees/main',
  'git/refs',
  'git/refs/heads/main',
  'statuses/main',
  'commits/main/statuses',
  'commits/main/status',
];
const nobody = (path: string) => request(`${scene.address}/api/v1/repos/ada/${path}`, 'GET');

beforeAll(async () => {
  ada = scene.person('ada');
  for (const name of ['open', 'closed']) {
    const tree = await pushedRepository(ada, name, scene.folder, { private: name === 'closed' });
    await git(tree, 'tag', 'v1');
    await git(tree, 'push', '-q', '--tags');
  }
});

describe.each(PATHS)('%s', (path) => {
  it('is for everybody where the repository is public, and looks like nothing where it is not', async () => {
    expect((await nobody(`open/${path}`)).status).toBe(200);
    const hidden = await nobody(`closed/${path}`);
    expect(hidden.status).toBe(404);
    expect(hidden.text).toBe((await nobody(`none/${path}`)).text);
  });
});

it('attack: trying the beginnings of ids finds nothing that was removed', async () => {
  const tree = await pushedRepository(ada, 'removed', scene.folder);
  const kept = await git(tree, 'rev-parse', 'HEAD');
  const removed = await commit(tree, { 'oops.txt': 'a password' }, 'oops');
  await git(tree, 'tag', '-a', '-m', 'oops', 'oops');
  await git(tree, 'push', '-q', 'origin', 'main:oops', 'oops');
  const ids = ['oops', 'oops:', 'oops:oops.txt'].map((name) => git(tree, 'rev-parse', `refs/tags/${name}`));
  const [tag = '', folder = '', file = ''] = await Promise.all(ids);
  const status = async (path: string) => (await nobody(`removed/git/${path}`)).status;
  const short = (id: string) => id.slice(0, 12);
  expect(await status(`commits/${short(removed)}`)).toBe(200);
  await git(tree, 'push', '-q', 'origin', ':refs/heads/oops', ':refs/tags/oops');
  const bare = await scene.bare('ada', 'removed');
  const refs = () => git(bare, 'for-each-ref');
  const before = await refs();
  for (const path of [
    `commits/${short(removed)}`,
    `trees/${short(removed)}`,
    `trees/${short(folder)}`,
    `blobs/${short(file)}`,
    `tags/${short(tag)}`,
  ])
    expect([path, await status(path)]).toEqual([path, 404]);
  for (const path of [`raw/oops.txt?ref=${short(removed)}`, `compare/main...${short(removed)}`])
    expect([path, (await nobody(`removed/${path}`)).status]).toEqual([path, 404]);
  expect(await status(`commits/${short(kept)}`)).toBe(200);
  // Whoever knows the whole id has seen it; so it is with the reference.
  expect(await status(`commits/${removed}`)).toBe(200);
  expect(await refs()).toBe(before);
});

it('people who may see the issues only do not see the code', async () => {
  const tester = scene.person('tester');
  await tester.call('GET', '/user');
  const team = await scene.sql.row<{ id: number }>`
    with owner as (
      insert into :schema.users (login, kind, created_at) values ('lab', 'organization', now()) returning id
    ), moved as (
      update :schema.repositories set owner_id = (select id from owner) where name = 'closed'
    )
    insert into :schema.teams (organization_id, name, level, code, issues, includes_all_repositories, created_at)
    select id, 'testers', 1, 0, 1, true, now() from owner returning id`;
  await scene.sql.run`
    insert into :schema.team_members (team_id, user_id)
    select ${team?.id ?? 0}, id from :schema.users where login = 'tester'`;
  expect((await tester.call('GET', '/repos/lab/closed')).status).toBe(200);
  for (const path of PATHS) expect((await tester.call('GET', `/repos/lab/closed/${path}`)).status).toBe(404);
});

it('an address leads nobody to an account who would not be shown it there', async () => {
  const { body } = await nobody('open/git/commits/main');
  expect(body).toMatchObject({ author: null, commit: { author: { email: 'ada@example.test' } } });
  const known = await scene.person('bob').call('GET', '/repos/ada/open/git/commits/main');
  expect(known.body).toMatchObject({ author: { login: 'ada' } });
});

it('a crowd gets its answers, in turn', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => nobody(`open/${PATHS[n % 12]}?crowd=${n}`)),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

it('old names lead to where the repository is now', async () => {
  const renamed = await ada.call('PATCH', '/repos/ada/open', { name: 'opened' });
  expect(renamed.status).toBe(200);
  const address = `${scene.address}/api/v1/repos/ada/open/contents/README.md?ref=refs%2Fheads%2Fmain`;
  const answer = await fetch(address, { redirect: 'manual' });
  expect(answer.status).toBe(307);
  expect(answer.headers.get('location')).toContain('/ada/opened/contents/README.md?ref=refs%2Fheads%2Fmain');
  expect((await fetch(address)).status).toBe(200);
});
