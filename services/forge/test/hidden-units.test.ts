import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
const UNITS = ['code', 'issues', 'pulls'] as const;
let owner: Person;
const members = {} as Record<(typeof UNITS)[number], Person>;

/** What the repository holds, as somebody who may read all of it sees it. */
const ALL = {
  open_issues_count: 2,
  open_pr_counter: 1,
  branch_count: 2,
  size: 3,
  language: 'Go',
  licenses: ['MIT'],
};
const NOTHING = {
  open_issues_count: 0,
  open_pr_counter: 0,
  branch_count: 0,
  size: 0,
  language: '',
  licenses: [],
};
/** What is seen of each unit. */
const OF = {
  code: { branch_count: 2, size: 3, language: 'Go', licenses: ['MIT'] },
  issues: { open_issues_count: 2 },
  pulls: { open_pr_counter: 1 },
};

beforeAll(async () => {
  owner = scene.person('owner');
  await owner.call('GET', '/user');
  await owner.call('POST', '/orgs', { username: 'acme' });
  await owner.call('POST', '/orgs/acme/repos', { name: 'tool', private: true, auto_init: true });
  await owner.call('POST', '/repos/acme/tool/branches', { new_branch_name: 'topic' });
  const file = { content: Buffer.from('text\n').toString('base64'), branch: 'topic', message: 'a file' };
  await owner.call('POST', '/repos/acme/tool/contents/a.txt', file);
  for (const title of ['one', 'two']) await owner.call('POST', '/repos/acme/tool/issues', { title });
  const pull = { title: 'a change', head: 'topic', base: 'main' };
  await owner.call('POST', '/repos/acme/tool/pulls', pull);
  await scene.sql.run`
    update :schema.repositories set size_bytes = 3000, language = 'Go', licenses = '{MIT}' where name = 'tool'`;
  for (const unit of UNITS) {
    members[unit] = scene.person(`${unit}-reader`);
    await members[unit].call('GET', '/user');
    const wish = { name: `of-${unit}`, permission: 'read', units: [`repo.${unit}`] };
    const { body: team } = await owner.call('POST', '/orgs/acme/teams', wish);
    await owner.call('PUT', `/teams/${team.id}/members/${unit}-reader`);
    await owner.call('PUT', `/teams/${team.id}/repos/acme/tool`);
  }
});

/** The repository in every answer that has it. */
async function shown(person: Person): Promise<object[]> {
  const lists = ['/user/repos', '/orgs/acme/repos'].map(
    async (path) => (await person.call('GET', path)).items,
  );
  const found = (await person.call('GET', '/repos/search?q=tool')).body['data'] as object[];
  const all = [
    (await person.call('GET', '/repos/acme/tool')).body,
    ...found,
    ...(await Promise.all(lists)).flat(),
  ];
  expect(all).toHaveLength(4);
  return all;
}

describe('counts of a repository', () => {
  it('are whole for who may read all of it', async () => {
    for (const json of await shown(owner)) expect(json).toMatchObject(ALL);
  });

  it.each(UNITS)('tell a member of a team for %s nothing of the other units', async (unit) => {
    for (const json of await shown(members[unit])) expect(json).toMatchObject({ ...NOTHING, ...OF[unit] });
  });

  it('of a unit that is off are none, and are back when it is on again', async () => {
    const path = '/repos/acme/tool';
    expect((await owner.call('PATCH', path, { has_pull_requests: false })).body).toMatchObject({
      ...ALL,
      open_pr_counter: 0,
    });
    expect((await owner.call('PATCH', path, { has_pull_requests: true })).body).toMatchObject(ALL);
  });
});
