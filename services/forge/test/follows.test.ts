import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, personWith, useForge } from './forge.ts';
import { organization } from './repository-scene.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let ben: Person;
let eve: Person;
let root: Person;
const fans: Person[] = [];

beforeAll(async () => {
  [ada, ben, eve] = ['ada', 'ben', 'eve'].map((name) => scene.person(name)) as [Person, Person, Person];
  root = scene.person('root', { role: 'service_role' });
  fans.push(...Array.from({ length: 8 }, (_, index) => scene.person(`fan-${index}`)));
  for (const person of [ada, ben, eve, root, ...fans]) await person.call('GET', '/user');
  await organization(scene, 'club', { owner: ada });
  await organization(scene, 'lodge', { owner: ada, visibility: 'private' });
});

const follow = (who: Person, whom: string) => who.call('PUT', `/user/following/${whom}`);
const logins = (reply: { items: readonly object[] }) =>
  reply.items.map((one) => (one as { login: string }).login);
const counts = async (login: string, viewer = ada) => {
  const { body } = await viewer.call('GET', `/users/${login}`);
  return [body['followers_count'], body['following_count']];
};
const anonymously = async (method: string, path: string) =>
  (await fetch(`${scene.address}/api/v1${path}`, { method })).status;
const stored = () => rowsOf(scene, 'follows', 'users(id, login, followers, following)');

describe('following', () => {
  it('is done once, shown on both sides, counted, and ended', async () => {
    expect((await eve.call('GET', '/user/following/ada')).status).toBe(404);
    for (const whom of ['ada', 'ADA', 'ben']) expect((await follow(eve, whom)).status).toBe(204);
    expect((await follow(ben, 'ada')).status).toBe(204);
    expect((await eve.call('GET', '/user/following/Ada')).status).toBe(204);
    expect((await ben.call('GET', '/users/eve/following/ada')).status).toBe(204);
    expect((await ben.call('GET', '/users/ada/following/eve')).status).toBe(404);
    expect(logins(await eve.call('GET', '/user/following'))).toEqual(['ada', 'ben']);
    expect(logins(await ben.call('GET', '/users/eve/following'))).toEqual(['ada', 'ben']);
    expect(logins(await ada.call('GET', '/user/followers'))).toEqual(['eve', 'ben']);
    expect(logins(await ben.call('GET', '/users/ada/followers'))).toEqual(['eve', 'ben']);
    expect(logins(await eve.call('GET', '/user/followers'))).toEqual([]);
    expect([await counts('ada'), await counts('ben'), await counts('eve')]).toEqual([
      [2, 0],
      [1, 1],
      [0, 2],
    ]);
    const own = await eve.call('GET', '/user');
    expect(own.body).toMatchObject({ followers_count: 0, following_count: 2 });

    for (let times = 0; times < 2; times++)
      expect((await eve.call('DELETE', '/user/following/ada')).status).toBe(204);
    expect((await eve.call('GET', '/user/following/ada')).status).toBe(404);
    expect([await counts('ada'), await counts('eve')]).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it('comes in pages, the first ones first', async () => {
    for (const fan of fans) await follow(fan, 'root');
    const page = await ada.call('GET', '/users/root/followers?page=2&limit=3');
    expect(logins(page)).toEqual(['fan-3', 'fan-4', 'fan-5']);
    expect(page.headers.get('x-total-count')).toBe('8');
    expect(page.headers.get('link')).toContain('rel="next"');
    const beyond = await ada.call('GET', '/users/root/followers?page=9&limit=3');
    expect([beyond.items, beyond.headers.get('x-total-count')]).toEqual([[], '8']);
  });

  it('of oneself is noted by nobody, and of nobody and of organizations is 404', async () => {
    const before = await stored();
    expect((await follow(ada, 'ada')).status).toBe(204);
    const nobody = await follow(ada, 'nobody');
    expect(nobody.status).toBe(404);
    for (const name of ['club', 'lodge', 'nobody']) {
      for (const who of [ada, eve, root]) {
        for (const [method, path] of [
          ['PUT', `/user/following/${name}`],
          ['GET', `/user/following/${name}`],
          ['DELETE', `/user/following/${name}`],
          ['GET', `/users/${name}/followers`],
          ['GET', `/users/${name}/following`],
          ['GET', `/users/${name}/following/ada`],
          ['GET', `/users/ada/following/${name}`],
        ] as const) {
          const reply = await who.call(method, path);
          // A hidden organization answers what no account at all answers.
          expect([reply.status, reply.body.message]).toEqual([
            404,
            nobody.body.message.replace('nobody', name),
          ]);
        }
      }
    }
    expect(await stored()).toEqual(before);
  });

  it('is for the signed in, and shown to whoever may read', async () => {
    const before = await stored();
    for (const [method, path] of [
      ['PUT', '/user/following/ada'],
      ['DELETE', '/user/following/ada'],
      ['GET', '/user/following/ada'],
      ['GET', '/user/following'],
      ['GET', '/user/followers'],
      // As all reading, while signing in is required.
      ['GET', '/users/ada/followers'],
    ] as const) {
      expect([method, path, await anonymously(method, path)]).toEqual([method, path, 401]);
    }
    const { body } = await eve.call('POST', '/users/eve/tokens', { name: 'r', scopes: ['read:user'] });
    const reading = personWith('eve', body.sha1, () => scene.address);
    expect((await follow(reading, 'ada')).status).toBe(403);
    expect(logins(await reading.call('GET', '/user/following'))).toEqual(['ben']);
    expect(await stored()).toEqual(before);
  });

  it('shows addresses as the account does everywhere', async () => {
    await ben.call('PATCH', '/user/settings', { hide_email: true });
    const [shown] = (await ada.call('GET', '/users/eve/following')).items;
    expect(shown).toMatchObject({ login: 'ben', email: expect.stringContaining('@noreply.') });
  });

  it('leads on from a former name', async () => {
    const tom = scene.person('tom');
    await tom.call('GET', '/user');
    await root.call('POST', '/admin/users/tom/rename', { new_username: 'thomas' });
    const moved = await fetch(`${scene.address}/api/v1/users/tom/followers`, {
      headers: { authorization: `Bearer ${ada.token}` },
      redirect: 'manual',
    });
    expect([moved.status, moved.headers.get('location')]).toEqual([
      307,
      expect.stringContaining('/users/thomas/followers'),
    ]);
  });

  it('is counted right when many come and go at once, in both directions', async () => {
    const others = (fan: Person) => fans.filter((one) => one !== fan);
    const each = (method: string) =>
      Promise.all(
        fans.flatMap((fan) =>
          others(fan).map(async ({ name }) => (await fan.call(method, `/user/following/${name}`)).status),
        ),
      );
    expect(new Set(await each('PUT'))).toEqual(new Set([204]));
    for (const fan of fans) expect(await counts(fan.name)).toEqual([7, 8]);
    expect(new Set(await each('DELETE'))).toEqual(new Set([204]));
    for (const fan of fans) expect(await counts(fan.name)).toEqual([0, 1]);
  });

  it('ends with an account, and right counters', async () => {
    const gone = scene.person('gone');
    await gone.call('GET', '/user');
    const [before, followers] = [await counts('eve'), await counts('ben')];
    await follow(gone, 'eve');
    await follow(gone, 'ben');
    await follow(eve, 'gone');
    expect((await root.call('DELETE', '/admin/users/gone')).status).toBe(204);
    expect([await counts('eve'), await counts('ben')]).toEqual([before, followers]);
    expect(logins(await eve.call('GET', '/user/following'))).toEqual(['ben']);
  });

  it('keeps whoever was banned, who follows nobody any more', async () => {
    const before = await stored();
    await scene.sql.run`update :schema.users set refused_at = now() where login = 'ben'`;
    expect((await follow(ben, 'root')).status).toBe(403);
    expect(logins(await ada.call('GET', '/users/eve/following'))).toEqual(['ben']);
    expect(await stored()).toEqual(before);
  });
});

it('nodeinfo says what runs here, and how many people there are', async () => {
  const { version } = (await ada.call('GET', '/version')).body as unknown as { version: string };
  const reply = await ada.call('GET', '/nodeinfo');
  expect(reply.status).toBe(200);
  const people = await scene.sql.rows`select from :schema.users where kind = 'person'`;
  expect(reply.body).toEqual({
    version: '2.1',
    software: { name: 'croft', version: version.split('croft.')[1], repository: '', homepage: '' },
    protocols: [],
    services: { inbound: [], outbound: [] },
    openRegistrations: false,
    usage: { users: { total: people.length } },
    metadata: {},
  });
  expect(await anonymously('GET', '/nodeinfo')).toBe(401);
});
