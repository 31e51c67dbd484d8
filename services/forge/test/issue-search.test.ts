import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let eve: Person;
let root: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  bob = scene.person('bob');
  eve = scene.person('eve');
  root = scene.person('root-person', { role: 'service_role' });
  for (const person of [bob, eve, root]) await person.call('GET', '/user');
  for (const name of ['alpha', 'beta']) await ada.call('POST', '/user/repos', { name });
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  await scene.sql.run`
    insert into :schema.collaborators (repository_id, user_id, level)
    select r.id, u.id, 1 from :schema.repositories r, :schema.users u where r.name = 'secret' and login = 'bob'`;
});

let tick = 0;
/** An issue a minute younger than the one before. */
async function issue(repo: string, fields: object, who = ada): Promise<number> {
  const { body } = await who.call('POST', `/repos/ada/${repo}/issues`, fields);
  const at = new Date(Date.UTC(2026, 0, 1) + 60_000 * tick++);
  await scene.sql.run`update :schema.issues set created_at = ${at}, updated_at = ${at} where id = ${body.id}`;
  return body.number;
}
const comment = (repo: string, number: number, body: string) =>
  scene.sql.run`
    insert into :schema.comments (issue_id, kind, poster_id, body, created_at, updated_at)
    select i.id, 'comment', i.poster_id, ${body}, now(), now() from :schema.issues i
      join :schema.repositories r on r.id = i.repository_id where r.name = ${repo} and i.number = ${number}`;
const ask = (path: string, who: Person) => who.call('GET', path);
const search = async (query: string, who = ada) =>
  (await ask(`/repos/issues/search${query}`, who)).items.map(({ title }) => title);
const list = async (repo: string, query: string, who = ada) =>
  (await ask(`/repos/ada/${repo}/issues${query}`, who)).items.map(({ title }) => title);
const label = async (repo: string, name: string) =>
  (await ada.call('POST', `/repos/ada/${repo}/labels`, { name, color: 'ff0000' })).body.id;

describe('searching across repositories', () => {
  beforeAll(async () => {
    const bug = await label('alpha', 'bug');
    const alsoBug = await label('beta', 'Bug');
    const docs = await label('beta', 'docs');
    await label('secret', 'classified');
    await issue('alpha', { title: 'A1', labels: [bug], body: 'crash in the Parser' });
    await issue('beta', { title: 'B1', labels: [alsoBug, docs] });
    await issue('secret', { title: 'S1', body: 'parser of secrets' });
    await issue('beta', { title: 'B2', labels: [docs], closed: true, body: 'PARSER' });
    await issue('alpha', { title: 'A2', assignees: ['ada'], body: 'for @Bob. And eve@example.test' });
    await issue('alpha', { title: 'A3 by Bob' }, bob);
    await comment('alpha', 2, 'a comment about a needle');
  });

  it('finds what the caller may read, newest first, open ones unless asked otherwise', async () => {
    expect(await search('')).toEqual(['A3 by Bob', 'A2', 'S1', 'B1', 'A1']);
    expect(await search('', bob)).toEqual(['A3 by Bob', 'A2', 'S1', 'B1', 'A1']);
    expect(await search('', eve)).toEqual(['A3 by Bob', 'A2', 'B1', 'A1']);
    expect(await search('', root)).toEqual(['A3 by Bob', 'A2', 'S1', 'B1', 'A1']);
    expect(await search('?state=closed')).toEqual(['B2']);
    expect(await search('?state=all&limit=2&page=2')).toEqual(['B2', 'S1']);
    expect(await search('?state=sideways&limit=1')).toEqual(['A3 by Bob']);
    expect(await search('?page=9999999')).toEqual([]);
    expect(await search('?page=99999999999&limit=50')).toEqual([]);
  });

  it('tells nothing of what is hidden: not in lists, not in counts, not in links', async () => {
    const seen = async (query: string, who: Person) => {
      const { headers, items } = await ask(`/repos/issues/search${query}`, who);
      return [
        items.length,
        headers.get('x-total-count'),
        headers.get('link')?.match(/page=(\d+)>; rel="last"/)?.[1],
      ];
    };
    expect(await seen('?limit=1', eve)).toEqual([1, '4', '4']);
    expect(await seen('?limit=1', ada)).toEqual([1, '5', '5']);
    expect(await seen('?q=secrets', eve)).toEqual([0, '0', undefined]);
    expect(await seen('?q=secrets', bob)).toEqual([1, '1', undefined]);
    const { body } = await ada.call('GET', '/repos/ada/secret');
    expect(await search(`?priority_repo_id=${body.id}`, eve)).toEqual(['A3 by Bob', 'A2', 'B1', 'A1']);
    // A label of a hidden repository is unknown, so it does not filter; to its readers it does.
    expect(await search('?labels=classified', eve)).toHaveLength(4);
    expect(await search('?labels=classified', bob)).toEqual([]);
    // What a site administrator owns is as private as anything else.
    await root.call('POST', '/user/repos', { name: 'own', private: true });
    await root.call('POST', '/repos/root-person/own/issues', { title: 'R1' });
    expect(await search('?q=r1', eve)).toEqual([]);
    expect(await search('?q=r1', root)).toEqual(['R1']);
    await root.call('DELETE', '/repos/root-person/own');
    expect(await search('?q=r1', root)).toEqual([]);
    // Credentials for public things find these only, whoever has them.
    const made = await ada.call('POST', '/users/ada/tokens', {
      name: 't',
      scopes: ['public-only', 'read:issue'],
    });
    if (made.status === 201) {
      const headers = { authorization: `token ${made.body.sha1}` };
      const reply = await ada.call('GET', '/repos/issues/search', undefined, headers);
      expect(reply.headers.get('x-total-count')).toBe('4');
    }
  });

  it('Link is made of the counters of the repositories, X-Total-Count of what was found', async () => {
    const { headers } = await ask('/repos/issues/search?q=crash&limit=1', ada);
    expect(headers.get('x-total-count')).toBe('1');
    expect(headers.get('link')).toContain('page=5');
  });

  it.each(['review_requested', 'reviewed'])('%s finds nothing where there are no reviews', async (filter) => {
    const { items, headers } = await ask(`/repos/issues/search?${filter}=true`, ada);
    expect([items, headers.get('x-total-count')]).toEqual([[], '0']);
    expect(await search(`?${filter}=false`)).toHaveLength(5);
  });

  it('labels: any of the names, unknown ones discarded', async () => {
    expect(await search('?labels=bug')).toEqual(['B1', 'A1']);
    expect(await search('?labels=BUG,docs&state=all')).toEqual(['B2', 'B1', 'A1']);
    expect(await search('?labels=bug&labels=docs&state=all')).toEqual(['B2', 'B1', 'A1']);
    expect(await search('?labels=docs,unheard-of')).toEqual(['B1']);
    expect(await search('?labels=unheard-of')).toHaveLength(5);
    expect(await search('?labels=,%20,')).toHaveLength(5);
    expect((await ask('/repos/issues/search?labels=bug', ada)).headers.get('x-total-count')).toBe('2');
  });

  it('a keyword is looked for in title, body and comments, whatever its case', async () => {
    expect(await search('?q=pars')).toEqual(['S1', 'A1']);
    expect(await search('?q=%20PARSER%20&state=all')).toEqual(['B2', 'S1', 'A1']);
    expect(await search('?q=Needle')).toEqual(['A2']);
    expect(await search('?q=in+the+pars')).toEqual(['A1']);
    expect(await search('?q=n+the+parse&state=all')).toEqual(['A1']);
    expect(await search('?q=the+crash')).toEqual([]);
    expect(await search('?q=a1')).toEqual(['A1']);
  });

  it('keyword rules: nothing found is nothing, unless labels matched; with NUL it is none', async () => {
    expect(await search('?q=unfindable')).toEqual([]);
    expect(await search('?q=unfindable&labels=unheard-of')).toEqual([]);
    expect(await search('?q=unfindable&labels=bug')).toEqual(['B1', 'A1']);
    expect(await search('?q=crash&labels=bug')).toEqual(['A1']);
    // Found, but closed: that is a hit, so the keyword counts.
    expect(await search('?q=needle&labels=bug')).toEqual([]);
    expect(await search('?q=cra%00sh')).toHaveLength(5);
  });

  it('a number finds the issue of that number too', async () => {
    expect(await search('?q=3')).toEqual(['A3 by Bob']);
    expect(await search('?q=%233')).toEqual(['A3 by Bob']);
    expect(await search('?q=1&state=all')).toEqual(['S1', 'B1', 'A1']);
  });

  it('the priority repository comes first', async () => {
    const { body } = await ada.call('GET', '/repos/ada/beta');
    expect(await search(`?priority_repo_id=${body.id}&state=all&limit=4`)).toEqual([
      'B2',
      'B1',
      'A3 by Bob',
      'A2',
    ]);
    expect(await search(`?priority_repo_id=${body.id}&state=all&limit=2&page=2`)).toEqual([
      'A3 by Bob',
      'A2',
    ]);
    expect(await search(`?priority_repo_id=${body.id}&q=parser&state=all`)).toEqual(['B2', 'S1', 'A1']);
    expect(await search('?priority_repo_id=nonsense&limit=1')).toEqual(['A3 by Bob']);
  });

  it('filters by people, type, time, milestone, owner and team', async () => {
    expect(await search('?created=true', bob)).toEqual(['A3 by Bob']);
    expect(await search('?assigned=true')).toEqual(['A2']);
    expect(await search('?assigned=false&limit=1')).toEqual(['A3 by Bob']);
    expect(await search('?mentioned=true', bob)).toEqual(['A2']);
    expect(await search('?mentioned=true', eve)).toEqual([]);
    expect(await search('?created_by=BOB')).toEqual(['A3 by Bob']);
    expect(await search('?created_by=nobody')).toEqual([]);
    expect(await search('?type=pulls')).toEqual([]);
    expect(await search('?type=issues&limit=1')).toEqual(['A3 by Bob']);
    expect(await search('?since=2026-01-01T00:04:00Z')).toEqual(['A3 by Bob', 'A2']);
    expect(await search('?before=2026-01-01T01:00:00+01:00')).toEqual(['A1']);
    expect(await search('?owner=ADA&limit=1')).toEqual(['A3 by Bob']);
    expect(await search('?owner=bob')).toEqual([]);
    expect(await search('?milestones=none-such')).toEqual([]);
    for (const [query, status] of [
      ['?owner=nobody', 400],
      ['?team=x', 400],
      ['?owner=ada&team=x', 400],
      ['?since=yesterday', 422],
      ['?before=2026-13-01T00:00:00Z', 422],
    ] as const) {
      expect((await ask(`/repos/issues/search${query}`, ada)).status).toBe(status);
    }
  });

  it('needs somebody who asks', async () => {
    expect((await fetch(`${scene.address}/api/v1/repos/issues/search`)).status).toBe(401);
  });
});

describe('the list of a repository', () => {
  beforeAll(async () => {
    await ada.call('POST', '/user/repos', { name: 'gamma' });
    const red = await label('gamma', 'red');
    const blue = await label('gamma', 'blue');
    const { body } = await ada.call('POST', '/repos/ada/gamma/milestones', { title: 'First, second' });
    const { body: next } = await ada.call('POST', '/repos/ada/gamma/milestones', { title: 'Next' });
    await issue('gamma', { title: 'G1', labels: [red], milestone: body.id });
    await issue('gamma', { title: 'G2', labels: [red, blue], body: 'needle', milestone: next.id });
    await issue('gamma', { title: 'G3', labels: [blue], assignees: ['ada'], body: 'cc @bob' });
    await issue('gamma', { title: 'G4' }, bob);
    await issue('gamma', { title: 'G5', closed: true, body: 'hay' });
  });

  it('filters by any of the labels, and falls through as the search does', async () => {
    expect(await list('gamma', '?labels=RED')).toEqual(['G2', 'G1']);
    expect(await list('gamma', '?labels=red,blue')).toEqual(['G3', 'G2', 'G1']);
    expect(await list('gamma', '?labels=green')).toEqual(['G4', 'G3', 'G2', 'G1']);
    expect(await list('gamma', '?labels=red&q=needle')).toEqual(['G2']);
    expect(await list('gamma', '?labels=red&q=unfindable')).toEqual(['G2', 'G1']);
    expect(await list('gamma', '?q=unfindable')).toEqual([]);
    expect(await list('gamma', '?labels=red&q=hay')).toEqual([]);
    expect(await list('gamma', '?q=2')).toEqual(['G2']);
  });

  it('filters by milestones, people and times', async () => {
    expect(await list('gamma', '?milestones=next,unknown')).toEqual(['G2']);
    const { items } = await ada.call('GET', '/repos/ada/gamma/milestones');
    expect(await list('gamma', `?milestones=${items[0]?.id}`)).toEqual(['G1']);
    expect(await list('gamma', '?milestones=unknown')).toEqual([]);
    expect(await list('gamma', '?created_by=bob')).toEqual(['G4']);
    expect(await list('gamma', '?assigned_by=ada&labels=blue')).toEqual(['G3']);
    expect(await list('gamma', '?mentioned_by=bob')).toEqual(['G3']);
    for (const name of ['created_by', 'assigned_by', 'mentioned_by']) {
      expect((await ask(`/repos/ada/gamma/issues?${name}=nobody`, ada)).status).toBe(404);
    }
    expect((await ask('/repos/ada/gamma/issues?since=x', ada)).status).toBe(422);
    const { items: all } = await ask('/repos/ada/gamma/issues?state=all', ada);
    const since = String(all[1]?.['updated_at']);
    expect(await list('gamma', `?state=all&since=${since}`)).toEqual(['G5', 'G4']);
    expect(await list('gamma', `?state=all&before=${since}&limit=1`)).toEqual(['G4']);
  });

  it('shows only the unit that its reader may read', async () => {
    await scene.sql.run`update :schema.repositories set has_issues = false where name = 'gamma'`;
    expect(await list('gamma', '?state=all')).toEqual([]);
    expect(await search('?q=needle&owner=ada&labels=')).toEqual(['A2']);
    await scene.sql.run`update :schema.repositories set has_pulls = false where name = 'gamma'`;
    expect((await ask('/repos/ada/gamma/issues', ada)).status).toBe(404);
    await scene.sql
      .run`update :schema.repositories set has_issues = true, has_pulls = true where name = 'gamma'`;
  });
});

describe('what is searched for is found at once, and exactly', () => {
  const TEXTS = [
    'Straße and ÄRGER',
    'straße',
    'under_score 100% \\ back',
    "it's a quote; drop table",
    'foo.bar-baz',
    'foo bar baz',
    'CamelCaseWord',
    `token ${'x'.repeat(70)}y`,
    'ΟΔΟΣ οδος',
    'line one\nline two',
    '日本語のテキスト',
    'emoji 🚀 launch',
    '->',
    'a',
    '',
  ];
  const KEYWORDS = [
    'strasse',
    'STRASSE',
    'straße',
    'STRAßE',
    'ärg',
    'r_s',
    '100%',
    '\\',
    "it's",
    'foo.bar',
    'oo.ba',
    'oo b',
    'bar baz',
    'r-b',
    'case',
    'xxxx',
    `${'x'.repeat(68)}Y`,
    'οδοσ',
    'ΟΔΟς',
    'one line',
    'one\nline',
    '本語',
    '🚀',
    '->',
    '>',
    'a',
    'e',
    '%',
    '_',
    'foo.',
    '.bar',
    ' ',
    'foo  bar',
    'quote;',
    '12',
    '#1',
  ];
  /** What the database itself says, text by text. */
  const expected = async (repo: string, keyword: string): Promise<number[]> => {
    const rows = await scene.sql.rows<{ number: number }>`
      select i.number from :schema.issues i join :schema.repositories r on r.id = i.repository_id
      where r.name = ${repo} and (
        position(:schema.fold(${keyword}) in :schema.fold(i.title)) > 0
        or position(:schema.fold(${keyword}) in :schema.fold(i.body)) > 0
        or exists (select from :schema.comments c where c.issue_id = i.id and c.kind = 'comment'
          and position(:schema.fold(${keyword}) in :schema.fold(c.body)) > 0)
        or i.number::text = ltrim(${keyword}, '#'))
      order by i.created_at desc, i.id desc`;
    return rows.map(({ number }) => number);
  };
  const compare = async (repo: string) => {
    for (const keyword of KEYWORDS) {
      if (keyword.trim() === '') continue;
      const path = `/repos/ada/${repo}/issues?state=all&limit=50&q=${encodeURIComponent(keyword)}`;
      const reply = await ask(path, ada);
      const wanted = await expected(repo, keyword.trim());
      expect([keyword, reply.items.map(({ number }) => number)]).toEqual([keyword, wanted]);
      expect(reply.headers.get('x-total-count')).toBe(String(wanted.length));
      const found = await ask(
        `/repos/issues/search?state=all&limit=50&q=${encodeURIComponent(keyword)}&owner=ada`,
        ada,
      );
      const here = found.items.filter((item) => (item['repository'] as { name: string }).name === repo);
      expect([keyword, here.map(({ number }) => number)]).toEqual([keyword, wanted]);
    }
  };

  it('through every way a text comes, changes and goes', async () => {
    await ada.call('POST', '/user/repos', { name: 'texts' });
    for (const body of TEXTS) await issue('texts', { title: 'Text', body });
    await compare('texts');
    for (let step = 0; step < 40; step++) {
      const text = TEXTS[(step * 7) % TEXTS.length] ?? '';
      const number = 1 + ((step * 5) % TEXTS.length);
      const at = `/repos/ada/texts/issues/${number}`;
      if (step % 4 === 0) await comment('texts', number, text);
      else if (step % 4 === 1) await ada.call('PATCH', at, { body: text });
      else if (step % 4 === 2) {
        await scene.sql.run`
          update :schema.comments set body = ${text} where id = (select min(id) from :schema.comments where kind = 'comment')`;
      } else {
        await scene.sql.run`
          delete from :schema.comments where id = (select min(id) from :schema.comments where kind = 'comment')`;
      }
    }
    await compare('texts');
    await ada.call('DELETE', '/repos/ada/texts/issues/2');
    await ada.call('DELETE', '/repos/ada/texts/issues/9');
    await compare('texts');
    // Made anew from the texts, the index is the same.
    await scene.sql.run`select :schema.rebuild_issue_search()`;
    await compare('texts');
  });

  it('also without the trigram indexes', async () => {
    await scene.sql.script('drop extension if exists pg_trgm cascade');
    await compare('texts');
  });

  it('whatever is too long for the index is read', async () => {
    const words = Array.from({ length: 20_001 }, (_, index) => `w${index}q`).join(' ');
    const number = await issue('texts', { title: 'Long', body: `${words} LastWord` });
    expect(await list('texts', '?q=lastword')).toEqual(['Long']);
    expect(await list('texts', '?q=w777q')).toEqual(['Long']);
    await ada.call('PATCH', `/repos/ada/texts/issues/${number}`, { body: 'short' });
    expect(await list('texts', '?q=lastword')).toEqual([]);
  });

  it('bits, labels and counters of milestones stay what the rows say', async () => {
    const rebuilt = async () => {
      const dump = () =>
        Promise.all([
          scene.sql
            .rows`select b.repository_id, b.block, b.present, b.closed, b.pulls from :schema.issue_blocks b
            where present <> 0 order by 1, 2`,
          scene.sql.rows`select l.label_id, b.repository_id, b.block, l.bits from :schema.label_blocks l
            join :schema.issue_blocks b on b.id = l.block_id where l.bits <> 0 order by 1, 2, 3`,
          scene.sql
            .rows`select s.word, b.repository_id, b.block, w.bits & b.present as bits from :schema.word_blocks w
            join :schema.search_words s on s.id = w.word_id join :schema.issue_blocks b on b.id = w.block_id
            where w.bits & b.present <> 0 order by 1, 2, 3`,
          scene.sql.rows`select id, open_issues, closed_issues from :schema.milestones order by id`,
        ]);
      const before = await dump();
      await scene.sql.run`select :schema.rebuild_issue_search()`;
      return [before, await dump()];
    };
    const [before, after] = await rebuilt();
    expect(after).toEqual(before);
  });

  it('found by everybody at once who writes the same words', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? ada : bob).call(
          'POST',
          `/repos/ada/${index % 3 === 0 ? 'texts' : 'alpha'}/issues`,
          {
            title: `zulu yankee xray whiskey ${index}`,
            body: 'whiskey xray yankee zulu',
          },
        ),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect((await ask('/repos/issues/search?q=yankee', ada)).headers.get('x-total-count')).toBe('20');
    const edits = await Promise.all(
      replies.flatMap(({ body }, index) => {
        const repo = index % 3 === 0 ? 'texts' : 'alpha';
        return [
          ada.call('PATCH', `/repos/ada/${repo}/issues/${body.number}`, { title: 'victor' }),
          ada.call('PATCH', `/repos/ada/${repo}/issues/${body.number}`, { body: 'uniform' }),
        ];
      }),
    );
    expect(edits.every(({ status }) => status === 201)).toBe(true);
    expect((await ask('/repos/issues/search?q=yankee', ada)).headers.get('x-total-count')).toBe('0');
    expect((await ask('/repos/issues/search?q=victor', ada)).headers.get('x-total-count')).toBe('20');
  });
});
