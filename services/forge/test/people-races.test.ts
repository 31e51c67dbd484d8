import { beforeAll, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let team: string;
beforeAll(async () => {
  ada = scene.person('ada');
  await ada.call('POST', '/orgs', { username: 'acme' });
  const crew = { name: 'crew', permission: 'admin' };
  team = `/teams/${(await ada.call('POST', '/orgs/acme/teams', crew)).body.id}`;
});

it.each([
  ['an organization', () => '/orgs/acme', { visibility: 'public' }, { visibility: 'private' }],
  ['a team', () => team, { permission: 'admin' }, { permission: 'read' }],
  ['somebody’s settings', () => '/user/settings', { hide_email: false }, { hide_email: true }],
])('edits of %s at once keep what the other one changed', async (_what, path, open, closed) => {
  for (let round = 0; round < 10; round++) {
    expect((await ada.call('PATCH', path(), open)).status).toBe(200);
    const description = `round ${round}`;
    const edits = [closed, { description }].map((edit) => ada.call('PATCH', path(), edit));
    expect((await Promise.all(edits)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await ada.call('GET', path())).body).toMatchObject({ ...closed, description });
  }
});

it('one fork of a repository is made for one owner, whatever it is to be called', async () => {
  const bob = scene.person('bob');
  await ada.call('POST', '/user/repos', { name: 'source', auto_init: true });
  const names = ['one', 'two', 'three'];
  const replies = await Promise.all(
    names.map((name) => bob.call('POST', '/repos/ada/source/forks', { name })),
  );
  expect(replies.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
  expect((await bob.call('GET', '/user/repos')).items).toHaveLength(1);
  expect((await ada.call('GET', '/repos/ada/source')).body['forks_count']).toBe(1);
});
