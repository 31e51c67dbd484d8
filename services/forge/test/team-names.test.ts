import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from './forge.ts';
import { useHookedForge } from './hooked-forge.ts';

const { scene, receiver, person } = await useHookedForge();
let ada: Person;
let bob: Person;
let eve: Person;
const at = '/repos/acme/open';

beforeAll(async () => {
  ada = person();
  bob = scene.person('bob');
  eve = scene.person('eve');
  for (const person of [ada, bob, eve]) await person.call('GET', '/user');
  await ada.call('POST', '/orgs', { username: 'acme' });
  await ada.call('POST', '/orgs/acme/repos', { name: 'open', auto_init: true });
  const crew = {
    name: 'crew',
    permission: 'write',
    units: ['repo.code', 'repo.issues', 'repo.pulls'],
    includes_all_repositories: true,
  };
  const { id } = (await ada.call('POST', '/orgs/acme/teams', crew)).body;
  await ada.call('PUT', `/teams/${id}/members/bob`);
  const file = { content: 'eA==', message: 'x', new_branch: 'topic' };
  await ada.call('POST', `${at}/contents/x`, file);
  const pull = { head: 'topic', base: 'main', title: 'x', team_reviewers: ['crew'] };
  await ada.call('POST', `${at}/pulls`, pull);
});

describe('a team of an organization whose repository everybody may read', () => {
  it('is told to members, and to nobody else', async () => {
    const team = { name: 'crew' };
    for (const [who, sees] of [
      [ada, true],
      [bob, true],
      [eve, false],
    ] as const) {
      const told = async (path: string) => (await who.call('GET', `${at}${path}`)).items;
      expect((await told('/teams')).map((one) => one['name'])).toEqual(sees ? ['Owners', 'crew'] : []);
      expect((await who.call('GET', `${at}/teams/crew`)).status).toBe(sees ? 200 : 404);
      expect(await told('/pulls')).toMatchObject([{ requested_reviewers_teams: sees ? [team] : [] }]);
      const pull = (await who.call('GET', `${at}/pulls/1`)).body;
      expect(pull['requested_reviewers_teams']).toMatchObject(sees ? [team] : []);
      const reviews = await told('/pulls/1/reviews');
      expect(reviews).toMatchObject([{ state: 'REQUEST_REVIEW', team: sees ? team : null }]);
      const one = (await who.call('GET', `${at}/pulls/1/reviews/${reviews[0]?.id}`)).body;
      expect(one['team']).toEqual(reviews[0]?.['team']);
      expect(await told('/issues/1/timeline')).toMatchObject([
        { type: 'pull_push' },
        { type: 'review_request', assignee_team: sees ? team : null },
      ]);
    }
  });

  it('cannot be asked for a review by others, who do not learn that it is there', async () => {
    await ada.call('PUT', `${at}/collaborators/eve`, { permission: 'write' });
    const requests = () => scene.sql.rows`select * from :schema.review_requests order by id`;
    const before = await requests();
    const ask = (name: string) =>
      eve.call('DELETE', `${at}/pulls/1/requested_reviewers`, { team_reviewers: [name] });
    const [known, unknown] = [await ask('crew'), await ask('none')];
    expect([known.status, known.text.replaceAll('crew', 'none')]).toEqual([404, unknown.text]);
    expect(await requests()).toEqual(before);
  });
});

it('attack: a private team is learned of from a hook, when a pull request changes and when it is deleted', async () => {
  const hush = { name: 'hush', visibility: 'private', units: ['repo.code', 'repo.pulls'] };
  const made = await ada.call('POST', '/orgs/acme/teams', { ...hush, includes_all_repositories: true });
  expect(made.status).toBe(201);
  const asked = { team_reviewers: ['hush'] };
  expect((await ada.call('POST', `${at}/pulls/1/requested_reviewers`, asked)).status).toBe(201);
  await ada.call('PUT', `${at}/collaborators/eve`, { permission: 'admin' });
  const config = { url: receiver.url, content_type: 'json' };
  const hook = { type: 'gitea', config, events: ['pull_request'], active: true };
  expect((await eve.call('POST', `${at}/hooks`, hook)).status).toBe(201);
  await ada.call('PATCH', `${at}/pulls/1`, { title: 'y' });
  await receiver.take('pull_request');
  // What is read before it goes is read by the owner, who knows of all teams.
  expect((await ada.call('GET', `${at}/pulls/1`)).body['requested_reviewers_teams']).toHaveLength(2);
  expect((await ada.call('DELETE', `${at}/issues/1`)).status).toBe(204);
  const payloads = await receiver.take('pull_request', 2);
  const told = payloads.map(({ action, pull_request: pull }) => {
    const { requested_reviewers_teams: teams } = pull as { requested_reviewers_teams: { name: string }[] };
    return [action, teams.map(({ name }) => name)];
  });
  expect(told).toEqual([
    ['edited', ['crew']],
    ['deleted', ['crew']],
  ]);
});
