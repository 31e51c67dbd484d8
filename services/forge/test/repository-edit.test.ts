import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, personWith, pushBranch, pushedRepository, request, useForge } from './forge.ts';
import { type Cast, castOf, openTo, organization } from './repository-scene.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let cast: Cast;
let tree: string;
beforeAll(async () => {
  cast = await castOf(scene)();
  tree = await pushedRepository(cast.ada, 'garden', scene.folder);
  await pushBranch(tree, 'next', { 'next.txt': 'x\n' });
  await openTo(cast, 'ada/garden');
});
const row = (name: string) => scene.sql.row<object>`
  select * from :schema.repositories where name_key = lower(${name}) order by id limit 1`;
const head = async () => await git(await scene.bare('ada', 'garden'), 'symbolic-ref', 'HEAD');

describe('PATCH', () => {
  it('changes what it is told, and nothing else', async () => {
    const before = await cast.ada.call('GET', '/repos/ada/garden');
    const { status, body } = await cast.admin.call('PATCH', '/repos/ada/garden', {
      description: 'Beds.',
      website: 'https://garden.example',
      has_issues: false,
      allow_merge_commits: false,
      default_merge_style: 'squash',
      default_delete_branch_after_merge: true,
      template: true,
      unknown_key: 1,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before.body,
      permissions: { admin: true, push: true, pull: true },
      owner: { ...(before.body['owner'] as object), active: false },
      description: 'Beds.',
      website: 'https://garden.example',
      has_issues: false,
      internal_tracker: undefined,
      allow_merge_commits: false,
      default_merge_style: 'squash',
      default_delete_branch_after_merge: true,
      template: true,
      updated_at: expect.any(String),
    });
    await cast.ada.call('PATCH', '/repos/ada/garden', { has_issues: true, allow_merge_commits: true });
  });

  it('without pull requests no way to merge is offered', async () => {
    const { body } = await cast.ada.call('PATCH', '/repos/ada/garden', { has_pull_requests: false });
    expect(body).toMatchObject({ has_pull_requests: false, allow_merge_commits: false });
    await cast.ada.call('PATCH', '/repos/ada/garden', { has_pull_requests: true });
  });

  it('moves the default branch with HEAD', async () => {
    const { body } = await cast.ada.call('PATCH', '/repos/ada/garden', { default_branch: 'next' });
    expect(body).toMatchObject({ default_branch: 'next' });
    expect(await head()).toBe('refs/heads/next');
    await cast.ada.call('PATCH', '/repos/ada/garden', { default_branch: 'main' });
    expect(await head()).toBe('refs/heads/main');
  });

  it('with a name that is taken moves neither the default branch nor HEAD', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'taken' });
    const before = await row('garden');
    const edit = { name: 'taken', default_branch: 'next' };
    const { status, body } = await cast.ada.call('PATCH', '/repos/ada/garden', edit);
    expect([status, body.message]).toEqual([422, 'repo name is already taken [name: taken]']);
    expect([await row('garden'), await head()]).toEqual([before, 'refs/heads/main']);
  });

  it('brings HEAD back to the default branch, which a crash kept from following', async () => {
    await git(await scene.bare('ada', 'garden'), 'symbolic-ref', 'HEAD', 'refs/heads/next');
    const { status, body } = await cast.ada.call('PATCH', '/repos/ada/garden', { default_branch: 'main' });
    expect([status, body['default_branch']]).toEqual([200, 'main']);
    expect(await head()).toBe('refs/heads/main');
  });

  it.each([
    ['a branch that is not there', { default_branch: 'none', description: 'y' }, 422],
    ['a branch that is an expression', { default_branch: 'main~0' }, 422],
    ['`..`', { name: '..' }, 422],
    ['`.git`', { name: '.git' }, 422],
    ['an option as a name', { name: '-x' }, 422],
    ['a slash', { name: 'a/b' }, 422],
    ['an encoded slash', { name: 'a%2Fb' }, 422],
    ['a script as website', { website: ' javascript:alert(1)' }, 422],
    ['a style nobody knows', { default_merge_style: 'octopus' }, 422],
    ['a description without end', { description: 'x'.repeat(2049) }, 422],
    ['a wrong type', { private: 'yes' }, 422],
  ])('refuses %s, and changes nothing', async (_what, edit, expected) => {
    const before = await row('garden');
    expect((await cast.ada.call('PATCH', '/repos/ada/garden', edit)).status).toBe(expected);
    expect(await row('garden')).toEqual(before);
  });

  it.each([
    ['writer', 403],
    ['reader', 403],
    ['stranger', 403],
  ] as const)('is not for a %s', async (who, expected) => {
    const before = await row('garden');
    const { status } = await cast[who].call('PATCH', '/repos/ada/garden', { description: 'z' });
    expect(status).toBe(expected);
    expect(await row('garden')).toEqual(before);
  });

  it('an archived repository takes nothing but its return', async () => {
    const { body } = await cast.ada.call('PATCH', '/repos/ada/garden', { archived: true });
    expect(body).toMatchObject({ archived: true });
    expect(body['archived_at']).not.toMatch(/^(0001|1970)/);
    const before = await row('garden');
    expect((await cast.ada.call('PATCH', '/repos/ada/garden', { description: 'no' })).status).toBe(423);
    expect((await cast.ada.call('PUT', '/repos/ada/garden/topics', { topics: ['x'] })).status).toBe(423);
    const rule = { rule_name: 'main' };
    expect((await cast.ada.call('POST', '/repos/ada/garden/branch_protections', rule)).status).toBe(423);
    expect(await row('garden')).toEqual(before);
    const back = await cast.ada.call('PATCH', '/repos/ada/garden', { archived: false });
    expect(back.body).toMatchObject({ archived: false });
    expect(back.body['archived_at']).toMatch(/^(0001|1970)/);
  });
});

describe('a new name', () => {
  it('leads the old one on, for the API and for git, with everything behind it', async () => {
    await pushedRepository(cast.ada, 'shed', scene.folder);
    expect((await cast.ada.call('PATCH', '/repos/ada/shed', { name: 'Barn' })).body).toMatchObject({
      full_name: 'ada/Barn',
    });
    const asked = `${scene.address}/api/v1/repos/ada/SHED/topics?limit=3&page=1`;
    const led = await fetch(asked, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${cast.ada.token}` },
    });
    expect(led.status).toBe(307);
    expect(led.headers.get('location')).toBe(`${scene.address}/api/v1/repos/ada/Barn/topics?limit=3&page=1`);
    expect((await cast.ada.call('GET', '/repos/ada/shed')).body).toMatchObject({ name: 'Barn' });
    expect((await cast.ada.call('PATCH', '/repos/ada/shed', { description: 'led on' })).status).toBe(200);
    await git(scene.folder, 'clone', '-q', cast.ada.remote('ada/shed'), 'led');
    const led2 = join(scene.folder, 'led');
    await commit(led2, { 'more.txt': 'x' }, 'more');
    await git(led2, 'push', '-q', 'origin', 'main');
  });

  it('in another case is no other name', async () => {
    const { body } = await cast.ada.call('PATCH', '/repos/ada/barn', { name: 'barn' });
    expect(body).toMatchObject({ name: 'barn' });
    expect(await scene.sql.rows`select name_key from :schema.former_repository_names`).toEqual([
      { name_key: 'shed' },
    ]);
  });

  it('that is taken is refused', async () => {
    const before = await row('barn');
    const { status, body } = await cast.ada.call('PATCH', '/repos/ada/barn', { name: 'GARDEN' });
    expect([status, body.message]).toEqual([422, 'repo name is already taken [name: GARDEN]']);
    expect(await row('barn')).toEqual(before);
  });

  it('back again needs no lead, and a new repository under the old name wins', async () => {
    await cast.ada.call('PATCH', '/repos/ada/barn', { name: 'shed' });
    expect((await cast.ada.call('GET', '/repos/ada/barn')).body).toMatchObject({ name: 'shed' });
    expect((await cast.ada.call('POST', '/user/repos', { name: 'barn' })).status).toBe(201);
    expect((await cast.ada.call('GET', '/repos/ada/barn')).body).toMatchObject({ name: 'barn', empty: true });
  });

  it('of a private repository leads nobody on who may not know of it', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'diary', private: true });
    await cast.ada.call('PATCH', '/repos/ada/diary', { name: 'journal' });
    const old = await cast.stranger.call('GET', '/repos/ada/diary');
    const none = await cast.stranger.call('GET', '/repos/ada/none-such');
    expect([old.status, old.text]).toEqual([404, none.text]);
    const basic = { authorization: `Basic ${Buffer.from(`x:${cast.stranger.token}`).toString('base64')}` };
    const refs = 'info/refs?service=git-upload-pack';
    expect((await request(`${scene.address}/ada/diary.git/${refs}`, 'GET', undefined, basic)).status).toBe(
      404,
    );
  });

  it('meets a push without harm to it', async () => {
    const made = await pushedRepository(cast.ada, 'busy', scene.folder);
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, async (_, index) => {
        if (index % 2 === 0)
          return await cast.ada.call('PATCH', `/repos/ada/busy${index === 0 ? '' : index - 2}`, {
            name: `busy${index}`,
          });
        await git(made, 'push', '-q', cast.ada.remote('ada/busy'), `main:refs/heads/b${index}`);
        return undefined;
      }),
    );
    const [repository] = await scene.sql.rows<{ id: number }>`
      select id from :schema.repositories where name_key like 'busy%'`;
    const bare = join(scene.dataFolder, 'repositories', `${repository?.id}.git`);
    for (const [index, result] of results.entries()) {
      if (index % 2 === 1 && result.status === 'fulfilled')
        expect(await git(bare, 'rev-parse', `refs/heads/b${index}`)).toBe(
          await git(made, 'rev-parse', 'main'),
        );
    }
    expect(await git(bare, 'fsck', '--strict')).toBe('');
  });
});

describe('transfer', () => {
  beforeAll(async () => {
    await organization(scene, 'club', { owner: cast.ada, maker: cast.writer });
    await organization(scene, 'lodge', { owner: cast.stranger, visibility: 'private' });
  });
  const make = (name: string, more = {}) => cast.ada.call('POST', '/user/repos', { name, ...more });

  it('to an organization in which one may make repositories happens at once', async () => {
    await make('spade');
    const { status, body } = await cast.ada.call('POST', '/repos/ada/spade/transfer', { new_owner: 'CLUB' });
    expect([status, body['full_name'], body['repo_transfer']]).toEqual([202, 'club/spade', null]);
    expect((await cast.ada.call('GET', '/repos/ada/spade')).body['full_name']).toBe('club/spade');
  });

  it('to somebody else waits until he takes it', async () => {
    await make('rake', { private: true });
    const asked = await cast.ada.call('POST', '/repos/ada/rake/transfer', { new_owner: 'reader' });
    expect(asked.status).toBe(202);
    expect(asked.body).toMatchObject({
      full_name: 'ada/rake',
      repo_transfer: { doer: { login: 'ada' }, recipient: { login: 'reader' }, teams: [] },
    });
    const again = await cast.ada.call('POST', '/repos/ada/rake/transfer', { new_owner: 'writer' });
    expect(again.status).toBe(422);
    expect((await cast.stranger.call('POST', '/repos/ada/rake/transfer/accept')).status).toBe(404);
    expect((await cast.ada.call('POST', '/repos/ada/rake/transfer/accept')).status).toBe(403);
    expect((await cast.ada.call('GET', '/repos/ada/rake')).body['full_name']).toBe('ada/rake');
    const taken = await cast.reader.call('POST', '/repos/ada/rake/transfer/accept');
    expect([taken.status, taken.body['full_name']]).toEqual([202, 'reader/rake']);
    expect((await cast.ada.call('GET', '/repos/reader/rake')).status).toBe(404);
    expect((await cast.reader.call('POST', '/repos/reader/rake/transfer/accept')).status).toBe(404);
  });

  it('can be turned down', async () => {
    await make('hoe');
    await cast.ada.call('POST', '/repos/ada/hoe/transfer', { new_owner: 'reader' });
    expect((await cast.writer.call('POST', '/repos/ada/hoe/transfer/reject')).status).toBe(403);
    expect((await cast.reader.call('POST', '/repos/ada/hoe/transfer/reject')).status).toBe(200);
    expect((await cast.ada.call('GET', '/repos/ada/hoe')).body).toMatchObject({
      full_name: 'ada/hoe',
      repo_transfer: null,
    });
    expect((await cast.reader.call('POST', '/repos/ada/hoe/transfer/accept')).status).toBe(404);
  });

  it('is taken back by an owner, not by an administrator', async () => {
    await make('scythe');
    await cast.ada.call('PUT', '/repos/ada/scythe/collaborators/admina', { permission: 'admin' });
    await cast.ada.call('POST', '/repos/ada/scythe/transfer', { new_owner: 'reader' });
    const waiting = () => scene.sql.rows`select * from :schema.repository_transfers`;
    const before = await waiting();
    expect((await cast.admin.call('POST', '/repos/ada/scythe/transfer/reject')).status).toBe(403);
    expect((await cast.ada.call('POST', '/repos/ada/scythe/transfer/accept')).status).toBe(403);
    expect([before.length, await waiting()]).toEqual([1, before]);
    expect((await cast.ada.call('POST', '/repos/ada/scythe/transfer/reject')).status).toBe(200);
    expect(await waiting()).toEqual([]);
    expect((await cast.reader.call('POST', '/repos/ada/scythe/transfer/accept')).status).toBe(404);
  });

  it('is told to administrators and the recipient only', async () => {
    await make('sickle');
    await cast.ada.call('PUT', '/repos/ada/sickle/collaborators/admina', { permission: 'admin' });
    await cast.ada.call('PUT', '/repos/ada/sickle/collaborators/writer', { permission: 'write' });
    await cast.ada.call('POST', '/repos/ada/sickle/transfer', { new_owner: 'reader' });
    const shown = async (who: Person) => {
      const { status, body } = await who.call('GET', '/repos/ada/sickle');
      expect(status).toBe(200);
      return body['repo_transfer'];
    };
    const told = { doer: { login: 'ada' }, recipient: { login: 'reader' }, teams: [] };
    for (const who of [cast.ada, cast.admin, cast.reader]) expect(await shown(who)).toMatchObject(told);
    for (const who of [cast.writer, cast.stranger]) expect(await shown(who)).toBeNull();
    await cast.ada.call('POST', '/repos/ada/sickle/transfer/reject');
    // Whoever may make repositories in an organization is asked for it.
    await cast.ada.call('PATCH', '/orgs/club', { visibility: 'private' });
    await cast.reader.call('POST', '/user/repos', { name: 'flail' });
    const [club] = await scene.sql.rows<{ id: number }>`select id from :schema.users where login = 'club'`;
    await scene.sql.run`
      insert into :schema.repository_transfers (repository_id, doer_id, recipient_id, team_ids, created_at)
      select id, owner_id, ${club?.id ?? 0}, '{}', now() from :schema.repositories where name = 'flail'`;
    const flail = async (who: Person) => (await who.call('GET', '/repos/reader/flail')).body['repo_transfer'];
    expect(await flail(cast.writer)).toMatchObject({ recipient: { login: 'club' } });
    expect(await flail(cast.stranger)).toBeNull();
    await cast.ada.call('PATCH', '/orgs/club', { visibility: 'public' });
    await scene.sql.run`delete from :schema.repository_transfers`;
  });

  it('is not refused for a database that cannot say who may take it', async () => {
    await make('fork');
    await scene.sql.run`
      insert into :schema.repository_transfers (repository_id, doer_id, recipient_id, team_ids, created_at)
      select r.id, owner_id, u.id, '{}', now() from :schema.repositories r, :schema.users u
      where r.name = 'fork' and login = 'club'`;
    const accept = async () => (await cast.writer.call('POST', '/repos/ada/fork/transfer/accept')).status;
    const before = await rowsOf(scene, 'repositories', 'repository_transfers');
    await scene.sql.script('alter function forge.may_know rename to may_know_later');
    const refused = await accept();
    await scene.sql.script('alter function forge.may_know_later rename to may_know');
    expect(refused).toBe(500);
    expect(await rowsOf(scene, 'repositories', 'repository_transfers')).toEqual(before);
    expect(await accept()).toBe(202);
  });

  it('of a private repository is not for credentials for public things', async () => {
    await make('plough', { private: true });
    await cast.ada.call('POST', '/repos/ada/plough/transfer', { new_owner: 'reader' });
    const { body } = await cast.reader.call('POST', '/users/reader/tokens', {
      name: 'public',
      scopes: ['public-only', 'write:repository'],
    });
    const limited = personWith('reader', body.sha1, () => scene.address);
    const before = await scene.sql.rows`select * from :schema.repository_transfers`;
    for (const how of ['accept', 'reject'])
      expect((await limited.call('POST', `/repos/ada/plough/transfer/${how}`)).status).toBe(404);
    expect(await scene.sql.rows`select * from :schema.repository_transfers`).toEqual(before);
    expect((await cast.ada.call('GET', '/repos/ada/plough')).body['full_name']).toBe('ada/plough');
    expect((await cast.reader.call('POST', '/repos/ada/plough/transfer/accept')).status).toBe(202);
  });

  it('of somebody who owns it no more is not taken any more', async () => {
    await cast.ada.call('PUT', `/orgs/club/public_members/ada`);
    const { items: teams } = await cast.ada.call('GET', '/orgs/club/teams');
    const owners = teams.find((team) => team['permission'] === 'owner')?.id ?? 0;
    await cast.ada.call('PUT', `/teams/${owners}/members/admina`);
    await cast.ada.call('POST', '/orgs/club/repos', { name: 'treasure', private: true });
    const offer = await cast.admin.call('POST', '/repos/club/treasure/transfer', { new_owner: 'stranger' });
    expect(offer.status).toBe(202);
    await cast.ada.call('DELETE', '/orgs/club/members/admina');
    const before = await rowsOf(scene, 'repositories', 'repository_transfers');
    expect((await cast.stranger.call('POST', '/repos/club/treasure/transfer/accept')).status).toBe(403);
    expect(await rowsOf(scene, 'repositories', 'repository_transfers')).toEqual(before);
    await cast.ada.call('PUT', `/teams/${owners}/members/admina`);
    expect((await cast.stranger.call('POST', '/repos/club/treasure/transfer/accept')).status).toBe(202);
    await cast.ada.call('DELETE', '/orgs/club/members/admina');
  });

  it.each([
    ['to oneself of what is somebody else’s', 'stranger', 'stranger', 403],
    ['by an administrator who is not the owner', 'admin', 'admina', 403],
    ['by a writer', 'writer', 'writer', 403],
    ['to nobody', 'ada', 'nobody-here', 404],
    ['to a hidden organization', 'ada', 'lodge', 404],
    ['to the owner', 'ada', 'ada', 422],
  ] as const)('%s is refused', async (_what, who, owner, expected) => {
    const before = await row('garden');
    const path = '/repos/ada/garden/transfer';
    expect((await cast[who].call('POST', path, { new_owner: owner })).status).toBe(expected);
    expect(await row('garden')).toEqual(before);
    expect(await scene.sql.rows`select from :schema.repository_transfers`).toEqual([]);
  });

  it('a hidden owner looks like none', async () => {
    const path = '/repos/ada/garden/transfer';
    const hidden = await cast.ada.call('POST', path, { new_owner: 'lodge' });
    const missing = await cast.ada.call('POST', path, { new_owner: 'nobody-here' });
    expect(hidden.text).toBe(missing.text);
  });

  it('leaves the labels of the organization behind, also what timelines tell of them', async () => {
    await cast.ada.call('POST', '/orgs/club/repos', { name: 'trowel' });
    const { body: label } = await cast.ada.call('POST', '/orgs/club/labels', {
      name: 'shared',
      color: '#aabbcc',
    });
    await cast.ada.call('POST', '/repos/club/trowel/issues', { title: 'one', labels: [label.id] });
    const timeline = async (who: Person, owner: string) =>
      (await who.call('GET', `/repos/${owner}/trowel/issues/1/timeline`)).items;
    expect(await timeline(cast.ada, 'club')).toMatchObject([{ type: 'label', label: { name: 'shared' } }]);
    await cast.ada.call('POST', '/repos/club/trowel/transfer', { new_owner: 'reader' });
    expect((await cast.reader.call('POST', '/repos/club/trowel/transfer/accept')).status).toBe(202);
    // What it is called from now on is the organization's business.
    await cast.ada.call('PATCH', `/orgs/club/labels/${label.id}`, { name: 'between us' });
    expect((await cast.reader.call('GET', '/repos/reader/trowel/issues/1')).body['labels']).toEqual([]);
    expect(await timeline(cast.reader, 'reader')).toMatchObject([{ type: 'label', label: null }]);
  });

  it('to an owner who has the name is refused', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'twin' });
    await cast.writer.call('POST', '/org/club/repos', { name: 'twin' });
    const { status } = await cast.ada.call('POST', '/repos/ada/twin/transfer', { new_owner: 'club' });
    expect(status).toBe(422);
    expect((await cast.ada.call('GET', '/repos/ada/twin')).body['full_name']).toBe('ada/twin');
  });
});

it('of two creations under one name one is made', async () => {
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => cast.ada.call('POST', '/user/repos', { name: 'once', auto_init: true })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
});

describe('credentials for public things', () => {
  it('make nothing private, which they could not show any more', async () => {
    await cast.ada.call('POST', '/user/repos', { name: 'mould', template: true, auto_init: true });
    const scopes = ['public-only', 'write:repository', 'write:user', 'write:organization'];
    const { body } = await cast.ada.call('POST', '/users/ada/tokens', { name: 'open things', scopes });
    const limited = personWith('ada', body.sha1, () => scene.address);
    const before = await rowsOf(scene, 'repositories');
    const secret = { private: true };
    for (const [method, path, wish] of [
      ['POST', '/user/repos', { name: 'hush', ...secret }],
      ['POST', '/orgs/club/repos', { name: 'hush', ...secret }],
      ['POST', '/repos/ada/mould/generate', { name: 'hush', git_content: true, ...secret }],
      ['PATCH', '/repos/ada/mould', secret],
    ] as const)
      expect([path, (await limited.call(method, path, wish)).status]).toEqual([path, 403]);
    expect(await rowsOf(scene, 'repositories')).toEqual(before);
    expect(
      (await limited.call('PATCH', '/repos/ada/mould', { private: false, description: 'x' })).status,
    ).toBe(200);
    expect((await limited.call('POST', '/user/repos', { name: 'open' })).status).toBe(201);
  });
});
