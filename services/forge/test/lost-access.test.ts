import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let eve: Person;
let crew = '/teams/0';
const at = '/repos/acme/vault';
const logins = (items: unknown) => (items as { login: string }[]).map(({ login }) => login);

/** Who is assigned to the issue, and who watches the repository besides its owner. */
const involved = async (path = at) => [
  logins((await ada.call('GET', `${path}/issues/1`)).body['assignees']),
  logins((await ada.call('GET', `${path}/subscribers`)).items).filter((login) => login !== 'ada'),
];
async function done(person: Person, method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await person.call(method, path, body);
  expect([method, path, status < 300, text]).toEqual([method, path, true, text]);
}
/** Both are assigned to an issue and watch the repository. */
async function involve(path: string): Promise<void> {
  const assignees = ['bob', 'eve'];
  await done(ada, 'POST', `${path}/issues`, { title: 'x', assignees });
  for (const person of [bob, eve]) await done(person, 'PUT', `${path}/subscription`);
  expect(await involved(path)).toEqual([assignees, assignees]);
}

beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  eve = scene.person('eve');
  for (const person of [ada, bob, eve]) await person.call('GET', '/user');
  await done(ada, 'POST', '/orgs', { username: 'acme' });
});

beforeEach(async () => {
  await ada.call('DELETE', at);
  await done(ada, 'POST', '/orgs/acme/repos', { name: 'vault', private: true });
  const units = ['repo.code', 'repo.issues'];
  await ada.call('DELETE', crew);
  const wish = { name: 'crew', permission: 'write', units };
  crew = `/teams/${(await ada.call('POST', '/orgs/acme/teams', wish)).body.id}`;
  await done(ada, 'PUT', `${crew}/repos/acme/vault`);
  await done(ada, 'PUT', `${crew}/members/bob`);
  await done(ada, 'PUT', `${at}/collaborators/eve`, { permission: 'write' });
  await involve(at);
});

const left = [['eve'], ['eve']];
it.each([
  ['leaves a team', () => done(bob, 'DELETE', `${crew}/members/bob`), left],
  ['leaves the organization', () => done(ada, 'DELETE', '/orgs/acme/members/bob'), left],
  ['is in a team that goes', () => done(ada, 'DELETE', crew), left],
  [
    'is in a team that the repository is taken from',
    () => done(ada, 'DELETE', `${crew}/repos/acme/vault`),
    left,
  ],
  ['is in a team that loses it', () => done(ada, 'DELETE', `${at}/teams/crew`), left],
  ['is in a team that gives nothing', () => done(ada, 'PATCH', crew, { permission: 'none' }), left],
  ['is no collaborator any more', () => done(ada, 'DELETE', `${at}/collaborators/eve`), [['bob'], ['bob']]],
])('whoever %s is neither assigned nor watches what he cannot see', async (_what, lose, expected) => {
  await lose();
  expect(await involved()).toEqual(expected);
});

it('whoever reaches it in another way stays', async () => {
  await done(ada, 'PUT', `${at}/collaborators/bob`, { permission: 'read' });
  const before = await involved();
  await done(ada, 'DELETE', `${crew}/members/bob`);
  expect(await involved()).toEqual(before);
});

it('a repository that becomes private is watched by those who may read it', async () => {
  const path = '/repos/ada/open';
  await done(ada, 'POST', '/user/repos', { name: 'open' });
  for (const login of ['bob', 'eve'])
    await done(ada, 'PUT', `${path}/collaborators/${login}`, { permission: 'write' });
  await involve(path);
  await done(ada, 'DELETE', `${path}/collaborators/bob`);
  expect(await involved(path)).toEqual([
    ['bob', 'eve'],
    ['bob', 'eve'],
  ]);
  // What is sent back as it was read is not refused, and others are.
  await done(ada, 'PATCH', `${path}/issues/1`, { assignees: ['eve', 'bob'] });
  await done(ada, 'POST', `${path}/issues/1/assignees`, { assignees: ['bob'] });
  const other = { assignees: ['bob', 'eve', 'stranger'] };
  await scene.person('stranger').call('GET', '/user');
  expect((await ada.call('PATCH', `${path}/issues/1`, other)).status).toBe(422);
  expect((await ada.call('POST', `${path}/issues`, { title: 'y', assignees: ['bob'] })).status).toBe(422);
  expect((await involved(path))[0]).toEqual(['eve', 'bob']);
  await done(ada, 'PATCH', path, { private: true });
  expect(await involved(path)).toEqual([['eve'], ['eve']]);
});

it('an organization that hides takes what it has out of sight of others', async () => {
  await done(ada, 'PATCH', at, { private: false });
  await done(ada, 'DELETE', `${at}/collaborators/eve`);
  await done(ada, 'PATCH', '/orgs/acme', { visibility: 'private' });
  expect(await involved()).toEqual([['bob'], ['bob']]);
  await done(ada, 'PATCH', '/orgs/acme', { visibility: 'public' });
});

it('a repository that gets another owner is left by the teams of the old one', async () => {
  await done(ada, 'POST', '/orgs', { username: 'other' });
  await done(ada, 'POST', `${at}/transfer`, { new_owner: 'other' });
  expect(await involved('/repos/other/vault')).toEqual(left);
  await done(ada, 'DELETE', '/repos/other/vault');
});
