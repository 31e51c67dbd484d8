import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

// Lists by the time of the last change, and phrases, against reading everything: of one repository, and of more than the
// indexes of each are looked at for.

const scene = useForge();
let ada: Person;
const DAY_MS = 86_400_000;
const BEGIN = Date.UTC(2020, 0, 1);
const ISSUES = 150;
const PHRASES = [
  'alpha beta',
  'beta, gamma',
  'A BETA',
  'gamma alpha',
  'ta gam',
  'alpha  beta',
  'nothing here',
];

beforeAll(async () => {
  ada = scene.person('ada');
  for (const name of ['one', 'two']) await ada.call('POST', '/user/repos', { name });
  await scene.sql.run`
    insert into :schema.repositories (owner_id, name, private, default_branch, state, created_at, updated_at)
    select owner_id, 'more-' || n, false, 'main', 'ready', created_at, updated_at
    from :schema.repositories, generate_series(1, 25) n where name = 'one'`;
  // Some changed long after they were made; two in three are open.
  await scene.sql.run`
    insert into :schema.issues (repository_id, number, is_pull, poster_id, title, body, closed_at, created_at, updated_at)
    select r.id, n, false, r.owner_id, 'Issue ' || n,
      (array['alpha beta', 'alpha, beta', 'beta, gamma alpha', 'gamma', 'alphabeta gamma'])[1 + n % 5],
      case when n % 3 = 0 then now() end, b.at + n * interval '7 days',
      b.at + (n + case when n % 4 = 0 then (n * 37) % 60 else 0 end) * interval '7 days'
    from :schema.repositories r, generate_series(1, ${ISSUES}::int) n,
      (select ${new Date(BEGIN)}::timestamptz) b (at) where r.name in ('one', 'two')`;
  await scene.sql.run`
    insert into :schema.comments (issue_id, kind, poster_id, body, created_at, updated_at)
    select id, 'comment', poster_id, 'Then ALPHA beta; gamma', now(), now() from :schema.issues where number % 11 = 0`;
  await scene.sql.run`
    update :schema.repositories r set last_number = ${ISSUES}, issues = c.issues, closed_issues = c.closed
    from (select repository_id as id, count(*) as issues, count(closed_at) as closed from :schema.issues group by 1) c
    where c.id = r.id`;
});

/** Ids as the rows themselves say. */
async function read(repo: string, state: string, since: Date | null, before: Date | null, phrase = '') {
  const rows = await scene.sql.rows<{ id: number }>`
    select i.id from :schema.issues i join :schema.repositories r on r.id = i.repository_id
    where (${repo} = '' or r.name = ${repo}) and (${state} = 'all' or (i.closed_at is null) = (${state} = 'open'))
      and (${since}::timestamptz is null or i.updated_at >= ${since})
      and (${before}::timestamptz is null or i.updated_at <= ${before})
      and (${phrase} = '' or position(lower(${phrase}) in lower(i.title)) > 0
        or position(lower(${phrase}) in lower(i.body)) > 0
        or exists (select from :schema.comments c where c.issue_id = i.id
          and position(lower(${phrase}) in lower(c.body)) > 0))
    order by i.created_at desc, i.id desc`;
  return rows.map(({ id }) => id);
}
/** What the API says of the first two pages, with the total. */
async function listed(repo: string, query: string) {
  const path = repo === '' ? '/repos/issues/search' : `/repos/ada/${repo}/issues`;
  const pages = [];
  for (const page of [1, 2]) pages.push(await ada.call('GET', `${path}?limit=40&page=${page}&${query}`));
  const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
  return { total: pages[0]?.headers.get('x-total-count'), ids };
}
const time = (days: number) => new Date(BEGIN + days * DAY_MS);
const wanted = (ids: number[]) => ({ total: String(ids.length), ids: ids.slice(0, 80) });

async function compareTimes() {
  // Before everything, at the very time of a change, at the ends of what is kept together, in between, after everything.
  const times = [-4_000, 7, 12, 30, 270, 275.5, 700, 931, 1_050, 1_051, 1_400, 9_000].map(time);
  for (const repo of ['one', ''])
    for (const state of ['open', 'all'])
      for (const [index, at] of times.entries()) {
        const other = times[(index * 5 + 3) % times.length] ?? at;
        for (const [since, before] of [
          [at, null],
          [null, at],
          [at, other],
          [at, at],
        ] as const) {
          const range = [since && `since=${since.toISOString()}`, before && `before=${before.toISOString()}`];
          const query = [`state=${state}`, ...range].filter((part) => part !== null).join('&');
          expect([repo, query, await listed(repo, query)]).toEqual([
            repo,
            query,
            wanted(await read(repo, state, since, before)),
          ]);
        }
      }
}

describe('what changed since or before a time', () => {
  it('is exactly what the rows say', async () => {
    await compareTimes();
  });

  it('also after changes, deletions and a rebuild', async () => {
    await scene.sql.run`update :schema.issues set updated_at = ${time(700)} where number % 7 = 0`;
    await scene.sql.run`
      update :schema.issues set updated_at = updated_at + interval '40 days' where number % 9 = 0`;
    expect((await ada.call('DELETE', '/repos/ada/one/issues/14')).status).toBe(204);
    await compareTimes();
    const kept = () => scene.sql.rows`
      select b.repository_id, b.block, p.period, p.bits from :schema.period_blocks p
        join :schema.issue_blocks b on b.id = p.block_id where p.bits <> 0 order by 1, 2, 3`;
    const before = await kept();
    await scene.sql.run`select :schema.rebuild_issue_search()`;
    expect(await kept()).toEqual(before);
  });

  it('is the same for a site with many blocks, whose issues are found by another index', async () => {
    for (const [since, before] of [
      [time(275.5), null],
      [null, time(275.5)],
      [time(12), time(931)],
      [time(700), time(700)],
    ]) {
      const hits = async (padding: number) => scene.sql.rows`
        select h.block_id, bit_or(h.bits) as bits
        from :schema.changed_hits(${since}, ${before}, array(select id from :schema.issue_blocks)
          || array_fill(0, array[${padding}::int])) h group by 1 order by 1`;
      expect(await hits(501)).toEqual(await hits(0));
    }
  });

  it('is counted by bits as it is by rows', async () => {
    for (const at of [-4_000, 12, 270, 275.5, 700, 1_051, 9_000].map(time))
      for (const [since, before] of [
        [at, null],
        [null, at],
        [at, time(1_000)],
      ] as const) {
        const row = await scene.sql.row<{ total: number }>`
          select m.total from :schema.matching_bits(:schema.search_scope(0, true, false, null, null), false, null,
            '{}', '', '', ${since}, ${before}) m`;
        expect([since, before, row?.total]).toEqual([
          since,
          before,
          (await read('', 'open', since, before)).length,
        ]);
      }
  });

  it('with a label and a milestone beside it', async () => {
    const { body: label } = await ada.call('POST', '/repos/ada/one/labels', { name: 'bug', color: 'ff0000' });
    const { body: milestone } = await ada.call('POST', '/repos/ada/one/milestones', { title: 'First' });
    await scene.sql.run`
      insert into :schema.issue_labels (issue_id, label_id)
      select i.id, ${label.id} from :schema.issues i where number % 2 = 0 and repository_id in
        (select id from :schema.repositories where name = 'one')`;
    await scene.sql
      .run`update :schema.issues set milestone_id = ${milestone.id} where number = 20 and repository_id in
      (select id from :schema.repositories where name = 'one')`;
    const since = time(800);
    const even = await scene.sql.rows<{ id: number }>`select id from :schema.issues where number % 2 = 0`;
    const ids = (await read('one', 'all', since, null)).filter((id) => even.some((row) => row.id === id));
    const query = `state=all&labels=bug&since=${since.toISOString()}`;
    expect(await listed('one', query)).toEqual(wanted(ids));
    expect(await listed('', query)).toEqual(wanted(ids));
    expect((await listed('one', `${query}&milestones=first`)).total).toBe('0');
    expect(
      (await listed('', `state=all&milestones=${milestone.id}&before=${since.toISOString()}`)).total,
    ).toBe('1');
  });
});

describe('a phrase', () => {
  it.each(PHRASES)('%s is found exactly where the texts have it', async (phrase) => {
    for (const state of ['open', 'all'])
      for (const repo of ['one', '']) {
        const found = await listed(repo, `state=${state}&q=${encodeURIComponent(phrase)}`);
        expect([repo, state, found]).toEqual([
          repo,
          state,
          wanted(await read(repo, state, null, null, phrase)),
        ]);
      }
  });
});
