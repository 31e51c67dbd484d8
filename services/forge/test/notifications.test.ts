import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Body, type Person, pushBranch, pushedRepository, request, useForge } from './forge.ts';

const scene = useForge();
let people: Record<'ada' | 'watcher' | 'mentioned' | 'assignee' | 'stranger' | 'ignorer', Person>;

beforeAll(async () => {
  const names = ['ada', 'watcher', 'mentioned', 'assignee', 'stranger', 'ignorer'] as const;
  people = Object.fromEntries(names.map((name) => [name, scene.person(name)])) as typeof people;
  for (const person of Object.values(people)) await person.call('GET', '/user');
});

/** Waits until everything that was announced is worked off. */
async function settled(): Promise<void> {
  await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
}

async function threads(person: Person, query = ''): Promise<Body[]> {
  await settled();
  const { status, items } = await person.call('GET', `/notifications${query}`);
  expect(status).toBe(200);
  return items;
}

/** Marks threads. Answers of 205 have a body here, which Go's clients read and `fetch` does not give out. */
async function mark(
  person: Person,
  method: 'PUT' | 'PATCH',
  path: string,
): Promise<{ status: number; text: string }> {
  const sent = httpRequest(`${scene.address}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${person.token}` },
  });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}

/** Titles of the threads of a repository that somebody has not read. */
async function unread(person: Person, repository: string): Promise<string[]> {
  await settled();
  const { items } = await person.call('GET', `/repos/${repository}/notifications?status-types=unread`);
  return items.map((item) => (item['subject'] as { title: string }).title);
}

async function watch(person: Person, repository: string, ignored = false): Promise<void> {
  await scene.sql.run`
    insert into :schema.watches select r.id, u.id, ${ignored}, now() from :schema.repositories r, :schema.users u
    where r.name = ${repository} and u.login = ${person.name}
    on conflict (repository_id, user_id) do update set ignored = excluded.ignored`;
}
async function collaborate(person: Person, repository: string, level = 2): Promise<void> {
  await scene.sql.run`
    insert into :schema.collaborators select r.id, u.id, ${level} from :schema.repositories r, :schema.users u
    where r.name = ${repository} and u.login = ${person.name}`;
}

describe('who is told', () => {
  it('is whoever watches, takes part or is mentioned, and not whoever did it or does not care', async () => {
    const { ada, watcher, mentioned, assignee, stranger, ignorer } = people;
    await ada.call('POST', '/user/repos', { name: 'told' });
    await watch(watcher, 'told');
    await watch(ignorer, 'told', true);
    await collaborate(assignee, 'told');
    await ada.call('POST', '/repos/ada/told/issues', {
      title: 'first',
      body: 'what do you say, @mentioned and @ignorer? `@stranger`',
      assignees: ['assignee'],
    });
    for (const [person, titles] of [
      [watcher, ['first']],
      [mentioned, ['first']],
      [assignee, ['first']],
      [ada, []],
      [stranger, []],
      [ignorer, []],
    ] as const) {
      expect({ who: person.name, titles: await unread(person, 'ada/told') }).toEqual({
        who: person.name,
        titles,
      });
    }
    // Whoever left the issue hears no more of it.
    await mark(mentioned, 'PUT', '/notifications');
    await mark(assignee, 'PUT', '/notifications');
    await scene.sql.run`
      insert into :schema.issue_subscriptions select i.id, u.id, false, now()
      from :schema.issues i, :schema.users u where i.title = 'first' and u.login = 'assignee'
      on conflict (issue_id, user_id) do update set subscribed = false`;
    await watcher.call('POST', '/repos/ada/told/issues/1/comments', { body: 'I do' });
    expect(await unread(ada, 'ada/told')).toEqual(['first']);
    expect(await unread(assignee, 'ada/told')).toEqual([]);
    expect(await unread(watcher, 'ada/told')).toEqual(['first']);
    const [thread] = await threads(ada);
    const [comment] = await scene.sql.rows<{
      id: number;
    }>`select id from :schema.comments where body = 'I do'`;
    expect(thread).toMatchObject({
      unread: true,
      pinned: false,
      repository: { full_name: 'ada/told' },
      subject: {
        title: 'first',
        type: 'Issue',
        state: 'open',
        url: `${scene.address}/api/v1/repos/ada/told/issues/1`,
        html_url: `${scene.address}/ada/told/issues/1`,
        latest_comment_url: `${scene.address}/api/v1/repos/ada/told/issues/comments/${comment?.id}`,
      },
      url: `${scene.address}/api/v1/notifications/threads/${thread?.id}`,
    });
  });

  it('is whoever is assigned later, and those who take part when it is closed', async () => {
    const { ada, assignee, stranger } = people;
    await ada.call('POST', '/user/repos', { name: 'later' });
    await collaborate(assignee, 'later');
    await stranger.call('POST', '/repos/ada/later/issues', { title: 'mine' });
    await ada.call('PATCH', '/repos/ada/later/issues/1', { assignees: ['assignee'] });
    expect(await unread(assignee, 'ada/later')).toEqual(['mine']);
    expect(await unread(stranger, 'ada/later')).toEqual([]);
    await ada.call('PATCH', '/repos/ada/later/issues/1', { state: 'closed' });
    expect(await unread(stranger, 'ada/later')).toEqual(['mine']);
    const [thread] = await threads(stranger, '?subject-type=issue');
    expect(thread).toMatchObject({ subject: { state: 'closed' } });
  });

  it('is only the one who is assigned, not who is already', async () => {
    const { ada, assignee, stranger } = people;
    await ada.call('POST', '/user/repos', { name: 'shared' });
    for (const person of [assignee, stranger]) await collaborate(person, 'shared');
    await ada.call('POST', '/repos/ada/shared/issues', { title: 'ours', assignees: ['assignee'] });
    expect(await unread(assignee, 'ada/shared')).toEqual(['ours']);
    await mark(assignee, 'PUT', '/repos/ada/shared/notifications');
    await ada.call('POST', '/repos/ada/shared/issues/1/assignees', { assignees: ['stranger'] });
    expect(await unread(stranger, 'ada/shared')).toEqual(['ours']);
    expect(await unread(assignee, 'ada/shared')).toEqual([]);
  });

  it('is whom a review names, also in a comment on a line, and from then on who reviewed', async () => {
    const { ada, mentioned, assignee, stranger } = people;
    const tree = await pushedRepository(ada, 'reviewed', scene.folder);
    await pushBranch(tree, 'topic', { 'new.txt': 'one\n' });
    const at = '/repos/ada/reviewed';
    await ada.call('POST', `${at}/pulls`, { head: 'topic', base: 'main', title: 'look' });
    const check = `${at}/issues/1/subscriptions/check`;
    expect((await stranger.call('GET', check)).body).toMatchObject({ subscribed: false });
    const { status } = await stranger.call('POST', `${at}/pulls/1/reviews`, {
      event: 'COMMENT',
      body: 'what does @mentioned say?',
      comments: [{ path: 'new.txt', new_position: 1, body: '@assignee knows more' }],
    });
    expect(status).toBe(200);
    for (const person of [mentioned, assignee, ada])
      expect([person.name, await unread(person, 'ada/reviewed')]).toEqual([person.name, ['look']]);
    expect((await stranger.call('GET', check)).body).toMatchObject({ subscribed: true });
    await ada.call('POST', `${at}/issues/1/comments`, { body: 'thanks' });
    expect(await unread(stranger, 'ada/reviewed')).toEqual(['look']);
  });

  it('never learns of what he may not read, and loses what he may not read any more', async () => {
    const { ada, watcher, mentioned } = people;
    await ada.call('POST', '/user/repos', { name: 'hidden', private: true });
    await collaborate(watcher, 'hidden', 1);
    await watch(watcher, 'hidden');
    await watch(mentioned, 'hidden');
    await ada.call('POST', '/repos/ada/hidden/issues', { title: 'between us', body: '@mentioned @watcher' });
    expect((await threads(mentioned, '?all=true')).map(({ repository }) => repository)).not.toContainEqual(
      expect.objectContaining({ name: 'hidden' }),
    );
    expect(
      await scene.sql.rows`
      select u.login from :schema.notifications n join :schema.users u on u.id = n.user_id
        join :schema.repositories r on r.id = n.repository_id where r.name = 'hidden'`,
    ).toEqual([{ login: 'watcher' }]);
    const [thread] = await threads(watcher, '?status-types=unread&limit=1');
    expect(thread).toMatchObject({ subject: { title: 'between us' } });
    const { body: before } = await watcher.call('GET', '/notifications/new');
    await scene.sql.run`delete from :schema.collaborators c using :schema.repositories r
      where r.id = c.repository_id and r.name = 'hidden'`;
    const after = await threads(watcher, '?all=true');
    expect(after.map(({ id }) => id)).not.toContain(thread?.id);
    expect(await watcher.call('GET', '/notifications/new')).toMatchObject({
      body: { new: Number(before['new']) - 1 },
    });
    expect((await watcher.call('GET', `/notifications/threads/${thread?.id}`)).status).toBe(404);
    expect((await mark(watcher, 'PATCH', `/notifications/threads/${thread?.id}`)).status).toBe(404);
    expect((await watcher.call('GET', '/repos/ada/hidden/notifications')).status).toBe(404);
    await mark(watcher, 'PUT', '/notifications?all=true');
    expect(await scene.sql.row`select status from :schema.notifications where id = ${thread?.id}`).toEqual({
      status: 'unread',
    });
    // Hears nothing of what comes.
    await ada.call('POST', '/repos/ada/hidden/issues', { title: 'more', body: '@watcher' });
    await settled();
    expect(
      await scene.sql.rows`
      select from :schema.notifications n join :schema.issues i on i.id = n.issue_id where i.title = 'more'`,
    ).toEqual([]);
  });
});

describe('threads', () => {
  it('are read one by one or together, and belong to their owner', async () => {
    const { ada, watcher, stranger } = people;
    await ada.call('POST', '/user/repos', { name: 'many' });
    await watch(watcher, 'many');
    for (const title of ['one', 'two', 'three']) await ada.call('POST', '/repos/ada/many/issues', { title });
    await settled();
    const path = '/repos/ada/many/notifications';
    const listed = await watcher.call('GET', `${path}?limit=2`);
    expect(listed.items).toHaveLength(2);
    expect(listed.headers.get('x-total-count')).toBe('3');
    expect(listed.headers.get('link')).toContain('rel="next"');
    const [latest] = listed.items;
    const thread = `/notifications/threads/${latest?.id}`;
    expect((await watcher.call('GET', thread)).body).toEqual(latest);
    expect((await stranger.call('GET', thread)).status).toBe(404);
    expect((await mark(stranger, 'PATCH', thread)).status).toBe(404);
    expect((await request(`${scene.address}/api/v1/notifications`, 'GET')).status).toBe(401);
    expect((await watcher.call('GET', '/notifications/threads/x')).status).toBe(400);
    expect((await watcher.call('GET', '/notifications/threads/99999999')).status).toBe(404);
    expect((await mark(watcher, 'PATCH', `${thread}?to-status=nonsense`)).status).toBe(422);
    expect((await watcher.call('GET', thread)).body).toEqual(latest);

    const pinned = await mark(watcher, 'PATCH', `${thread}?to-status=pinned`);
    expect(pinned.status).toBe(205);
    expect(JSON.parse(pinned.text)).toMatchObject({ id: latest?.id, pinned: true, unread: false });
    expect((await watcher.call('GET', thread)).body).toMatchObject({ unread: false, pinned: true });
    expect((await watcher.call('GET', `${path}?status-types=pinned`)).items).toHaveLength(1);
    // Pinned ones are not what `PUT` marks when it says nothing.
    expect((await mark(watcher, 'PUT', `${path}?last_read_at=2000-01-01T00:00:00Z`)).status).toBe(205);
    expect((await watcher.call('GET', `${path}?status-types=unread`)).items).toHaveLength(2);
    expect((await mark(watcher, 'PUT', `${path}?last_read_at=nonsense`)).status).toBe(422);
    expect((await mark(watcher, 'PUT', path)).status).toBe(205);
    expect((await watcher.call('GET', `${path}?status-types=unread`)).items).toEqual([]);
    expect((await watcher.call('GET', path)).items).toHaveLength(1);
    expect((await watcher.call('GET', `${path}?all=true`)).items).toHaveLength(3);
    // Something new makes a thread unread again, a pinned one stays pinned.
    for (const number of [1, 2, 3])
      await ada.call('POST', `/repos/ada/many/issues/${number}/comments`, { body: 'more' });
    expect(await unread(watcher, 'ada/many')).toEqual(['two', 'one']);
    expect((await watcher.call('GET', `${path}?all=true`)).items).toHaveLength(3);
  });

  it('are found by time and by what they are about', async () => {
    const { watcher } = people;
    const all = await threads(watcher, '?all=true');
    expect(await threads(watcher, '?all=true&since=2100-01-01T00:00:00Z')).toEqual([]);
    expect(await threads(watcher, '?all=true&before=2000-01-01T00:00:00Z')).toEqual([]);
    expect(await threads(watcher, '?all=true&subject-type=pull')).toEqual([]);
    expect(await threads(watcher, '?all=true&subject-type=commit')).toEqual([]);
    expect(await threads(watcher, '?all=true&subject-type=Issue&subject-type=Pull')).toEqual(all);
    expect((await watcher.call('GET', '/notifications?since=yesterday')).status).toBe(422);
    expect((await watcher.call('GET', '/notifications?page=999999999&status-types=%00')).status).toBe(200);
  });

  it('are not for a token that was made for something else, and show it public things only', async () => {
    const { ada, watcher } = people;
    await ada.call('POST', '/user/repos', { name: 'private-one', private: true });
    await collaborate(watcher, 'private-one', 1);
    await watch(watcher, 'private-one');
    await ada.call('POST', '/repos/ada/private-one/issues', { title: 'secret plan' });
    await settled();
    const { body } = await watcher.call('POST', '/users/watcher/tokens', {
      name: 'narrow',
      scopes: ['public-only', 'read:notification'],
    });
    const call = (method: string, path: string, sent?: unknown) =>
      request(`${scene.address}/api/v1${path}`, method, sent, { authorization: `token ${body.sha1}` });
    const answer = await call('GET', '/notifications?all=true');
    expect(answer.status).toBe(200);
    expect(answer.items.length).toBeGreaterThan(0);
    expect(answer.text).not.toContain('secret plan');
    expect((await watcher.call('GET', '/notifications?all=true')).text).toContain('secret plan');
    expect((await call('PUT', '/notifications', {})).status).toBe(403);
    expect((await call('GET', '/user/hooks')).status).toBe(403);
  });

  it('of a pull request is read by whoever merges it', async () => {
    const { ada, watcher, stranger } = people;
    const tree = await pushedRepository(ada, 'merged', scene.folder);
    await pushBranch(tree, 'topic', { topic: '1' });
    await watch(ada, 'merged');
    await watch(watcher, 'merged');
    await collaborate(stranger, 'merged');
    await stranger.call('POST', '/repos/ada/merged/pulls', { head: 'topic', base: 'main', title: 'pull me' });
    expect(await unread(ada, 'ada/merged')).toEqual(['pull me']);
    await mark(watcher, 'PUT', '/notifications');
    expect((await ada.call('POST', '/repos/ada/merged/pulls/1/merge', { Do: 'merge' })).status).toBe(200);
    expect(await unread(ada, 'ada/merged')).toEqual([]);
    expect(await unread(watcher, 'ada/merged')).toEqual(['pull me']);
    const [thread] = await threads(watcher, '?subject-type=pull');
    expect(thread).toMatchObject({
      subject: { type: 'Pull', state: 'merged', html_url: expect.stringContaining('/pulls/1') },
    });
  });
});
