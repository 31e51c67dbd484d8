import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase, type Tx } from '@croft/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../src/context.ts';
import { forgeSettings } from '../src/index.ts';
import { listIssues } from '../src/issues/list-issues.ts';
import { Links } from '../src/links.ts';
import { sweepWords } from '../src/maintenance/maintain-repositories.ts';
import { abandonRepository } from '../src/repositories/create-repository.ts';
import { type Person, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let bob: Person;
let database: Database;
beforeAll(async () => {
  [ada, bob] = [scene.person('ada'), scene.person('bob')];
  await bob.call('GET', '/user');
  await ada.call('POST', '/user/repos', { name: 'tools' });
  await ada.call('POST', '/user/repos', { name: 'secret', private: true });
  database = openDatabase({ url: scene.databaseUrl, schema: 'forge', log: silentLog });
});
afterAll(() => database.close());

const never = new AbortController().signal;
const issue = async (repository: string, body: string) =>
  (await ada.call('POST', `/repos/ada/${repository}/issues`, { title: 'Issue', body })).body.number;
const list = (who: Person, query: string) => who.call('GET', `/repos/ada/tools/issues${query}`);
const known = async (...words: string[]) =>
  (
    await scene.sql.rows<{ word: string }>`
      select word from :schema.search_words where word = any(${words}) order by word`
  ).map(({ word }) => word);
const counted = () => scene.sql.row`
  select (select count(*) from :schema.issues) as issues, (select count(*) from :schema.comments) as comments,
    (select count(*) from :schema.search_words) as words`;
/** Does something in a transaction that stays open until its end is asked for. */
async function held(work: (tx: Tx) => Promise<void>) {
  const done = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const holding = database.transaction(async (tx) => {
    await work(tx);
    done.resolve();
    await free.promise;
  });
  await Promise.race([done.promise, holding]);
  const end = async () => {
    free.resolve();
    await holding;
  };
  return { end, [Symbol.asyncDispose]: end };
}
/** Goes through the whole vocabulary. */
async function sweep(): Promise<void> {
  for (let place = await sweepWords({ database }, 0, never); place !== 0; )
    place = await sweepWords({ database }, place, never);
}

/** Tables with so few rows that they are read as a whole. */
const UNINDEXED: Readonly<Record<string, string>> = {
  'forge.merges(merged_by)': 'merges under way',
  'forge.pushes(actor_id)': 'pushes under way',
  'forge.pushes(repository_id)': 'pushes under way',
  'forge.repository_transfers(doer_id)': 'transfers that wait for an answer',
  'forge.repository_transfers(recipient_id)': 'transfers that wait for an answer',
};

it('what refers to a row is found by an index when the row goes', async () => {
  const missing = await scene.sql.rows<{ name: string }>`
    select c.conrelid::regclass::text || '(' || (select string_agg(a.attname, ',' order by k.place)
        from unnest(c.conkey) with ordinality as k (number, place)
          join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number) || ')' as name
    from pg_constraint c where c.contype = 'f' and c.connamespace = 'forge'::regnamespace
      and not exists (select from pg_index i where i.indrelid = c.conrelid and i.indisvalid
        and (i.indkey::smallint[])[0:cardinality(c.conkey) - 1] @> c.conkey)
    order by 1`;
  expect(missing.map(({ name }) => name)).toEqual(Object.keys(UNINDEXED).sort());
});

describe('searching', () => {
  it('refuses keywords that are too long or have too many words', async () => {
    await issue('tools', 'one two');
    const before = await counted();
    for (const keyword of ['x'.repeat(201), '🚀'.repeat(201), 'a '.repeat(11), 'a,'.repeat(40)]) {
      const q = encodeURIComponent(keyword);
      for (const path of [`/repos/ada/tools/issues?q=${q}`, `/repos/issues/search?q=${q}`]) {
        const reply = await bob.call('GET', path);
        expect(reply.status).toBe(422);
        expect(reply.body.message).toMatch(/^\[Q\]: Max(Size\(200\)|Words\(10\))$/);
      }
    }
    expect((await list(bob, `?q=${'x'.repeat(200)}`)).status).toBe(200);
    expect((await list(bob, '?q=one%20two')).items).toHaveLength(1);
    expect(await counted()).toEqual(before);
  });

  it('waits in a line that ends, and everything else is served meanwhile', async () => {
    const before = await counted();
    await using holder = await held((tx) =>
      tx.script('lock table forge.search_words in access exclusive mode'),
    );
    let refused = 0;
    const asked = Array.from({ length: 40 }, async () => {
      const reply = await list(ada, '?q=one');
      if (reply.status === 503) refused++;
      return reply;
    });
    await expect.poll(() => refused).toBe(30);
    const others = await Promise.all([
      list(bob, ''),
      list(ada, '?state=all'),
      bob.call('GET', '/repos/ada/tools'),
    ]);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
    // What one person asks for does not take the places of others.
    const his = list(bob, '?q=two');
    await holder.end();
    expect((await his).items).toHaveLength(1);
    const replies = await Promise.all(asked);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    const no = replies.find(({ status }) => status === 503);
    expect(no?.headers.get('retry-after')).toBe('5');
    expect(no?.body.message).toBe('too many searches at once');
    expect(await counted()).toEqual(before);
  });

  it('says so when the database gives it up', async () => {
    const hurried = openDatabase({
      url: scene.databaseUrl,
      schema: 'forge',
      log: silentLog,
      statementTimeoutMs: 500,
    });
    const context = {
      settings: readSettings(forgeSettings, {}),
      database: hurried,
      links: new Links(scene.address),
    } as unknown as Context;
    try {
      await using holder = await held((tx) =>
        tx.script('lock table forge.search_words in access exclusive mode'),
      );
      const asked = listIssues(context, undefined, { owner: 'ada', repo: 'tools' }, { q: 'one' });
      await expect(asked).rejects.toMatchObject({
        kind: 'unavailable',
        code: 'search_too_wide',
        message: 'the search took too long, please use a longer word',
      });
      await holder.end();
      const listed = await listIssues(context, undefined, { owner: 'ada', repo: 'tools' }, { q: 'one' });
      expect(listed.total).toBe(1);
    } finally {
      await hurried.close();
    }
  });

  it('for almost everything leaves others their turn', async () => {
    await scene.sql.run`
      insert into :schema.issues (repository_id, number, title, body, poster_id, is_pull, created_at, updated_at)
      select r.id, 1000 + n, 'Filled ' || n, repeat('a, b, c: ' || n || ' ', 100), r.owner_id, false, now(), now()
      from :schema.repositories r, generate_series(1, 3000) n where r.name = 'tools'`;
    const wide = Array.from({ length: 10 }, (_, n) => list(ada, `?q=${['%2C', 'a', 'e', '%3A'][n % 4]}`));
    const started = performance.now();
    expect((await list(bob, '?limit=5')).items).toHaveLength(5);
    expect((await bob.call('GET', '/repos/ada/tools/issues/1')).status).toBe(200);
    expect((await list(bob, '?q=one%20two')).items).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect((await Promise.all(wide)).map(({ status }) => status)).toEqual(Array(10).fill(200));
  });
});

describe('a phrase', () => {
  it('is found alike by reading what has its words and by the trigrams of all texts', async () => {
    // As numbers, since bits of one block may come in several rows.
    const hits = (phrase: string, blocks: string) => scene.sql.rows`
      select distinct h.block_id, g.place from :schema.keyword_hits(${phrase},
          case when ${blocks} = 'each' then array(select id from :schema.issue_blocks) end) h,
        generate_series(0, 63) g (place)
      where h.bits >> g.place & 1 = 1 order by 1, 2`;
    // The first ones are in more than 2,000 issues.
    for (const phrase of ['a, b', ', c: ', ': 30', 'one two', 'b, c: 299', 'c: 2999 a', 'b, b']) {
      const read = await hits(phrase, 'each');
      expect([phrase, await hits(phrase, 'any')]).toEqual([phrase, read]);
      expect(read.length > 0).toBe(phrase !== 'b, b');
    }
  });
});

describe('words of texts that are gone', () => {
  it('go when an issue, a comment or a repository does, and those of others stay', async () => {
    const number = await issue('secret', 'titleword shared');
    await issue('tools', 'shared staying');
    await ada.call('POST', `/repos/ada/secret/issues/${number}/comments`, { body: 'commentword shared' });
    const other = await issue('secret', 'neighbour');
    const comment = await ada.call('POST', `/repos/ada/secret/issues/${other}/comments`, {
      body: 'takenback',
    });
    const all = ['commentword', 'neighbour', 'shared', 'staying', 'takenback', 'titleword'];
    await sweep();
    expect(await known(...all)).toEqual(all);
    await ada.call('DELETE', `/repos/ada/secret/issues/${number}`);
    expect((await ada.call('DELETE', `/repos/ada/secret/issues/comments/${comment.body.id}`)).status).toBe(
      204,
    );
    await sweep();
    expect(await known(...all)).toEqual(['neighbour', 'shared', 'staying']);
    expect((await ada.call('DELETE', '/repos/ada/secret')).status).toBe(204);
    await sweep();
    expect(await known(...all)).toEqual(['shared', 'staying']);
    expect((await list(bob, '?q=staying')).items).toHaveLength(1);
    expect((await list(bob, '?q=share')).items).toHaveLength(1);
    const orphans = await scene.sql.rows`select from :schema.word_blocks w
      where bits = 0 or not exists (select from :schema.issue_blocks b where b.id = w.block_id)
        or not exists (select from :schema.search_words s where s.id = w.word_id)`;
    expect(orphans).toEqual([]);
  });

  it('stay as long as somebody is about to use them', async () => {
    const number = await issue('tools', 'returning');
    await ada.call('DELETE', `/repos/ada/tools/issues/${number}`);
    // Nobody has the word any more, and an issue far away is about to have it again.
    await using writer = await held(async (tx) => {
      await tx.script('set constraints all immediate');
      await tx.run`update :schema.issues set body = 'returning' where number = 1500 and repository_id =
        (select id from :schema.repositories where name = 'tools')`;
    });
    await sweep();
    expect(await known('returning')).toEqual(['returning']);
    await writer.end();
    await sweep();
    expect((await list(bob, '?q=returning')).items).toHaveLength(1);
  });

  it('are not kept one by one for a text with very many', async () => {
    const count = await scene.sql.row<{ count: number }>`select count(*) from :schema.search_words`;
    const words = Array.from({ length: 2_001 }, (_, index) => `many${index}`).join(' ');
    const number = await issue('tools', words);
    expect(await known('many0', 'many2000')).toEqual([]);
    expect((await list(bob, '?q=many1999')).items).toMatchObject([{ number }]);
    const after = await scene.sql.row<{ count: number }>`select count(*) from :schema.search_words`;
    expect((after?.count ?? 0) - (count?.count ?? 0)).toBeLessThan(5);
    await scene.sql.run`select :schema.rebuild_issue_search()`;
    expect(await known('many0', 'many2000')).toEqual([]);
    expect((await list(bob, '?q=many1999')).items).toMatchObject([{ number }]);
  });
});

it('a repository is deleted without a look at the words of its comments', async () => {
  await ada.call('POST', '/user/repos', { name: 'wordy' });
  const made = await ada.call('POST', '/repos/ada/wordy/issues', { title: 'Wordy' });
  await ada.call('POST', `/repos/ada/wordy/issues/${made.body.number}/comments`, { body: 'words' });
  const kept = await scene.sql.row<{ source: string }>`
    select pg_get_functiondef(':schema.index_words'::regproc) as source`;
  await scene.sql.script(`
    create or replace function forge.index_words(text) returns text[] language plpgsql immutable strict parallel safe
    as $$ begin raise exception 'somebody reads %', $1; end $$`);
  try {
    expect((await ada.call('DELETE', '/repos/ada/wordy')).status).toBe(204);
  } finally {
    await scene.sql.script(kept?.source ?? '');
  }
  expect(await scene.sql.rows`select from :schema.repositories where name = 'wordy'`).toEqual([]);
});

it('a repository is deleted however long the database needs for it', async () => {
  const made = await ada.call('POST', '/user/repos', { name: 'huge' });
  await ada.call('POST', '/repos/ada/huge/issues', { title: 'Huge' });
  // As slow as very many comments.
  await scene.sql.script(`
    create function forge.slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return old; end $$;
    create trigger slowly before delete on forge.issues for each row execute function forge.slowly()`);
  const hurried = openDatabase({
    url: scene.databaseUrl,
    schema: 'forge',
    log: silentLog,
    statementTimeoutMs: 300,
  });
  try {
    const context = {
      database: hurried,
      git: { folder: scene.folder, folderOf: () => `${scene.folder}/none`, forget() {} },
    } as unknown as Context;
    await abandonRepository(context, made.body.id);
  } finally {
    await hurried.close();
    await scene.sql.script('drop trigger slowly on forge.issues');
  }
  expect(await scene.sql.rows`select from :schema.repositories where name = 'huge'`).toEqual([]);
});
