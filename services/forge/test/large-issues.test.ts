import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

// An issue whose texts are too long together to be read at every edit: it is edited fast, and still found exactly.

const scene = useForge();
const path = '/repos/ada/tools/issues';
let ada: Person;
let large: number;
/** As long as a comment may be, with few enough different words that each of them counts. */
const LONGEST = Array.from({ length: 143_000 }, (_, index) => `word${index % 1000}`)
  .join(' ')
  .slice(0, 999_000);
const COMMENTS = 12;

beforeAll(async () => {
  ada = scene.person('ada');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  const made = await ada.call('POST', path, { title: 'Large', body: 'needle unique kept shared' });
  large = made.body.number;
  await ada.call('POST', path, { title: 'Small', body: 'needle shared' });
  for (let index = 0; index < COMMENTS; index++) await comment(`only${index} kept ${LONGEST}`);
});

async function comment(body: string): Promise<number> {
  const reply = await ada.call('POST', `${path}/${large}/comments`, { body });
  expect(reply.status, reply.text).toBe(201);
  return reply.body.id;
}
/** Titles of the issues that a keyword finds, and how many the answer says there are. */
async function found(keyword: string): Promise<[string[], string | null]> {
  const { items, headers } = await ada.call('GET', `${path}?state=all&q=${encodeURIComponent(keyword)}`);
  return [items.map(({ title }) => String(title)).sort(), headers.get('x-total-count')];
}
async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
const edit = async (body: string) => {
  const reply = await ada.call('PATCH', `${path}/${large}`, { body });
  expect(reply.status, reply.text).toBe(201);
};

describe('an issue with very much text', () => {
  it('is edited without reading all of it', async () => {
    const reading = await milliseconds(
      () => scene.sql.rows`select cardinality(:schema.index_words(body)) from :schema.comments`,
    );
    const editing = await milliseconds(() => edit('needle other shared'));
    expect({ editing, isFast: editing < reading / 4 }).toEqual({ editing, isFast: true });
  });

  it('is found by what its texts have, and by nothing they had', async () => {
    const kept = {
      needle: ['Large', 'Small'],
      shared: ['Large', 'Small'],
      other: ['Large'],
      kept: ['Large'],
    };
    const all = {
      ...kept,
      unique: [],
      niqu: [],
      only3: ['Large'],
      word999: ['Large'],
      'only3 kept': ['Large'],
    };
    for (const [keyword, titles] of Object.entries(all))
      expect([keyword, ...(await found(keyword))]).toEqual([keyword, titles, String(titles.length)]);
  });

  it('loses the words of a comment that is deleted or written anew, and gets new ones', async () => {
    const deleted = await comment('ephemeral thought');
    const changed = await comment('first draft');
    expect((await ada.call('DELETE', `${path}/comments/${deleted}`)).status).toBe(204);
    expect((await ada.call('PATCH', `${path}/comments/${changed}`, { body: 'second' })).status).toBe(200);
    for (const gone of ['ephemeral', 'thought', 'draft', 'thou'])
      expect([gone, ...(await found(gone))]).toEqual([gone, [], '0']);
    expect(await found('second')).toEqual([['Large'], '1']);
    expect(await found('needle')).toEqual([['Large', 'Small'], '2']);
  });

  it('takes nothing from the small ones beside it', async () => {
    expect((await ada.call('PATCH', `${path}/2`, { body: 'needle alone' })).status).toBe(201);
    expect(await found('shared')).toEqual([['Large'], '1']);
    expect(await found('alone')).toEqual([['Small'], '1']);
    const words = await scene.sql.rows`
      select s.word from :schema.word_blocks w join :schema.search_words s on s.id = w.word_id
      where s.word in ('shared', 'alone', ' ') and w.bits & 4 <> 0`;
    expect(words).toEqual([{ word: 'alone' }]);
  });

  it('is exact again when its search is rebuilt, and gone when it is deleted', async () => {
    await scene.sql.run`select :schema.rebuild_issue_search()`;
    expect(await scene.sql.rows`select word from :schema.search_words where word in (' ', 'unique')`).toEqual(
      [],
    );
    expect(await found('kept')).toEqual([['Large'], '1']);
    await edit('needle again');
    expect((await ada.call('DELETE', `${path}/${large}`)).status).toBe(204);
    for (const keyword of ['kept', 'needle', 'word999', 'again'])
      expect([keyword, (await found(keyword))[0]]).toEqual([keyword, keyword === 'needle' ? ['Small'] : []]);
  });
});
