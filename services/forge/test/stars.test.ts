import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, personWith, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let eve: Person;
const fans: Person[] = [];

beforeAll(async () => {
  ada = scene.person('ada');
  eve = scene.person('eve');
  fans.push(...Array.from({ length: 12 }, (_, index) => scene.person(`fan-${index}`)));
  await Promise.all([ada, eve, ...fans].map((person) => person.call('GET', '/user')));
  await ada.call('POST', '/user/repos', { name: 'open' });
  await ada.call('POST', '/user/repos', { name: 'closed', private: true });
  await ada.call('POST', '/user/repos', { name: 'busy' });
  // Whoever makes a repository watches it; here only the others are counted.
  for (const name of ['open', 'closed', 'busy']) await ada.call('DELETE', `/repos/ada/${name}/subscription`);
});

const counters = (name: string) =>
  scene.sql.row<{ stars: number; watchers: number }>`
    select stars, watchers from :schema.repositories where name = ${name}`;
const names = (items: readonly object[]) => items.map((one) => (one as { name: string }).name);

describe('stars', () => {
  it('are given once, shown, listed and taken back', async () => {
    expect((await eve.call('GET', '/user/starred/ada/open')).status).toBe(404);
    for (const path of ['/user/starred/ada/open', '/user/starred/ADA/Open']) {
      expect((await eve.call('PUT', path)).status).toBe(204);
    }
    expect((await eve.call('GET', '/user/starred/ada/open')).status).toBe(204);
    expect((await eve.call('GET', '/repos/ada/open')).body).toMatchObject({ stars_count: 1 });
    expect((await eve.call('GET', '/user')).body).toMatchObject({ starred_repos_count: 1 });
    expect((await ada.call('GET', '/repos/ada/open/stargazers')).items).toMatchObject([{ login: 'eve' }]);
    expect(names((await eve.call('GET', '/user/starred')).items)).toEqual(['open']);
    expect(names((await ada.call('GET', '/users/eve/starred')).items)).toEqual(['open']);
    for (let times = 0; times < 2; times++)
      expect((await eve.call('DELETE', '/user/starred/ada/open')).status).toBe(204);
    expect(await counters('open')).toEqual({ stars: 0, watchers: 0 });
    expect((await eve.call('GET', '/user')).body).toMatchObject({ starred_repos_count: 0 });
  });

  it('of what one may not see cannot be given, and are seen by those who may', async () => {
    for (const [method, path] of [
      ['PUT', '/user/starred/ada/closed'],
      ['GET', '/user/starred/ada/closed'],
      ['DELETE', '/user/starred/ada/closed'],
      ['GET', '/repos/ada/closed/stargazers'],
      ['PUT', '/user/starred/ada/nothing'],
    ] as const) {
      expect((await eve.call(method, path)).status).toBe(404);
    }
    expect(await counters('closed')).toEqual({ stars: 0, watchers: 0 });
    await ada.call('PUT', '/user/starred/ada/closed');
    expect(names((await ada.call('GET', '/user/starred')).items)).toEqual(['closed']);
    const seen = await eve.call('GET', '/users/ada/starred');
    expect([seen.items, seen.headers.get('x-total-count')]).toEqual([[], '0']);
    const { body } = await ada.call('POST', '/users/ada/tokens', { name: 'p', scopes: ['public-only'] });
    const limited = personWith('ada', body.sha1, () => scene.address);
    expect((await limited.call('GET', '/user/starred')).items).toEqual([]);
    expect((await limited.call('PUT', '/user/starred/ada/closed')).status).toBe(404);
  });

  it('are counted right when many come and go at once', async () => {
    await Promise.all(
      fans.flatMap((fan) => [
        fan.call('PUT', '/user/starred/ada/busy'),
        fan.call('PUT', '/user/starred/ada/busy'),
        fan.call('PUT', '/repos/ada/busy/subscription'),
        fan.call('PUT', '/repos/ada/busy/subscription'),
      ]),
    );
    expect(await counters('busy')).toEqual({ stars: fans.length, watchers: fans.length });
    const half = fans.slice(0, 6);
    await Promise.all(
      half.flatMap((fan) => [
        fan.call('DELETE', '/user/starred/ada/busy'),
        fan.call('DELETE', '/user/starred/ada/busy'),
        fan.call('DELETE', '/repos/ada/busy/subscription'),
      ]),
    );
    expect(await counters('busy')).toEqual({ stars: 6, watchers: 6 });
    const listed = await ada.call('GET', '/repos/ada/busy/stargazers?limit=4&page=2');
    expect(listed.items).toHaveLength(2);
    expect(listed.headers.get('x-total-count')).toBe('6');
    expect(listed.headers.get('link')).toContain('rel="prev"');
  });

  it('go with a repository', async () => {
    await ada.call('POST', '/user/repos', { name: 'short-lived' });
    await eve.call('PUT', '/user/starred/ada/short-lived');
    await eve.call('PUT', '/repos/ada/short-lived/subscription');
    expect((await ada.call('DELETE', '/repos/ada/short-lived')).status).toBe(204);
    expect((await eve.call('GET', '/user/starred')).items).toEqual([]);
    expect((await eve.call('GET', '/user')).body).toMatchObject({ starred_repos_count: 0 });
  });
});

describe('watches', () => {
  it('are chosen, shown, listed and given up', async () => {
    expect((await eve.call('GET', '/repos/ada/open/subscription')).status).toBe(404);
    const made = await eve.call('PUT', '/repos/ada/open/subscription');
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      subscribed: true,
      ignored: false,
      reason: null,
      url: `${scene.address}/api/v1/repos/ada/open/subscription`,
      repository_url: `${scene.address}/api/v1/repos/ada/open`,
    });
    expect((await eve.call('GET', '/repos/ada/open/subscription')).body).toEqual(made.body);
    expect((await ada.call('GET', '/repos/ada/open/subscribers')).items).toMatchObject([{ login: 'eve' }]);
    expect(names((await eve.call('GET', '/user/subscriptions')).items)).toEqual(['open']);
    expect(names((await ada.call('GET', '/users/eve/subscriptions')).items)).toEqual(['open']);
    expect((await eve.call('DELETE', '/repos/ada/open/subscription')).status).toBe(204);
    expect(await counters('open')).toEqual({ stars: 0, watchers: 0 });
    expect((await eve.call('GET', '/user/subscriptions')).headers.get('x-total-count')).toBe('0');
  });

  it('of somebody who ignored a repository count when he watches it after all', async () => {
    await scene.sql.run`
      insert into :schema.watches (repository_id, user_id, ignored, created_at)
      select r.id, u.id, true, now() from :schema.repositories r, :schema.users u
      where r.name = 'open' and u.login = 'eve'`;
    expect((await eve.call('GET', '/repos/ada/open/subscription')).body).toMatchObject({
      subscribed: false,
      ignored: true,
    });
    expect((await ada.call('GET', '/repos/ada/open/subscribers')).items).toEqual([]);
    expect(await counters('open')).toEqual({ stars: 0, watchers: 0 });
    expect((await eve.call('PUT', '/repos/ada/open/subscription')).body).toMatchObject({ subscribed: true });
    expect(await counters('open')).toEqual({ stars: 0, watchers: 1 });
  });

  it('of what one may not see are none, also for whoever could see it before', async () => {
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await eve.call(method, '/repos/ada/closed/subscription')).status).toBe(404);
    expect((await eve.call('GET', '/repos/ada/closed/subscribers')).status).toBe(404);
    await scene.sql.run`
      insert into :schema.watches (repository_id, user_id, created_at)
      select r.id, u.id, now() from :schema.repositories r, :schema.users u
      where r.name = 'closed' and u.login = 'eve'`;
    const listed = await eve.call('GET', '/user/subscriptions');
    expect([names(listed.items), listed.headers.get('x-total-count')]).toEqual([['open'], '1']);
  });
});
