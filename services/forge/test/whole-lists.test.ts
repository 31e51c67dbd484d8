import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

// Lists that have no pages in the reference: its clients ask once, and take what they get for all.

const scene = useForge();
const MANY = 1070;
let ada: Person;
let comment: number;
beforeAll(async () => {
  ada = scene.person('ada');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  await ada.call('POST', '/repos/ada/tools/issues', { title: 'Busy' });
  comment = (await ada.call('POST', '/repos/ada/tools/issues/1/comments', { body: 'x' })).body.id;
  await scene.sql.run`
    insert into :schema.users (login, auth_user_id, created_at)
    select 'p' || n, gen_random_uuid(), now() from generate_series(1, ${MANY}::int) n`;
});

/** Makes as many of each as are said, of what is said and of nothing else. */
async function fill(count: number): Promise<void> {
  await scene.sql.run`delete from :schema.reactions`;
  await scene.sql.run`delete from :schema.tracked_times`;
  await scene.sql.run`
    insert into :schema.reactions (issue_id, comment_id, user_id, content, created_at)
    select i.id, c.id, u.id, 'heart', now() from :schema.issues i join :schema.comments c on c.issue_id = i.id,
      (select id from :schema.users where login ~ '^p[0-9]' order by id limit ${count}::int) u`;
  await scene.sql.run`
    insert into :schema.tracked_times (issue_id, user_id, seconds, created_at)
    select i.id, u.id, n, now() from :schema.issues i, :schema.users u, generate_series(1, ${count}::int) n
    where u.login = 'ada'`;
}

describe.each([
  ['reactions to a comment', () => `/repos/ada/tools/issues/comments/${comment}/reactions`],
  ['times of somebody in a repository', () => '/repos/ada/tools/times/ada'],
])('%s', (_what, path) => {
  it('are all told to who asks for no page', async () => {
    await fill(70);
    for (const query of ['', '?page=1', '?page=1&limit=0', '?page=0&limit=0']) {
      const all = await ada.call('GET', `${path()}${query}`);
      expect(all.items, query).toHaveLength(70);
      expect(all.headers.get('link'), query).toBeNull();
      expect(all.headers.get('x-total-count')).toBe('70');
    }
    expect((await ada.call('GET', `${path()}?page=2`)).items).toHaveLength(30);
    expect((await ada.call('GET', `${path()}?limit=20`)).items).toHaveLength(20);
  });

  it('are told so far as they fit, with a link to the rest', async () => {
    await fill(MANY);
    const beginning = await ada.call('GET', path());
    expect(beginning.items).toHaveLength(1000);
    expect(beginning.headers.get('x-total-count')).toBe(String(MANY));
    const next = /<([^>]+)>; rel="next"/.exec(beginning.headers.get('link') ?? '')?.[1] ?? '';
    const [, asked = ''] = next.split('/api/v1');
    const rest = [await ada.call('GET', asked), await ada.call('GET', asked.replace('page=21', 'page=22'))];
    const all = [beginning, ...rest].flatMap(({ items }) => items.map((one) => JSON.stringify(one)));
    expect(new Set(all).size).toBe(MANY);
  });
});

it('reactions to an issue have pages, as in the reference', async () => {
  await scene.sql.run`update :schema.reactions set comment_id = null`;
  expect((await ada.call('GET', '/repos/ada/tools/issues/1/reactions')).items).toHaveLength(30);
});
