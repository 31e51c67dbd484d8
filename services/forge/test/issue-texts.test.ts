import { cp, readdir, rm } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { silentLog } from '@croft/runtime';
import { migrate, openDatabase, type Tx } from '@croft/sql';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { MIGRATIONS, type Person, useForge } from './forge.ts';

// What searches read of issues is kept apart from them, so that what changes of an issue besides costs nothing of it.

const scene = useForge();
const path = '/repos/ada/tools/issues';
let ada: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  await ada.call('POST', '/user/repos', { name: 'tools' });
});

/** A text with nearly as many different parts as characters. */
const varied = (words: number) =>
  Array.from({ length: words }, (_, index) => ((index + 1) * 2_654_435_761).toString(36)).join(' ');
/** Texts as they would be made anew. */
const folded = (tx: Tx) => tx.rows`
  select i.id as issue_id, t.is_title, :schema.fold(case when t.is_title then i.title else i.body end) as text
  from :schema.issues i, (values (false), (true)) t (is_title) order by 1, 2`;
const kept = (tx: Tx) =>
  tx.rows`select issue_id, is_title, text from :schema.issue_texts order by issue_id, is_title`;
const asKept = async () => expect(await kept(scene.sql)).toEqual(await folded(scene.sql));

/** Bytes that the database writes to its log for a change, the second time, as the first one after a checkpoint writes whole pages. */
async function written(change: () => Promise<{ 'QUERY PLAN': unknown }[]>): Promise<number> {
  await change();
  const [row] = await change();
  return JSON.parse(JSON.stringify(row?.['QUERY PLAN']))[0].Plan['WAL Bytes'];
}

describe('the texts of issues', () => {
  it('attack: are not written again with every counter of a long one', async () => {
    const ids: number[] = [];
    for (const body of ['short', varied(70_000)]) {
      const made = await ada.call('POST', path, { title: 'Counted', body });
      expect(made.status).toBe(201);
      ids.push(made.body.id);
    }
    const [short, long] = [await written(() => touch(ids[0])), await written(() => touch(ids[1]))];
    expect({ short, long, isAlike: long < short + 100_000 }).toEqual({ short, long, isAlike: true });
  });

  it('are those of the issues, however these come, change and go', async () => {
    const { number } = (await ada.call('POST', path, { title: 'First ÄRGER', body: 'One' })).body;
    const other = (await ada.call('POST', path, { title: 'Second' })).body.number;
    await asKept();
    await ada.call('PATCH', `${path}/${number}`, { title: 'Third Straße' });
    await ada.call('PATCH', `${path}/${number}`, { body: 'Two' });
    await ada.call('PATCH', `${path}/${other}`, { title: 'Fourth', body: 'Three', state: 'closed' });
    await asKept();
    expect((await ada.call('DELETE', `${path}/${other}`)).status).toBe(204);
    await asKept();
    await ada.call('POST', '/user/repos', { name: 'gone' });
    await ada.call('POST', '/repos/ada/gone/issues', { title: 'Gone' });
    expect((await ada.call('DELETE', '/repos/ada/gone')).status).toBe(204);
    await asKept();
    const before = await kept(scene.sql);
    await scene.sql.run`update :schema.issue_texts set text = 'stale'`;
    await scene.sql.run`select :schema.rebuild_issue_search()`;
    expect(await kept(scene.sql)).toEqual(before);
  });

  it.each([true, false])('are there after an upgrade (trigrams: %s)', async (trigrams) => {
    await using former = await formerly();
    const { tx } = former;
    if (!trigrams) await tx.script('drop extension pg_trgm cascade');
    await tx.script(`
      insert into forge.users (auth_user_id, login, full_name, email, created_at)
        values (gen_random_uuid(), 'ada', '', 'ada@example.test', now());
      insert into forge.repositories (owner_id, name, private, default_branch, state, created_at, updated_at)
        values (1, 'old', false, 'main', 'ready', now(), now());
      insert into forge.issues (repository_id, number, is_pull, poster_id, title, body, created_at, updated_at)
        select 1, n, false, 1, 'Title ' || n, 'Body, of ' || n, now(), now() from generate_series(1, 2500) n`);
    expect((await former.upgrade())[0]).toBe('0038_issue-texts');
    expect(await kept(tx)).toEqual(await folded(tx));
    const indexes = await tx.rows<{ name: string }>`
      select indexname as name from pg_indexes where schemaname = 'forge' and indexname like 'issue%trgm'`;
    expect(indexes.map(({ name }) => name)).toEqual(trigrams ? ['issue_texts_trgm'] : []);
    // In so many that they are found by trigrams, where there are some.
    const found = await tx.row`
      select sum(bit_count(bits::bit(64)))::int as found from :schema.keyword_hits('y, OF', null)`;
    expect(found).toEqual({ found: 2500 });
  });
});

const touch = (id: number | undefined) =>
  scene.sql.rows<{ 'QUERY PLAN': unknown }>`
    explain (analyze, wal, format json)
    update :schema.issues set comments = comments + 1, updated_at = now() where id = ${id}`;

/** A database as it was before the texts had a table. */
async function formerly() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder()).path;
  await cp(fileURLToPath(MIGRATIONS), folder, { recursive: true });
  for (const name of await readdir(folder)) if (name >= '0038') await rm(`${folder}/${name}`);
  const { url } = stack.use(await testDatabase({ schema: 'forge', migrations: pathToFileURL(`${folder}/`) }));
  const database = stack.adopt(openDatabase({ url, schema: 'forge', log: silentLog }), (one) => one.close());
  const held = stack.move();
  return {
    tx: database.autocommit(),
    upgrade: () => migrate(database, MIGRATIONS),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
