import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let bug: number;
let docs: number;
let milestone: number;
let foreign: number;
const path = '/repos/ada/work/pulls';
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  await bob.call('GET', '/user');
  await pushedRepository(ada, 'work', scene.folder);
  await ada.call('POST', '/user/repos', { name: 'other' });
  const label = async (repo: string, name: string) =>
    (await ada.call('POST', `/repos/ada/${repo}/labels`, { name, color: 'fff' })).body.id;
  [bug, docs, foreign] = [
    await label('work', 'bug'),
    await label('work', 'docs'),
    await label('other', 'bug'),
  ];
  milestone = (await ada.call('POST', '/repos/ada/work/milestones', { title: 'v1' })).body.id;
});

let branches = 0;
async function open(fields: object, who = ada) {
  const head = `topic-${branches++}`;
  await pushBranch(join(scene.folder, 'work'), head, { [head]: '1' });
  return await who.call('POST', path, { head, base: 'main', title: head, ...fields });
}
const stored = () => rowsOf(scene, 'issues', 'issue_labels', 'comments');

it('labels, milestone and deadline of a new pull request count for every creator; foreign labels are dropped', async () => {
  const made = await open({ labels: [bug, foreign, 999], milestone, due_date: '2026-03-01T00:00:00Z' }, bob);
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    labels: [{ id: bug, name: 'bug' }],
    milestone: { id: milestone, open_issues: 1 },
    due_date: '2026-03-01T23:59:59Z',
    content_version: 0,
  });
  const { items } = await ada.call('GET', `/repos/ada/work/issues/${made.body.number}/timeline`);
  expect(items).toMatchObject([
    { type: 'milestone', milestone: { id: milestone }, user: { login: 'bob' } },
    { type: 'label', label: { id: bug }, body: '1', user: { login: 'bob' } },
    { type: 'pull_push', user: { login: 'bob' } },
  ]);
});

it('labels of an edit replace the labels, for writers; the milestone 0 leaves it', async () => {
  const { number } = (await open({ labels: [bug], milestone }, bob)).body;
  const edit = async (fields: object, who = ada) =>
    (await who.call('PATCH', `${path}/${number}`, fields)).body;
  expect(await edit({ labels: [docs], milestone: 0 })).toMatchObject({
    labels: [{ name: 'docs' }],
    milestone: { id: milestone },
  });
  expect(await edit({ labels: [], milestone: 0, due_date: '2026-03-01T00:00:00Z' }, bob)).toMatchObject({
    labels: [{ name: 'docs' }],
    due_date: null,
  });
  expect(await edit({ labels: [] })).toMatchObject({ labels: [] });
  const before = await stored();
  const refused = await ada.call('PATCH', `${path}/${number}`, { labels: [bug], milestone: 999 });
  expect([refused.status, refused.body.message]).toEqual([404, 'milestone does not exist [id: 999]']);
  const stale = await ada.call('PATCH', `${path}/${number}`, { labels: [bug], content_version: 7 });
  expect(stale.status).toBe(409);
  expect(await stored()).toEqual(before);
});

it('the list filters by labels, any of them, by milestone, poster and base', async () => {
  const titles = async (query: string) => {
    const { items, headers } = await ada.call('GET', `${path}${query}`);
    expect(headers.get('x-total-count')).toBe(String(items.length));
    return items.map(({ title }) => title);
  };
  const made = await open({ labels: [bug, docs] });
  const all = await titles('');
  expect(await titles(`?labels=${docs}`)).toEqual([made.body.title]);
  expect(await titles(`?labels=${docs}&labels=${bug}`)).toEqual([made.body.title, all.at(-1)]);
  expect(await titles(`?labels=${docs}%2C${bug}`)).toEqual([made.body.title, all.at(-1)]);
  expect(await titles(`?milestone=${milestone}`)).toHaveLength(2);
  expect(await titles('?milestone=999')).toEqual([]);
  expect(await titles('?poster=ada')).toEqual([made.body.title]);
  expect(await titles('?base_branch=nowhere')).toEqual([]);
  expect((await ada.call('GET', `${path}?labels=bug`)).status).toBe(422);
  expect((await ada.call('GET', `${path}?poster=nobody`)).status).toBe(400);
  // An organization that one may not know of is nobody, too.
  const eve = scene.person('eve');
  await eve.call('POST', '/orgs', { username: 'lodge', visibility: 'private' });
  expect((await eve.call('GET', `${path}?poster=lodge`)).status).toBe(200);
  expect((await ada.call('GET', `${path}?poster=lodge`)).status).toBe(400);
});

it('deleting a pull request as an issue takes both halves', async () => {
  const { number } = (await open({})).body;
  expect((await bob.call('DELETE', `/repos/ada/work/issues/${number}`)).status).toBe(403);
  expect((await ada.call('DELETE', `/repos/ada/work/issues/${number}`)).status).toBe(204);
  expect((await ada.call('GET', `${path}/${number}`)).status).toBe(404);
});
