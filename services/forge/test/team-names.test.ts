import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let eve: Person;
const at = '/repos/acme/open';

beforeAll(async () => {
  ada = scene.person('ada');
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
