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
