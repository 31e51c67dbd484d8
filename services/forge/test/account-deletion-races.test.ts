import { beforeAll, describe, expect, it } from 'vitest';
import { askDuring } from './ask-during.ts';
import { type Person, type Reply, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// What somebody does, or what is done to him, while his account is removed: as if he had been gone before.

const scene = useForge();
let ada: Person;
const at = '/repos/ada/work';
beforeAll(async () => {
  ada = scene.person('ada');
  await ada.call('POST', '/user/repos', { name: 'work', auto_init: true });
  const file = { content: 'eA==', message: 'x', new_branch: 'topic' };
  await ada.call('POST', `${at}/contents/x.txt`, file);
  await ada.call('POST', `${at}/issues`, { title: 'one' });
  await ada.call('POST', `${at}/pulls`, { head: 'topic', base: 'main', title: 'two' });
});

let count = 0;
/** Somebody who may write to the repository. */
async function newcomer(): Promise<Person & { id: number }> {
  const person = scene.person(`newcomer${++count}`);
  const { id } = (await person.call('GET', '/user')).body;
  await ada.call('PUT', `${at}/collaborators/${person.name}`, { permission: 'write' });
  return { ...person, id };
}

/** While somebody's account is removed. */
const duringRemoval = (id: number, ask: () => Promise<Reply>) =>
  askDuring(scene, (tx) => tx.run`delete from :schema.users where id = ${id}`, ask);

const stored = () =>
  rowsOf(
    scene,
    'issues(id, title, comments)',
    'comments',
    'reviews',
    'review_requests',
    'commit_statuses',
    'reactions',
    'stars',
    'hooks',
    'teams',
    'tracked_times',
    'repository_transfers',
  );

describe('of somebody who is removed meanwhile there is', () => {
  it.each([
    ['no comment', 'POST', `${at}/issues/1/comments`, { body: 'words' }],
    ['no issue', 'POST', `${at}/issues`, { title: 'mine' }],
    ['no review', 'POST', `${at}/pulls/2/reviews`, { event: 'COMMENT', body: 'words' }],
    ['no status', 'POST', `${at}/statuses/main`, { state: 'success' }],
    ['no reaction', 'POST', `${at}/issues/1/reactions`, { content: 'heart' }],
    ['no star', 'PUT', '/user/starred/ada/work', undefined],
    ['no organization', 'POST', '/orgs', { username: 'orphan' }],
    ['no file', 'POST', `${at}/contents/y.txt`, { content: 'eA==', message: 'y' }],
  ] as const)('%s', async (_what, method, path, body) => {
    const before = await stored();
    const person = await newcomer();
    expect((await duringRemoval(person.id, () => person.call(method, path, body))).status).toBe(404);
    expect(await stored()).toEqual(before);
  });
});

describe('somebody who is removed meanwhile', () => {
  it.each([
    [
      'is asked for no review',
      `${at}/pulls/2/requested_reviewers`,
      (login: string) => ({ reviewers: [login] }),
    ],
    ['spent no time', `${at}/issues/1/times`, (login: string) => ({ time: 60, user_name: login })],
    ['is given no repository', `${at}/transfer`, (login: string) => ({ new_owner: login })],
  ])('%s', async (_what, path, bodyFor) => {
    const before = await stored();
    const { id, name } = await newcomer();
    expect((await duringRemoval(id, () => ada.call('POST', path, bodyFor(name)))).status).toBe(404);
    expect(await stored()).toEqual(before);
  });
});
