import { beforeAll, expect, it } from 'vitest';
import { type Person, type Reply, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let eve: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  eve = scene.person('eve');
  for (const person of [ada, eve]) await person.call('GET', '/user');
});
/** Where a request is sent on to; undefined when it is answered. */
async function sentTo(person: Person, path: string): Promise<string | undefined> {
  const { headers } = await fetch(`${scene.address}/api/v1${path}`, {
    headers: { authorization: `Bearer ${person.token}` },
    redirect: 'manual',
  });
  return headers.get('location')?.replace(`${scene.address}/api/v1`, '');
}
const renamed = async (name: string, to: string) => {
  expect((await ada.call('POST', `/orgs/${name}/rename`, { new_name: to })).status).toBe(204);
};
const made = ({ status, text }: Reply) => expect([status, text]).toEqual([201, text]);

it('a name that somebody takes leads to nobody else any more, also when he is gone', async () => {
  const boss = scene.person('boss', { role: 'service_role' });
  for (const [name, take] of [
    ['old-a', async () => made(await eve.call('POST', '/orgs', { username: 'OLD-A' }))],
    ['old-b', () => scene.person('old-b').call('GET', '/user')],
    [
      'old-c',
      async () => {
        made(await eve.call('POST', '/orgs', { username: 'passing' }));
        await eve.call('POST', '/orgs/passing/rename', { new_name: 'old-c' });
      },
    ],
  ] as const) {
    made(await ada.call('POST', '/orgs', { username: name }));
    made(await ada.call('POST', `/orgs/${name}/repos`, { name: 'tool' }));
    await renamed(name, `new-${name}`);
    expect(await sentTo(eve, `/repos/${name}/tool`)).toBe(`/repos/new-${name}/tool`);
    await take();
    expect((await eve.call('GET', `/users/${name}`)).status).toBe(200);
    expect([name, (await eve.call('GET', `/repos/${name}/tool`)).status]).toEqual([name, 404]);
    const path = name === 'old-b' ? '/admin/users/old-b' : `/orgs/${name}`;
    expect((await boss.call('DELETE', path)).status).toBe(204);
    expect((await eve.call('GET', `/users/${name}`)).status).toBe(404);
  }
});

it('a name that is taken back leads to its owner, and what he was called meanwhile, too', async () => {
  made(await ada.call('POST', '/orgs', { username: 'first' }));
  await renamed('first', 'second');
  await renamed('second', 'first');
  expect(await sentTo(eve, '/orgs/first')).toBeUndefined();
  expect(await sentTo(eve, '/orgs/second')).toBe('/orgs/first');
});

it('a name that is part of every address leads to the right one', async () => {
  for (const name of ['v1', 'v2']) made(await ada.call('POST', '/orgs', { username: name }));
  await renamed('v1', 'version-one');
  expect(await sentTo(eve, '/orgs/v1/members?page=1')).toBe('/orgs/version-one/members?page=1');
});

it('whoever a repository is to be made for is found by the name he had', async () => {
  made(await ada.call('POST', '/orgs', { username: 'guild' }));
  made(await eve.call('POST', '/user/repos', { name: 'guild', auto_init: true, template: true }));
  await renamed('guild', 'union');
  const forked = await ada.call('POST', '/repos/eve/guild/forks', { organization: 'guild', name: 'copy' });
  expect([forked.status, forked.body['full_name']]).toEqual([202, 'union/copy']);
  const wish = { owner: 'guild', name: 'made', git_content: true };
  const generated = await ada.call('POST', '/repos/eve/guild/generate', wish);
  expect([generated.status, generated.body['full_name']]).toEqual([201, 'union/made']);
  // The name says nothing to whoever may not know of the one who had it.
  await ada.call('PATCH', '/orgs/union', { visibility: 'private' });
  const stranger = scene.person('stranger');
  const before = await scene.sql.rows`select id, name from :schema.repositories order by id`;
  const refused = await stranger.call('POST', '/repos/eve/guild/forks', { organization: 'guild' });
  expect([refused.status, refused.headers.get('location')]).toEqual([404, null]);
  expect(await scene.sql.rows`select id, name from :schema.repositories order by id`).toEqual(before);
});
