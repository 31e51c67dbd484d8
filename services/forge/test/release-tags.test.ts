import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { askDuring } from './ask-during.ts';
import { type Person, pushedRepository, useForge } from './forge.ts';
import { recordHappenings } from './happenings.ts';
import { rowsOf } from './rows-of.ts';

// Releases, and what becomes of their tags, their repositories and their people meanwhile.

const scene = useForge();
const at = '/repos/ada/tool/releases';
let ada: Person;
let eve: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  [ada, eve] = ['ada', 'eve'].map((name) => scene.person(name)) as [Person, Person];
  await eve.call('GET', '/user');
  tree = await pushedRepository(ada, 'tool', scene.folder);
  bare = await scene.bare('ada', 'tool');
  await recordHappenings(scene);
});

const make = (body: object) => ada.call('POST', at, body);
const refs = () => git(bare, 'for-each-ref', '--format=%(refname) %(objectname)');
const releasesTold = async (id: number) =>
  (
    await scene.sql.rows<{ action: string }>`
      select payload->>'action' as action from :schema.told
      where payload->>'kind' = 'release' and (payload->>'releaseId')::bigint = ${id} order by id`
  ).map(({ action }) => action);

describe('a tag with a release', () => {
  it.each([false, true])('is not deleted over the API, also of a draft: %s', async (draft) => {
    const { body } = await make({ tag_name: 'kept' });
    if (draft) await ada.call('PATCH', `${at}/${body.id}`, { draft });
    const before = [await refs(), await rowsOf(scene, 'releases', 'pushes', 'told')];
    const refused = await ada.call('DELETE', '/repos/ada/tool/tags/kept');
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('has a release')]);
    expect([await refs(), await rowsOf(scene, 'releases', 'pushes', 'told')]).toEqual(before);
    await ada.call('DELETE', `${at}/${body.id}`);
    expect((await ada.call('DELETE', '/repos/ada/tool/tags/kept')).status).toBe(204);
  });

  it('leaves a draft when a push deletes it, which gets it again when it is published', async () => {
    const { body } = await make({ tag_name: 'fleeting', name: 'F' });
    const counter = async () => (await ada.call('GET', '/repos/ada/tool')).body['release_counter'];
    expect(await counter()).toBe(1);
    await git(tree, 'push', '-q', 'origin', ':refs/tags/fleeting');
    expect((await ada.call('GET', `${at}/${body.id}`)).body).toMatchObject({ draft: true, name: 'F' });
    expect((await eve.call('GET', `${at}/${body.id}`)).status).toBe(404);
    expect([await counter(), await releasesTold(body.id)]).toEqual([0, ['published']]);
    await ada.call('PATCH', `${at}/${body.id}`, { draft: false });
    expect(await refs()).toContain('refs/tags/fleeting ');
    expect(await releasesTold(body.id)).toEqual(['published', 'published']);
    expect(await counter()).toBe(1);
    await ada.call('DELETE', `${at}/${body.id}`);
  });

  it('stays one when a push moves it', async () => {
    const { body } = await make({ tag_name: 'moving' });
    await git(tree, 'commit', '-q', '--allow-empty', '-m', 'next');
    await git(tree, 'push', '-q', 'origin', 'main');
    await git(tree, 'push', '-qf', 'origin', 'main:refs/tags/moving');
    expect((await eve.call('GET', `${at}/tags/moving`)).body.id).toBe(body.id);
  });

  it('left a draft also when the forge died before it had noted the push', async () => {
    const { body } = await make({ tag_name: 'unnoticed' });
    const before = await git(bare, 'rev-parse', 'refs/tags/unnoticed');
    const moves = [{ ref: 'refs/tags/unnoticed', before, after: '0'.repeat(40) }];
    await scene.restart(async () => {
      await git(bare, 'tag', '-d', 'unnoticed');
      await scene.sql.run`
        insert into :schema.pushes (repository_id, actor_id, details, started_at)
        select id, owner_id, ${JSON.stringify({ moves })}::jsonb, now() from :schema.repositories`;
    });
    expect((await ada.call('GET', `${at}/${body.id}`)).body['draft']).toBe(true);
    await ada.call('DELETE', `${at}/${body.id}`);
  });
});

describe('at once', () => {
  it.each([false, true])('of many for one tag one is made, with drafts among them: %s', async (drafts) => {
    const tag_name = `raced-${drafts}`;
    const many = Array.from({ length: 8 }, (_, n) =>
      make({ tag_name, name: `${n}`, draft: drafts && n % 2 === 0 }),
    );
    const answers = await Promise.all(many);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const winner = answers.find(({ status }) => status === 201)?.body;
    expect((await ada.call('GET', `${at}/tags/${tag_name}`)).body).toMatchObject({ name: winner?.['name'] });
    expect((await refs()).includes(`refs/tags/${tag_name} `)).toBe(winner?.['draft'] === false);
    expect(await rowsOf(scene, 'pushes')).toEqual([[]]);
    await ada.call('DELETE', `${at}/tags/${tag_name}`);
  });

  it('a tag and a release with it: neither is half', async () => {
    const [tag, release] = await Promise.all([
      ada.call('POST', '/repos/ada/tool/tags', { tag_name: 'both' }),
      make({ tag_name: 'both' }),
    ]);
    expect([[201, 409].includes(tag.status), release.status]).toEqual([true, 201]);
    const gone = await Promise.all([
      ada.call('DELETE', '/repos/ada/tool/tags/both'),
      ada.call('DELETE', `${at}/tags/both`),
    ]);
    expect([[204, 409].includes(gone[0].status), gone[1].status]).toEqual([true, 204]);
  });

  it('publishing and deleting a draft: its tag is there, or it is not there', async () => {
    for (let round = 0; round < 5; round++) {
      const tag_name = `draft-${round}`;
      const { body } = await make({ tag_name, draft: true });
      const [published, deleted] = await Promise.all([
        ada.call('PATCH', `${at}/${body.id}`, { draft: false }),
        ada.call('DELETE', `${at}/${body.id}`),
      ]);
      expect([[200, 404].includes(published.status), deleted.status]).toEqual([true, 204]);
      expect((await ada.call('GET', `${at}/${body.id}`)).status).toBe(404);
    }
    expect(await rowsOf(scene, 'pushes')).toEqual([[]]);
  });

  it('one that is deleted meanwhile is not there', async () => {
    const { body } = await make({ tag_name: 'going' });
    const answer = await askDuring(
      scene,
      (tx) => tx.run`delete from :schema.releases where id = ${body.id}`,
      () => ada.call('PATCH', `${at}/${body.id}`, { name: 'x' }),
    );
    expect(answer.status).toBe(404);
  });
});

it('a row that cannot be written leaves no tag', async () => {
  const before = [await refs(), await rowsOf(scene, 'releases', 'pushes', 'told')];
  await scene.sql.run`alter table :schema.releases add constraint never check (tag_name <> 'never')`;
  expect((await make({ tag_name: 'never' })).status).toBe(500);
  expect([await refs(), await rowsOf(scene, 'releases', 'pushes', 'told')]).toEqual(before);
});

it('whoever leaves is a ghost in what he published', async () => {
  const bob = scene.person('bob');
  await bob.call('GET', '/user');
  await ada.call('PUT', '/repos/ada/tool/collaborators/bob', { permission: 'write' });
  const { id } = (await bob.call('POST', at, { tag_name: 'by-bob' })).body;
  await bob.call('POST', at, { tag_name: 'draft-of-bob', draft: true });
  const root = scene.person('root', { role: 'service_role' });
  expect((await root.call('DELETE', '/admin/users/bob')).status).toBe(204);
  expect((await eve.call('GET', `${at}/${id}`)).body).toMatchObject({ author: { id: -1, login: 'Ghost' } });
  expect((await ada.call('GET', `${at}?draft=true`)).items[0]).toMatchObject({ author: { id: -1 } });
});

it('they go along with their repository, under a new name, to a new owner and away', async () => {
  const { id } = (await make({ tag_name: 'last' })).body;
  await ada.call('PATCH', '/repos/ada/tool', { name: 'gadget' });
  const followed = await eve.call('GET', `${at}/${id}`);
  expect(followed.body['url']).toBe(`${scene.address}/api/v1/repos/ada/gadget/releases/${id}`);
  await ada.call('POST', '/orgs', { username: 'acme' });
  await ada.call('POST', '/repos/ada/gadget/transfer', { new_owner: 'acme' });
  const given = await eve.call('GET', `/repos/acme/gadget/releases/${id}`);
  expect(given.body['html_url']).toBe(`${scene.address}/acme/gadget/releases/tag/last`);
  // A fork gets the tags, and publishes for itself.
  await eve.call('POST', '/repos/acme/gadget/forks', {});
  expect((await eve.call('GET', '/repos/eve/gadget/tags/last')).status).toBe(200);
  expect((await eve.call('GET', '/repos/eve/gadget/releases')).items).toEqual([]);
  expect((await eve.call('POST', '/repos/eve/gadget/releases', { tag_name: 'last' })).status).toBe(201);
  expect((await ada.call('DELETE', '/repos/acme/gadget')).status).toBe(204);
  expect(await rowsOf(scene, 'releases(tag_name)')).toEqual([[{ tag_name: 'last' }]]);
});
