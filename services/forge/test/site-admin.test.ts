import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
let boss: Person;
let ada: Person;
let eve: Person;

beforeAll(async () => {
  boss = scene.person('boss', { role: 'service_role' });
  ada = scene.person('ada', { user_metadata: { user_name: 'ada', full_name: 'Ada Lovelace' } });
  eve = scene.person('eve');
  for (const person of [boss, ada, eve]) await person.call('GET', '/user');
});
const logins = (items: readonly object[]) => items.map((one) => (one as { login: string }).login);
const people = async () => (await boss.call('GET', '/admin/users')).headers.get('x-total-count');

describe('the administration', () => {
  it('is for site administrators', async () => {
    const before = await people();
    for (const [method, path] of [
      ['GET', '/admin/users'],
      ['GET', '/admin/orgs'],
      ['POST', '/admin/users/eve/orgs'],
      ['DELETE', '/admin/users/eve'],
    ] as const) {
      const { status, body } = await ada.call(
        method,
        path,
        method === 'GET' ? undefined : { username: 'mine' },
      );
      expect([path, status, body.message]).toEqual([path, 403, 'user should be the site admin']);
    }
    expect(await people()).toBe(before);
  });

  it('lists people and organizations, private ones too', async () => {
    await eve.call('POST', '/orgs', { username: 'secret', visibility: 'private' });
    expect(logins((await boss.call('GET', '/admin/users')).items)).toEqual(['ada', 'boss', 'eve']);
    expect((await boss.call('GET', '/admin/users?limit=2&page=2')).items).toHaveLength(1);
    expect((await boss.call('GET', '/admin/orgs')).items).toMatchObject([{ name: 'secret' }]);
    expect((await ada.call('GET', '/orgs')).items).toEqual([]);
  });

  it('makes an organization for somebody', async () => {
    expect((await boss.call('POST', '/admin/users/ada/orgs', { username: 'hers' })).status).toBe(201);
    expect(logins((await ada.call('GET', '/orgs/hers/members')).items)).toEqual(['ada']);
    for (const [who, status] of [
      ['hers', 404],
      ['nobody-here', 404],
    ] as const)
      expect((await boss.call('POST', `/admin/users/${who}/orgs`, { username: 'other' })).status).toBe(
        status,
      );
    expect((await boss.call('POST', '/admin/users/ada/orgs', { username: 'hers' })).status).toBe(422);
  });
});

describe('somebody who is removed', () => {
  it('stays while he owns repositories, or is the last owner of an organization', async () => {
    const lin = scene.person('lin');
    await lin.call('POST', '/user/repos', { name: 'r' });
    const refused = async (message: string) => {
      const before = await people();
      const answer = await boss.call('DELETE', '/admin/users/lin');
      expect([answer.status, answer.body.message]).toEqual([422, message]);
      expect(await people()).toBe(before);
    };
    await refused('user still has ownership of repositories [name: lin]');
    await lin.call('DELETE', '/repos/lin/r');
    await lin.call('POST', '/orgs', { username: 'lins' });
    await refused('user is the last owner of an organization [name: lins]');
    await lin.call('DELETE', '/orgs/lins');
    expect((await boss.call('DELETE', '/admin/users/lin')).status).toBe(204);
    expect((await boss.call('GET', '/users/lin')).status).toBe(404);
    expect((await boss.call('DELETE', '/admin/users/lin')).status).toBe(404);
    expect((await boss.call('DELETE', '/admin/users/boss')).status).toBe(422);
    expect((await boss.call('DELETE', '/admin/users/hers')).status).toBe(404);
  });

  it('leaves a ghost in what he wrote, and right counters', async () => {
    const max = scene.person('max');
    await ada.call('POST', '/user/repos', { name: 'talk' });
    const { body } = await max.call('POST', '/repos/ada/talk/issues', { title: 'Left behind' });
    await max.call('PUT', '/user/starred/ada/talk');
    await max.call('PUT', '/repos/ada/talk/subscription');
    const token = (await max.call('POST', '/users/max/tokens', { name: 't' })).body.sha1;
    expect((await boss.call('DELETE', '/admin/users/max')).status).toBe(204);
    expect((await ada.call('GET', `/repos/ada/talk/issues/${body.number}`)).body).toMatchObject({
      title: 'Left behind',
      user: { id: -1, login: 'Ghost' },
    });
    expect((await ada.call('GET', '/repos/ada/talk')).body).toMatchObject({ stars_count: 0 });
    const row = await scene.sql.row`select stars, watchers from :schema.repositories where name = 'talk'`;
    expect(row).toMatchObject({ stars: 0 });
    const used = await fetch(`${scene.address}/api/v1/user`, {
      headers: { authorization: `token ${token}` },
    });
    expect(used.status).toBe(401);
  });

  it('two last owners who are removed at once: one stays', async () => {
    for (let round = 0; round < 4; round++) {
      const [first, other] = [scene.person(`first-${round}`), scene.person(`other-${round}`)];
      await other.call('GET', '/user');
      await first.call('POST', '/orgs', { username: `pair-${round}` });
      const id = (await first.call('GET', `/orgs/pair-${round}/teams`)).items[0]?.id;
      await first.call('PUT', `/teams/${id}/members/other-${round}`);
      const answers = await Promise.all([
        boss.call('DELETE', `/admin/users/first-${round}`),
        boss.call('DELETE', `/admin/users/other-${round}`),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 422]);
    }
  });
});

describe('accounts', () => {
  it('are found by a part of a name, but not by their addresses', async () => {
    const search = async (q: string) => {
      const { body } = await eve.call('GET', `/users/search?q=${q}`);
      expect(body['ok']).toBe(true);
      return logins(body['data'] as object[]);
    };
    expect(await search('AD')).toEqual(['ada']);
    expect(await search('lovelace')).toEqual(['ada']);
    expect(await search('example.test')).toEqual([]);
    expect(await search('%25')).toEqual([]);
    expect(await search('hers')).toEqual([]);
    expect((await eve.call('GET', '/users/search?limit=1')).body['data']).toHaveLength(1);
    const { id } = (await eve.call('GET', '/users/ada')).body;
    expect(await search(`&uid=${id}`)).toEqual(['ada']);
    expect(await search(`ad&uid=${id}`)).toEqual(['ada']);
    expect(await search(`eve&uid=${id}`)).toEqual([]);
    expect(await search('ad&uid=x')).toEqual(['ada']);
    expect(await search('&uid=987654321')).toEqual([]);
  });

  it('have settings, which the auth service does not take back', async () => {
    const changed = await ada.call('PATCH', '/user/settings', {
      full_name: 'Countess',
      description: 'Numbers',
      website: 'https://ada.test',
      location: 'London',
    });
    expect(changed.body).toMatchObject({ full_name: 'Countess', location: 'London', hide_email: false });
    expect((await ada.call('GET', '/user/settings')).body).toEqual(changed.body);
    expect((await eve.call('GET', '/users/ada')).body).toMatchObject({
      full_name: 'Countess',
      description: 'Numbers',
      website: 'https://ada.test',
      location: 'London',
      email: 'ada@example.test',
    });
    expect((await eve.call('GET', '/user/settings')).body).toMatchObject({ full_name: '' });
    expect((await eve.call('PATCH', '/user/settings', {})).body).toMatchObject({ full_name: '' });
  });

  it.each([
    { website: 'javascript:alert(1)' },
    { location: 'x'.repeat(51) },
    { full_name: 'x'.repeat(101) },
    { description: 1 },
    { hide_email: 'yes' },
  ])('refuse settings that make no sense: %j', async (body) => {
    const before = (await eve.call('GET', '/user/settings')).body;
    expect((await eve.call('PATCH', '/user/settings', body)).status).toBe(422);
    expect((await eve.call('GET', '/user/settings')).body).toEqual(before);
  });

  it('show their address to others unless it is hidden', async () => {
    await eve.call('PATCH', '/user/settings', { hide_email: true });
    expect((await ada.call('GET', '/users/eve')).body).toMatchObject({ email: 'eve@noreply.127.0.0.1' });
    expect((await eve.call('GET', '/user')).body).toMatchObject({ email: 'eve@example.test' });
    expect((await boss.call('GET', '/users/eve')).body).toMatchObject({ email: 'eve@example.test' });
    expect((await eve.call('GET', '/user/emails')).items).toMatchObject([
      { email: 'eve@example.test', verified: true, primary: true, username: 'eve' },
    ]);
  });
});

describe('a person with another name', () => {
  let maria: Person;
  const rename = (who: Person, from: string, to: unknown) =>
    who.call('POST', `/admin/users/${from}/rename`, { new_username: to });
  const where = async (path: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${eve.token}` };
    const { status, headers: answered } = await fetch(`${scene.address}${path}`, {
      method,
      headers,
      redirect: 'manual',
    });
    return [status, answered.get('location')?.replace(scene.address, '')];
  };
  beforeAll(async () => {
    maria = scene.person('maria');
    await maria.call('POST', '/user/repos', { name: 'notes', auto_init: true });
  });

  it('is found under the old one, in paths of the API and of git', async () => {
    expect((await rename(boss, 'maria', 'Mary')).status).toBe(204);
    expect((await maria.call('GET', '/user')).body).toMatchObject({ login: 'Mary' });
    expect((await maria.call('GET', '/repos/mary/notes')).body).toMatchObject({ full_name: 'Mary/notes' });
    expect(await where('/api/v1/users/maria')).toEqual([307, '/api/v1/users/Mary']);
    expect(await where('/api/v1/users/Maria/starred?page=1')).toEqual([
      307,
      '/api/v1/users/Mary/starred?page=1',
    ]);
    expect(await where('/api/v1/users/maria/repos')).toEqual([307, '/api/v1/users/Mary/repos']);
    expect(await where('/api/v1/repos/maria/notes/issues')).toEqual([307, '/api/v1/repos/Mary/notes/issues']);
    const refs = '/info/refs?service=git-upload-pack';
    expect(await where(`/maria/notes.git${refs}`)).toEqual([307, `/Mary/notes.git${refs}`]);
  });

  it('leaves the old one to whoever takes it, and comes back to it', async () => {
    expect((await rename(boss, 'eve', 'maria')).status).toBe(204);
    expect((await boss.call('GET', '/users/maria')).body).toMatchObject({
      login: 'maria',
      id: expect.any(Number),
    });
    expect((await eve.call('GET', '/user')).body).toMatchObject({ login: 'maria' });
    expect((await rename(boss, 'maria', 'eve')).status).toBe(204);
    expect((await rename(boss, 'mary', 'MARY')).status).toBe(204);
    expect((await boss.call('GET', '/users/mary')).body).toMatchObject({ login: 'MARY' });
  });

  it('is refused what nobody can have or somebody has, and to others', async () => {
    await ada.call('POST', '/orgs', { username: 'works' });
    const rows = () => scene.sql.rows`
      select login from :schema.users union all select login_key from :schema.former_logins order by 1`;
    const before = await rows();
    for (const [who, from, to, status] of [
      [boss, 'mary', 'Ada', 422],
      [boss, 'mary', 'works', 422],
      [boss, 'mary', 'admin', 422],
      [boss, 'mary', 'a b', 422],
      [boss, 'mary', '', 422],
      [boss, 'works', 'factory', 404],
      [boss, 'nobody-here', 'somebody', 404],
      [ada, 'ada', 'countess', 403],
    ] as const)
      expect([to, (await rename(who, from, to)).status]).toEqual([to, status]);
    expect(await rows()).toEqual(before);
  });
});
