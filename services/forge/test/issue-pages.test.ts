import { beforeAll, expect, it } from 'vitest';
import { type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

// What lists tell of an issue or pull request is what it tells of itself: lists look up for a whole page what stands around
// its issues, and a single one looks for itself.

const scene = useForge();
const at = '/repos/ada/work';
let ada: Person;
let bob: Person;

async function done(who: Person, method: string, path: string, body?: unknown) {
  const answer = await who.call(method, path, body);
  expect([200, 201, 204], `${method} ${path}: ${answer.text}`).toContain(answer.status);
  return answer.body;
}

async function attach(number: number, name: string): Promise<void> {
  const form = new FormData();
  form.append('attachment', new Blob([name]), name);
  const headers = { authorization: `Bearer ${ada.token}` };
  const path = `${scene.address}/api/v1${at}/issues/${number}/assets`;
  expect((await fetch(path, { method: 'POST', body: form, headers })).status).toBe(201);
}

beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
  const tree = await pushedRepository(ada, 'work', scene.folder);
  await done(ada, 'PUT', `${at}/collaborators/bob`, { permission: 'write' });
  const labels: number[] = [];
  for (const name of ['beta', 'Alpha', 'GAMMA', 'alpha'])
    labels.push((await done(ada, 'POST', `${at}/labels`, { name, color: '00ff00', description: name })).id);
  const milestone = (await done(ada, 'POST', `${at}/milestones`, { title: 'one' })).id;
  const issue = async (title: string, fields: object = {}, who = ada) =>
    (await done(who, 'POST', `${at}/issues`, { title, ...fields })).number;
  const one = await issue('One', { labels, assignees: ['ada', 'bob'], due_date: '2026-01-31T00:00:00Z' });
  const other = await issue('Other', { labels: [...labels].reverse(), assignees: ['bob', 'ada'], milestone });
  await issue('Bare', {}, bob);
  await issue('Closed', { closed: true, milestone });
  for (const number of [one, other, one]) await attach(number, `${number}.txt`);
  await done(bob, 'POST', `${at}/issues/${one}/comments`, { body: 'said' });
  for (const branch of ['open', 'merged', 'shut']) {
    await pushBranch(tree, branch, { [branch]: branch });
    const fields = branch === 'shut' ? {} : { labels: labels.slice(1), assignees: ['bob', 'ada'], milestone };
    const pull = { head: branch, base: 'main', title: branch, ...fields };
    const { number } = await done(branch === 'open' ? bob : ada, 'POST', `${at}/pulls`, pull);
    if (branch === 'open') await attach(number, 'pull.txt');
    if (branch === 'merged') await done(ada, 'POST', `${at}/pulls/${number}/merge`, {});
    if (branch === 'shut') await done(ada, 'PATCH', `${at}/pulls/${number}`, { state: 'closed' });
  }
});

it.each([
  ['the issues of a repository', `${at}/issues?state=all&limit=50`, 'issues', 7],
  ['a page of them', `${at}/issues?state=all&limit=3&page=2`, 'issues', 3],
  ['its pull requests', `${at}/issues?state=all&type=pulls`, 'issues', 3],
  ['a search', '/repos/issues/search?state=all', 'issues', 7],
  ['a search for a word', '/repos/issues/search?state=all&q=one', 'issues', 1],
  ['a list of pull requests', `${at}/pulls?state=all`, 'pulls', 3],
])('%s tell of each what it tells of itself', async (_, path, kind, count) => {
  for (const reader of [ada, bob]) {
    const { items } = await reader.call('GET', path);
    expect(items).toHaveLength(count);
    for (const item of items) {
      const single = (await reader.call('GET', `${at}/${kind}/${String(item['number'])}`)).body;
      // Only a single pull request says what it stands on.
      expect(kind === 'pulls' ? { stack: [], ...item } : item).toEqual(single);
    }
  }
});

it('of which there is something to tell', async () => {
  const [one, other] = [
    (await ada.call('GET', `${at}/issues/1`)).body,
    (await ada.call('GET', `${at}/issues/2`)).body,
  ];
  expect([one['labels'], one['assets'], other['assets']].map((list) => (list as object[]).length)).toEqual([
    4, 2, 1,
  ]);
  const { items } = await ada.call('GET', `${at}/pulls?state=all`);
  expect(items.map((pull) => [pull['merged'], pull['state']]).sort()).toEqual([
    [false, 'closed'],
    [false, 'open'],
    [true, 'closed'],
  ]);
});
