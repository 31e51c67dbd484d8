import { git } from '@croft/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Body, commit, type Person, pushedRepository, type Reply, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { organization } from './repository-scene.ts';
import { rowsOf } from './rows-of.ts';

// What protections of tags refuse, whichever way a tag is made, moved or deleted. Ada owns the repository, and Wes and Eva write
// to it; where tags are protected, only Eva is listed.

const scene = useForge();
const at = '/repos/ada/tool';
let ada: Person;
let wes: Person;
let eva: Person;
let root: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  [ada, wes, eva] = ['ada', 'wes', 'eva'].map((name) => scene.person(name)) as [Person, Person, Person];
  root = scene.person('root', { role: 'service_role' });
  for (const person of [wes, eva, root]) await person.call('GET', '/user');
  tree = await pushedRepository(ada, 'tool', scene.folder);
  bare = await scene.bare('ada', 'tool');
  for (const { name } of [wes, eva])
    await ada.call('PUT', `${at}/collaborators/${name}`, { permission: 'write' });
  await recordHappenings(scene);
});
beforeEach(async () => {
  await scene.sql.run`delete from :schema.tag_protections`;
});

async function protect(pattern: string, usernames = ['eva'], body: object = {}): Promise<Body> {
  const made = await ada.call('POST', `${at}/tag_protections`, {
    name_pattern: pattern,
    whitelist_usernames: usernames,
    ...body,
  });
  expect(made.status).toBe(201);
  return made.body;
}

/** Runs a push that may be refused in part or whole, and gives what git tells its user. */
function push(person: Person, ...refs: string[]): Promise<string> {
  return git(tree, 'push', person.remote('ada/tool'), ...refs).then(
    () => 'it went through',
    (error: Error) => error.message,
  );
}

const DONE = 'it went through';
const refs = () => git(bare, 'for-each-ref', '--format=%(objectname) %(refname)');
const tagAt = (name: string) =>
  git(bare, 'rev-parse', '--verify', '--quiet', `refs/tags/${name}`).catch(() => undefined);
const tip = () => git(tree, 'rev-parse', 'main');
const state = async () => [
  await refs(),
  await rowsOf(scene, 'releases', 'pushes', 'repositories(id, releases)', 'told'),
];

async function refusedPush(person: Person, pushed: readonly string[], message: RegExp): Promise<void> {
  const before = await state();
  expect(await push(person, ...pushed)).toMatch(message);
  expect(await state()).toEqual(before);
}

async function refused(ask: () => Promise<Reply>, status: number, message: RegExp): Promise<void> {
  const before = await state();
  const { status: answered, body } = await ask();
  expect([answered, body.message]).toEqual([status, expect.stringMatching(message)]);
  expect(await state()).toEqual(before);
}

const CREATE = /not allowed to create protected tag/;
const DELETE = /not allowed to delete protected tag/;

describe('a push', () => {
  it('of a protected tag is refused in the protocol, with the reason, for owners and administrators as for writers', async () => {
    await protect('v*');
    for (const person of [wes, ada, root])
      await refusedPush(
        person,
        ['main:refs/tags/v1'],
        /remote: Tag v1 is protected[\s\S]*! \[remote rejected\] main -> v1 \(Tag v1 is protected\)/,
      );
    expect(await push(eva, 'main:refs/tags/v1')).toBe(DONE);
    expect(await tagAt('v1')).toBe(await tip());
  });

  it('that moves or deletes one is refused, too', async () => {
    await push(eva, 'main:refs/tags/fixed');
    await protect('fixed');
    await commit(tree, { 'a.txt': 'a' }, 'a');
    await refusedPush(wes, ['-f', 'main:refs/tags/fixed'], /\(Tag fixed is protected\)/);
    await refusedPush(ada, [':refs/tags/fixed'], /\(Tag fixed is protected\)/);
    expect(await push(eva, '-f', 'main:refs/tags/fixed')).toBe(DONE);
    expect(await tagAt('fixed')).toBe(await tip());
    expect(await push(eva, ':refs/tags/fixed')).toBe(DONE);
    expect(await tagAt('fixed')).toBeUndefined();
  });

  it('of an annotated tag is refused, too', async () => {
    await protect('/^signed-\\d+$/');
    await git(tree, 'tag', '-a', '-m', 'words', 'signed-1');
    await refusedPush(wes, ['refs/tags/signed-1'], /Tag signed-1 is protected/);
    expect(await push(eva, 'refs/tags/signed-1')).toBe(DONE);
  });

  it('goes on with its other refs; with --atomic it does not', async () => {
    await protect('w*');
    await commit(tree, { 'b.txt': 'b' }, 'b');
    const pushed = ['main:refs/tags/w1', 'main:refs/heads/w1', 'main:refs/tags/free', 'main:refs/notes/w1'];
    await refusedPush(wes, ['--atomic', ...pushed], /another ref of the atomic push is refused/);
    expect(await push(wes, ...pushed)).toMatch(/remote rejected\] main -> w1 \(Tag w1 is protected\)/);
    expect(await tagAt('w1')).toBeUndefined();
    expect([await tagAt('free'), await git(bare, 'rev-parse', 'refs/heads/w1')]).toEqual([
      await tip(),
      await tip(),
    ]);
  });

  it('whose branches wait for their commits moves tags with them, or none of them', async () => {
    await protect('x*');
    await ada.call('POST', `${at}/branch_protections`, { rule_name: 'forward', enable_push: true });
    await push(ada, 'main:forward');
    await commit(tree, { 'c.txt': 'c' }, 'c');
    await refusedPush(ada, ['--atomic', 'main:forward', 'main:refs/tags/x1'], /Tag x1 is protected/);
    expect(await push(eva, '--atomic', 'main:forward', 'main:refs/tags/x1')).toBe(DONE);
    expect([await tagAt('x1'), await git(bare, 'rev-parse', 'forward')]).toEqual([await tip(), await tip()]);
  });

  it('is decided by patterns: globs cross slashes, expressions match any part', async () => {
    await protect('deep*');
    await protect('/-final$/');
    await refusedPush(wes, ['main:refs/tags/deep/er/one'], /Tag deep\/er\/one is protected/);
    await refusedPush(wes, ['main:refs/tags/some/v1-final'], /protected/);
    expect(await push(wes, 'main:refs/tags/v1-final-2')).toBe(DONE);
  });

  it('of a name that several protect is for whoever any of them lists', async () => {
    await protect('y*');
    await protect('y-nightly-*', ['wes']);
    await refusedPush(wes, ['main:refs/tags/y1'], /protected/);
    await refusedPush(ada, ['main:refs/tags/y-nightly-1'], /protected/);
    expect(await push(wes, 'main:refs/tags/y-nightly-1')).toBe(DONE);
    expect(await push(eva, 'main:refs/tags/y-nightly-2')).toBe(DONE);
  });

  it('of a tag that nobody may move any more is refused to everybody', async () => {
    const { id } = await protect('z*');
    await ada.call('PATCH', `${at}/tag_protections/${id}`, { whitelist_usernames: [] });
    for (const person of [ada, wes, eva]) await refusedPush(person, ['main:refs/tags/z1'], /protected/);
    await ada.call('DELETE', `${at}/tag_protections/${id}`);
    expect(await push(wes, 'main:refs/tags/z1')).toBe(DONE);
  });

  it('by somebody who is listed and may not write any more is refused', async () => {
    await protect('lost*');
    await ada.call('PUT', `${at}/collaborators/eva`, { permission: 'read' });
    await refusedPush(eva, ['main:refs/tags/lost1'], /permission to write/);
    await refused(() => eva.call('POST', `${at}/tags`, { tag_name: 'lost1' }), 403, /./);
    await ada.call('PUT', `${at}/collaborators/eva`, { permission: 'write' });
  });

  it('of many tags against patterns made to be slow is answered soon, and others meanwhile', async () => {
    for (let index = 0; index < 50; index++)
      await scene.sql.run`
        insert into :schema.tag_protections (repository_id, name_pattern, user_ids, team_ids, created_at, updated_at)
        select id, ${`/${'(a?){10}'.repeat(10)}(a|a)*${index}!/`}, '[]', '[]', now(), now()
        from :schema.repositories where name = 'tool'`;
    const names = Array.from({ length: 400 }, (_, index) => `main:refs/tags/${'a'.repeat(200)}${index}`);
    const before = await refs();
    const pushing = push(wes, ...names);
    const asked = performance.now();
    await ada.call('GET', '/version');
    expect(performance.now() - asked).toBeLessThan(5_000);
    expect(await pushing).toMatch(/too many tags at once for the protections of tags/);
    expect(await refs()).toBe(before);
    expect(await push(wes, `main:refs/tags/${'a'.repeat(200)}`)).toBe(DONE);
  });
});

describe('over the API', () => {
  it('a protected tag is made and deleted by whoever is listed, and by nobody else', async () => {
    await protect('api-*');
    for (const person of [wes, ada, root]) {
      await refused(() => person.call('POST', `${at}/tags`, { tag_name: 'api-1' }), 422, CREATE);
      await refused(
        () => person.call('POST', `${at}/tags`, { tag_name: 'api-1', message: 'm' }),
        422,
        CREATE,
      );
    }
    expect((await eva.call('POST', `${at}/tags`, { tag_name: 'api-1', message: 'm' })).status).toBe(201);
    await refused(() => wes.call('POST', `${at}/tags`, { tag_name: 'api-1' }), 409, /already exists/);
    for (const person of [wes, ada, root])
      await refused(() => person.call('DELETE', `${at}/tags/api-1`), 422, DELETE);
    expect((await eva.call('DELETE', `${at}/tags/api-1`)).status).toBe(204);
    expect((await wes.call('POST', `${at}/tags`, { tag_name: 'free-1' })).status).toBe(201);
    expect((await wes.call('DELETE', `${at}/tags/free-1`)).status).toBe(204);
  });

  it('no object is left of an annotated tag that is refused', async () => {
    await protect('none-*');
    const objects = () => git(bare, 'count-objects', '-v');
    const before = await objects();
    await refused(() => wes.call('POST', `${at}/tags`, { tag_name: 'none-1', message: 'm' }), 422, CREATE);
    expect(await objects()).toBe(before);
  });
});

describe('a release', () => {
  const release = (who: Person, body: object) => who.call('POST', `${at}/releases`, body);

  it('whose tag has to be made is refused; a draft is not, until it is published', async () => {
    await protect('r*');
    await refused(() => release(wes, { tag_name: 'r1' }), 422, CREATE);
    await refused(() => release(ada, { tag_name: 'r1', tag_message: 'm' }), 422, CREATE);
    const draft = await release(wes, { tag_name: 'r1', draft: true });
    expect(draft.status).toBe(201);
    const path = `${at}/releases/${draft.body.id}`;
    await refused(() => wes.call('PATCH', path, { draft: false }), 422, CREATE);
    expect((await wes.call('PATCH', path, { name: 'still one' })).body).toMatchObject({ draft: true });
    expect((await eva.call('PATCH', path, { draft: false })).body).toMatchObject({ draft: false });
    expect(await tagAt('r1')).toBe(await git(bare, 'rev-parse', 'main'));
    expect((await release(eva, { tag_name: 'r2' })).status).toBe(201);
  });

  it('is of a protected tag that is there: that stays where it is', async () => {
    await push(eva, 'main:refs/tags/s1');
    await protect('s*');
    expect((await release(wes, { tag_name: 's1' })).status).toBe(201);
  });

  it('does not get another tag that has to be made and is protected', async () => {
    await protect('t*');
    const { body } = await release(wes, { tag_name: 'plain' });
    const path = `${at}/releases/${body.id}`;
    await refused(() => wes.call('PATCH', path, { tag_name: 't1' }), 422, CREATE);
    expect((await wes.call('GET', path)).body).toMatchObject({ tag_name: 'plain', draft: false });
    expect((await eva.call('PATCH', path, { tag_name: 't1' })).body).toMatchObject({ tag_name: 't1' });
  });

  it('is deleted by any writer, and its tag stays, which a push cannot delete either', async () => {
    await release(wes, { tag_name: 'u1' });
    await protect('u*');
    await refusedPush(wes, [':refs/tags/u1'], /Tag u1 is protected/);
    await refused(() => wes.call('DELETE', `${at}/tags/u1`), 409, /has a release/);
    expect((await wes.call('DELETE', `${at}/releases/tags/u1`)).status).toBe(204);
    await refused(() => wes.call('DELETE', `${at}/tags/u1`), 422, DELETE);
    expect(await tagAt('u1')).toBeDefined();
  });
});

it('teams of the owner are listed, and none of them any more once the repository is another’s', async () => {
  await organization(scene, 'club', { owner: ada, maker: wes });
  const path = '/repos/club/spade';
  await ada.call('POST', '/orgs/club/repos', { name: 'spade', auto_init: true });
  await ada.call('PUT', '/repos/club/spade/collaborators/wes', { permission: 'write' });
  await ada.call('POST', `${path}/tag_protections`, { name_pattern: 'v*', whitelist_teams: ['makers'] });
  await ada.call('POST', `${path}/branch_protections`, {
    rule_name: 'main',
    enable_push: true,
    enable_push_whitelist: true,
    push_whitelist_teams: ['makers'],
  });
  expect((await ada.call('GET', `${path}/branch_protections`)).items).toMatchObject([
    { push_whitelist_teams: ['makers'] },
  ]);
  expect((await ada.call('POST', `${path}/tags`, { tag_name: 'v1' })).status).toBe(422);
  expect((await wes.call('POST', `${path}/tags`, { tag_name: 'v1' })).status).toBe(201);
  expect((await ada.call('POST', `${path}/transfer`, { new_owner: 'ada' })).status).toBe(202);
  const moved = '/repos/ada/spade';
  // Not even by their names.
  expect((await ada.call('GET', `${moved}/tag_protections`)).items).toMatchObject([
    { name_pattern: 'v*', whitelist_teams: [] },
  ]);
  expect((await ada.call('GET', `${moved}/branch_protections`)).items).toMatchObject([
    { rule_name: 'main', push_whitelist_teams: [] },
  ]);
  await ada.call('PUT', `${moved}/collaborators/wes`, { permission: 'write' });
  expect((await wes.call('POST', `${moved}/tags`, { tag_name: 'v2' })).status).toBe(422);
});

it('a fork brings the tags along and not their protections', async () => {
  await push(eva, 'main:refs/tags/forked');
  await protect('*');
  const { status, body } = await wes.call('POST', `${at}/forks`, {});
  expect([status, body['full_name']]).toEqual([202, 'wes/tool']);
  expect((await wes.call('GET', '/repos/wes/tool/tag_protections')).items).toEqual([]);
  expect((await wes.call('DELETE', '/repos/wes/tool/tags/forked')).status).toBe(204);
});
