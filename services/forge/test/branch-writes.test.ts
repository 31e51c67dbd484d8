import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, type Reply, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let writer: Person;
let reader: Person;
let stranger: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  writer = scene.person('wes');
  reader = scene.person('ria');
  stranger = scene.person('sam');
  for (const person of [ada, writer, reader, stranger]) await person.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder, { private: true });
  bare = await scene.bare('ada', 'work');
  // What was announced, kept from the worker that takes it away.
  await scene.sql.run`create table :schema.told (id bigserial, payload jsonb)`;
  await scene.sql.run`
    create function :schema.tell() returns trigger language plpgsql as
    $$ begin execute format('insert into %I.told (payload) values ($1)', tg_table_schema) using new.payload; return new; end $$`;
  await scene.sql.run`
    create trigger tell after insert on :schema.outbox for each row execute function :schema.tell()`;
  for (const [login, level] of [
    ['wes', 2],
    ['ria', 1],
  ])
    await scene.sql.run`
      insert into :schema.collaborators (repository_id, user_id, level)
      select r.id, u.id, ${level} from :schema.repositories r, :schema.users u
      where r.name = 'work' and u.login = ${login}`;
});

const branches = '/repos/ada/work/branches';
const tags = '/repos/ada/work/tags';
const tip = (name: string) => git(bare, 'rev-parse', name);
const events = () =>
  scene.sql.rows<{ payload: { kind: string; ref: string; before: string; after: string } }>`
    select payload from :schema.told where payload->>'kind' = 'ref' order by id`;

/** A refusal, and that no ref moved and nobody was told of anything. */
async function refused(ask: () => Promise<Reply>, status: number, message?: string | RegExp): Promise<void> {
  const before = [await git(bare, 'show-ref'), (await events()).length];
  const reply = await ask();
  expect({ status: reply.status, text: reply.text }).toMatchObject({ status });
  if (message !== undefined) expect(reply.body.message).toMatch(message);
  expect([await git(bare, 'show-ref'), (await events()).length]).toEqual(before);
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
}

async function protect(rule: string): Promise<void> {
  const options = { enable_push: false, protected_file_patterns: '', unprotected_file_patterns: '' };
  await scene.sql.run`
    insert into :schema.branch_protections (repository_id, rule_name, options, created_at, updated_at)
    select id, ${rule}, ${JSON.stringify(options)}::jsonb, now(), now() from :schema.repositories where name = 'work'`;
}

describe('branches', () => {
  it('are made from the default branch, another branch, a tag or a commit', async () => {
    const first = await tip('main');
    await commit(tree, { 'second.txt': 'second' }, 'second');
    await git(tree, 'push', '-q', 'origin', 'main', 'main:refs/tags/v1');
    const made = await ada.call('POST', branches, { new_branch_name: 'feature/one' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'feature/one',
      commit: { id: await tip('main') },
      protected: false,
    });
    await ada.call('POST', branches, { new_branch_name: 'from-branch', old_branch_name: 'feature/one' });
    await ada.call('POST', branches, { new_branch_name: 'from-tag', old_ref_name: 'v1' });
    await writer.call('POST', branches, { new_branch_name: 'from-commit', old_ref_name: first.slice(0, 12) });
    expect(await tip('from-branch')).toBe(await tip('main'));
    expect(await tip('from-tag')).toBe(await tip('main'));
    expect(await tip('from-commit')).toBe(first);
    expect((await events()).at(-1)?.payload).toMatchObject({
      ref: 'refs/heads/from-commit',
      before: '0'.repeat(40),
      after: first,
    });
  });

  it('are refused: taken and blocked names, names git does not take, unknown sources, an empty repository', async () => {
    const make = (body: object) => () => ada.call('POST', branches, body);
    await refused(make({ new_branch_name: 'feature/one' }), 409);
    await refused(make({ new_branch_name: 'feature' }), 409);
    await refused(make({ new_branch_name: 'main/sub' }), 409);
    for (const name of [
      'a..b',
      '-x',
      'a b',
      '.x',
      'x.lock',
      'refs/heads/x',
      '@',
      'HEAD',
      'a\\b',
      'x'.repeat(101),
      '',
    ])
      await refused(make({ new_branch_name: name }), 422);
    await refused(make({ new_branch_name: 'x', old_branch_name: 'none' }), 404);
    await refused(make({ new_branch_name: 'x', old_branch_name: 'main~1' }), 404);
    await refused(make({ new_branch_name: 'x', old_ref_name: 'deadbeef' }), 404);
    await ada.call('POST', '/user/repos', { name: 'void' });
    const empty = await ada.call('POST', '/repos/ada/void/branches', { new_branch_name: 'x' });
    expect(empty.status).toBe(403);
  });

  it('are deleted, names with slashes encoded or not; the default and protected ones are not', async () => {
    expect((await writer.call('DELETE', `${branches}/feature%2Fone`)).status).toBe(204);
    await refused(() => ada.call('DELETE', `${branches}/feature/one`), 404);
    expect((await ada.call('DELETE', `${branches}/from-tag`)).status).toBe(204);
    await refused(() => ada.call('DELETE', `${branches}/main`), 403, /default branch/);
    await protect('from-branch');
    await refused(() => ada.call('DELETE', `${branches}/from-branch`), 403, /protected/);
    await refused(() => ada.call('PATCH', `${branches}/from-branch`, { name: 'x' }), 403, /protected/);
    await refused(
      () => ada.call('POST', '/repos/ada/work/contents/x', { branch: 'from-branch', content: '' }),
      403,
      /protected/,
    );
    const target = { new_commit_id: await tip('main') };
    await refused(() => ada.call('PUT', `${branches}/from-branch`, target), 403, /protected/);
    await protect('release/**');
    await refused(() => ada.call('POST', branches, { new_branch_name: 'release/1/2' }), 403, /protected/);
  });

  it('get another name, the default branch too, and clones check out what it is then', async () => {
    await refused(() => writer.call('PATCH', `${branches}/main`, { name: 'trunk' }), 403);
    await refused(() => ada.call('PATCH', `${branches}/main`, { name: 'from-commit' }), 422);
    await refused(() => ada.call('PATCH', `${branches}/none`, { name: 'other' }), 404);
    // In the way of one another, as files and folders are.
    for (const name of ['main/sub', 'from-commit/sub'])
      await refused(() => ada.call('PATCH', `${branches}/from-commit`, { name }), 422, /already exists/);
    const before = await tip('main');
    expect((await ada.call('PATCH', `${branches}/main`, { name: 'trunk' })).status).toBe(204);
    expect(await tip('trunk')).toBe(before);
    await expect(tip('refs/heads/main')).rejects.toThrow();
    expect((await ada.call('GET', '/repos/ada/work')).body).toMatchObject({ default_branch: 'trunk' });
    expect(await git(bare, 'symbolic-ref', 'HEAD')).toBe('refs/heads/trunk');
    expect((await ada.call('PATCH', `${branches}/trunk`, { name: 'main' })).status).toBe(204);
    expect(await git(bare, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
  });

  it('renamed keep their pull requests', async () => {
    await pushBranch(tree, 'old-name', { 'old-name.txt': 'x' });
    const pull = { head: 'old-name', base: 'main', title: 'Renamed' };
    const { number } = (await ada.call('POST', '/repos/ada/work/pulls', pull)).body;
    expect((await ada.call('PATCH', `${branches}/old-name`, { name: 'new/name' })).status).toBe(204);
    const { body } = await ada.call('GET', `/repos/ada/work/pulls/${number}`);
    expect(body).toMatchObject({ state: 'open', head: { ref: 'new/name', sha: await tip('new/name') } });
  });

  it('are not pushed to by a move to where they are', async () => {
    const { status } = await ada.call('POST', branches, { new_branch_name: 'staying', old_ref_name: 'main' });
    expect(status).toBe(201);
    const before = [await git(bare, 'show-ref'), await events()];
    const head = await tip('staying');
    for (const body of [
      { new_commit_id: head },
      { new_commit_id: head, old_commit_id: head },
      { new_commit_id: 'main', force: true },
    ])
      expect((await ada.call('PUT', `${branches}/staying`, body)).status).toBe(204);
    expect([await git(bare, 'show-ref'), await events()]).toEqual(before);
    expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
    await ada.call('DELETE', `${branches}/staying`);
  });

  it('are moved to a commit, forward or with force', async () => {
    const [first, second] = [await tip('main~1'), await tip('main')];
    await ada.call('POST', branches, { new_branch_name: 'moving', old_ref_name: first });
    const put = (body: object) => () => ada.call('PUT', `${branches}/moving`, body);
    expect((await put({ new_commit_id: second })()).status).toBe(204);
    await refused(put({ new_commit_id: first }), 422, /lose/);
    await refused(put({ new_commit_id: first, old_commit_id: first, force: true }), 409);
    await refused(put({ new_commit_id: '1'.repeat(40) }), 404);
    expect((await put({ new_commit_id: first, force: true })()).status).toBe(204);
    expect(await tip('moving')).toBe(first);
  });
});

describe('tags', () => {
  it('are made, plain and annotated, and deleted', async () => {
    const plain = await ada.call('POST', tags, { tag_name: 'v2/plain', target: 'main' });
    expect(plain.status).toBe(201);
    expect(plain.body).toMatchObject({ name: 'v2/plain', id: await tip('main') });
    const made = await writer.call('POST', tags, {
      tag_name: 'v2.0',
      message: 'The second\n\nwith words',
      target: 'v1',
    });
    expect(made.body).toMatchObject({
      name: 'v2.0',
      message: 'The second\n\nwith words',
      commit: { sha: await tip('v1') },
    });
    expect(await git(bare, 'cat-file', '-t', 'v2.0')).toBe('tag');
    expect(await git(bare, 'cat-file', 'tag', 'v2.0')).toMatch(/\ntagger wes </);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
    await refused(() => ada.call('POST', tags, { tag_name: 'v2.0' }), 409);
    await refused(() => ada.call('POST', tags, { tag_name: 'a..b' }), 422);
    await refused(() => ada.call('POST', tags, { tag_name: 'HEAD' }), 422);
    await refused(() => ada.call('POST', tags, { tag_name: 'x', target: 'none' }), 404);
    expect((await ada.call('DELETE', `${tags}/v2%2Fplain`)).status).toBe(204);
    expect((await ada.call('DELETE', `${tags}/v2.0`)).status).toBe(204);
    await refused(() => ada.call('DELETE', `${tags}/v2.0`), 404);
  });
});

describe('who may', () => {
  it.each([
    ['POST', branches, { new_branch_name: 'mine' }],
    ['DELETE', `${branches}/moving`, undefined],
    ['PATCH', `${branches}/moving`, { name: 'mine' }],
    ['PUT', `${branches}/moving`, { new_commit_id: 'main' }],
    ['POST', tags, { tag_name: 'mine' }],
    ['DELETE', `${tags}/v1`, undefined],
  ])('%s %s: readers 403, strangers 404, nobody in an archive', async (method, path, body) => {
    await refused(() => reader.call(method, path, body), 403);
    await refused(() => stranger.call(method, path, body), 404);
    await scene.sql.run`update :schema.repositories set archived = true where name = 'work'`;
    await refused(() => ada.call(method, path, body), 423);
    await scene.sql.run`update :schema.repositories set archived = false where name = 'work'`;
  });
});
