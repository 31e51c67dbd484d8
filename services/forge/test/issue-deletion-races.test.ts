import { beforeAll, describe, expect, it } from 'vitest';
import { askDuring } from './ask-during.ts';
import { type Person, type Reply, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// What is done to something that goes away in the same moment: as if it had never been there, and no error of ours.

const scene = useForge();
let ada: Person;
const at = '/repos/ada/work/issues';
beforeAll(async () => {
  ada = scene.person('ada');
  await ada.call('POST', '/user/repos', { name: 'work', auto_init: true });
  await ada.call('POST', '/repos/ada/work/labels', { name: 'bug', color: '#123456' });
  // Stays while the others go.
  await ada.call('POST', at, { title: 'stays' });
});

const during = (table: 'issues' | 'comments', id: number, ask: () => Promise<Reply>) =>
  askDuring(
    scene,
    (tx) =>
      table === 'issues'
        ? tx.run`delete from :schema.issues where id = ${id}`
        : tx.run`delete from :schema.comments where id = ${id}`,
    ask,
  );

const stored = () =>
  rowsOf(
    scene,
    'issues(id, pin_order)',
    'comments',
    'reactions',
    'dependencies',
    'stopwatches',
    'tracked_times',
  );

describe('an issue that is deleted meanwhile', () => {
  it.each([
    ['is not pinned', 'POST', '/pin', undefined],
    ['is not locked', 'PUT', '/lock', {}],
    ['waits for nothing', 'POST', '/dependencies', { index: 1 }],
    ['is waited for by nothing', 'POST', '/blocks', { index: 1 }],
    ['gets no stopwatch', 'POST', '/stopwatch/start', undefined],
    ['gets no time', 'POST', '/times', { time: 60 }],
    ['gets no reaction', 'POST', '/reactions', { content: 'heart' }],
    ['gets no comment', 'POST', '/comments', { body: 'words' }],
    ['gets no label', 'POST', '/labels', { labels: ['bug'] }],
    ['gets no assignee', 'POST', '/assignees', { assignees: ['ada'] }],
    ['is not edited', 'PATCH', '', { title: 'other', state: 'closed' }],
  ] as const)('%s', async (_what, method, path, body) => {
    const before = await stored();
    const { number, id } = (await ada.call('POST', at, { title: 'goes' })).body;
    const answer = await during('issues', id, () => ada.call(method, `${at}/${number}${path}`, body));
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('message')]);
    expect(await stored()).toEqual(before);
  });

  it('is no obstacle to what waited for it', async () => {
    const { number, id } = (await ada.call('POST', at, { title: 'goes' })).body;
    await ada.call('POST', `${at}/1/dependencies`, { index: number });
    const answer = await during('issues', id, () =>
      ada.call('DELETE', `${at}/1/dependencies`, { index: number }),
    );
    expect(answer.status).toBe(404);
    expect((await ada.call('GET', `${at}/1/dependencies`)).items).toEqual([]);
  });

  it('stops no stopwatch', async () => {
    const { number, id } = (await ada.call('POST', at, { title: 'goes' })).body;
    expect((await ada.call('POST', `${at}/${number}/stopwatch/start`)).status).toBe(201);
    const answer = await during('issues', id, () => ada.call('POST', `${at}/${number}/stopwatch/stop`));
    expect(answer.status).toBe(404);
    expect((await ada.call('GET', '/user/stopwatches')).items).toEqual([]);
  });
});

it('a comment that is deleted meanwhile gets no reaction', async () => {
  const { id } = (await ada.call('POST', `${at}/1/comments`, { body: 'goes' })).body;
  const path = `${at}/comments/${id}/reactions`;
  const answer = await during('comments', id, () => ada.call('POST', path, { content: 'heart' }));
  expect(answer.status).toBe(404);
  expect(await scene.sql.rows`select from :schema.reactions`).toEqual([]);
});
