import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const logins = (items: readonly object[]) => items.map((one) => (one as { login: string }).login);

describe('whoever makes a repository', () => {
  const scene = useForge();
  let ada: Person;
  let eve: Person;
  let root: Person;
  const watchersOf = async (repository: string) => {
    const { items } = await root.call('GET', `/repos/${repository}/subscribers`);
    const { body } = await root.call('GET', `/repos/${repository}`);
    expect(body['watchers_count']).toBe(items.length);
    return logins(items);
  };
  const unread = async (person: Person) => (await person.call('GET', '/notifications/new')).body['new'];
  const settled = async () => {
    await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
  };

  beforeAll(async () => {
    ada = scene.person('ada');
    eve = scene.person('eve');
    root = scene.person('root', { role: 'service_role' });
    for (const person of [ada, eve, root]) await person.call('GET', '/user');
    await ada.call('POST', '/orgs', { username: 'acme' });
  });

  it('watches it, however he makes it', async () => {
    const wish = { name: 'own', template: true, auto_init: true };
    expect((await ada.call('POST', '/user/repos', wish)).body).toMatchObject({ watchers_count: 1 });
    expect((await ada.call('POST', '/orgs/acme/repos', { name: 'tool' })).status).toBe(201);
    expect((await eve.call('POST', '/repos/ada/own/forks', { name: 'copy' })).status).toBe(202);
    const generated = { owner: 'eve', name: 'generated', git_content: true };
    expect((await eve.call('POST', '/repos/ada/own/generate', generated)).status).toBe(201);
    expect((await root.call('POST', '/admin/users/ada/repos', { name: 'given' })).status).toBe(201);
    expect(await watchersOf('ada/own')).toEqual(['ada']);
    expect(await watchersOf('acme/tool')).toEqual(['ada']);
    expect(await watchersOf('eve/copy')).toEqual(['eve']);
    expect(await watchersOf('eve/generated')).toEqual(['eve']);
    expect(await watchersOf('ada/given')).toEqual(['root']);
    expect((await ada.call('GET', '/repos/ada/own/subscription')).body).toMatchObject({ subscribed: true });
  });

  it('is told of what strangers say there and not of what he says himself', async () => {
    await ada.call('POST', '/user/repos', { name: 'told' });
    await ada.call('POST', '/repos/ada/told/issues', { title: 'my own' });
    await settled();
    expect(await unread(ada)).toBe(0);
    await eve.call('POST', '/repos/ada/told/issues', { title: 'from a stranger' });
    await settled();
    expect([await unread(ada), await unread(eve)]).toEqual([1, 0]);
    const { items } = await ada.call('GET', '/notifications');
    expect(items).toMatchObject([{ subject: { title: 'from a stranger' } }]);
  });

  it('hears nothing more once he does not watch it any longer', async () => {
    await ada.call('POST', '/user/repos', { name: 'quiet' });
    expect((await ada.call('DELETE', '/repos/ada/quiet/subscription')).status).toBe(204);
    const before = await unread(ada);
    await eve.call('POST', '/repos/ada/quiet/issues', { title: 'unheard' });
    await settled();
    expect([await unread(ada), await watchersOf('ada/quiet')]).toEqual([before, []]);
  });

  it('watches nothing when it is refused', async () => {
    const watched = () => scene.sql.row`select count(*) from :schema.watches`;
    const before = await watched();
    expect((await ada.call('POST', '/user/repos', { name: 'OWN' })).status).toBe(409);
    expect((await ada.call('POST', '/user/repos', { name: 'a b' })).status).toBe(422);
    expect((await eve.call('POST', '/orgs/acme/repos', { name: 'foreign' })).status).toBe(403);
    expect(await watched()).toEqual(before);
  });
});

describe('where FORGE_AUTO_WATCH_NEW_REPOS is false', () => {
  const scene = useForge({ environment: { FORGE_AUTO_WATCH_NEW_REPOS: 'false' } });

  it('nobody watches a new repository', async () => {
    const ada = scene.person('ada');
    expect((await ada.call('POST', '/user/repos', { name: 'own' })).body).toMatchObject({
      watchers_count: 0,
    });
    expect((await ada.call('GET', '/repos/ada/own/subscribers')).items).toEqual([]);
    expect((await ada.call('GET', '/repos/ada/own/subscription')).status).toBe(404);
  });
});
