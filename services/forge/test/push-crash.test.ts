import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
  // What was announced, kept from the worker that takes it away.
  await scene.sql.run`create table :schema.told (id bigserial, payload jsonb)`;
  await scene.sql.run`
    create function :schema.tell() returns trigger language plpgsql as
    $$ begin execute format('insert into %I.told (payload) values ($1)', tg_table_schema) using new.payload; return new; end $$`;
  await scene.sql.run`
    create trigger tell after insert on :schema.outbox for each row execute function :schema.tell()`;
});

const told = async () =>
  (
    await scene.sql.rows<{ payload: object }>`
      select payload from :schema.told where payload->>'kind' = 'ref' order by id`
  ).map(({ payload }) => payload);

/** What stands in the table of intents when the process dies in the middle. */
async function intend(details: object): Promise<void> {
  await scene.sql.run`
    insert into :schema.pushes (repository_id, actor_id, details, started_at)
    select id, owner_id, ${JSON.stringify(details)}::jsonb, now() from :schema.repositories where name = 'work'`;
}

it('a push that moved its refs before a crash is told of once, and what did not move is not', async () => {
  const before = await git(bare, 'rev-parse', 'main');
  const after = await commit(tree, { 'a.txt': 'a' }, 'a');
  await scene.sql.run`delete from :schema.told`;
  await scene.restart(async () => {
    await git(tree, 'push', '-q', bare, 'main', 'main:refs/staged/7/0');
    await intend({
      moves: [
        { ref: 'refs/heads/main', before, after },
        { ref: 'refs/heads/never', before: '0'.repeat(40), after },
      ],
    });
  });
  expect(await told()).toMatchObject([{ kind: 'ref', ref: 'refs/heads/main', before, after }]);
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  expect(await git(bare, 'for-each-ref', '--format=%(refname)', 'refs/staged')).toBe('');
  await scene.restart();
  expect(await told()).toHaveLength(1);
});

it('branches of a push that a crash interrupted are counted', async () => {
  const count = async () => (await ada.call('GET', '/repos/ada/work')).body['branch_count'];
  expect(await count()).toBe(1);
  const after = await git(bare, 'rev-parse', 'main');
  const move = { ref: 'refs/heads/spare', before: '0'.repeat(40), after };
  await scene.restart(async () => {
    await git(bare, 'branch', 'spare', 'main');
    await intend({ moves: [move] });
  });
  expect(await count()).toBe(2);
  await scene.restart(async () => {
    await git(bare, 'branch', '-D', 'spare');
    await intend({ moves: [{ ...move, before: after, after: move.before }] });
  });
  expect(await count()).toBe(1);
});

it('a rename that a crash interrupted is finished where the branches have moved, and forgotten where not', async () => {
  const tip = await git(bare, 'rev-parse', 'main');
  const moves = (from: string, to: string) => [
    { ref: `refs/heads/${to}`, before: '0'.repeat(40), after: tip },
    { ref: `refs/heads/${from}`, before: tip, after: '0'.repeat(40) },
  ];
  await scene.restart(async () => {
    await intend({ moves: moves('main', 'other'), renamed: { from: 'main', to: 'other' } });
  });
  expect((await ada.call('GET', '/repos/ada/work')).body).toMatchObject({ default_branch: 'main' });
  await scene.restart(async () => {
    await git(bare, 'branch', '-m', 'main', 'trunk');
    await intend({ moves: moves('main', 'trunk'), renamed: { from: 'main', to: 'trunk' } });
  });
  expect((await ada.call('GET', '/repos/ada/work')).body).toMatchObject({ default_branch: 'trunk' });
  expect(await git(bare, 'symbolic-ref', 'HEAD')).toBe('refs/heads/trunk');
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
});

it('a push that moved more refs than a call takes arguments is told of whole', {
  timeout: 180_000,
}, async () => {
  const before = await git(bare, 'rev-parse', 'HEAD');
  const gone = '0'.repeat(40);
  const count = 200_000;
  await scene.sql.run`delete from :schema.told`;
  // It is enough that they are told: nobody need work through so many.
  await scene.sql.run`drop trigger tell on :schema.outbox`;
  await scene.sql.run`
    create function :schema.divert() returns trigger language plpgsql as
    $$ begin execute format('insert into %I.told (payload) values ($1)', tg_table_schema) using new.payload; return null; end $$`;
  await scene.restart(async () => {
    await scene.sql.run`
      create trigger divert before insert on :schema.outbox for each row execute function :schema.divert()`;
    await intend({
      moves: Array.from({ length: count }, (_, index) => ({
        ref: `refs/tags/${index}`,
        before,
        after: gone,
      })),
    });
  });
  expect(await scene.sql.rows`select id from :schema.pushes`).toEqual([]);
  const row = await scene.sql.row<{ count: number; ordered: boolean }>`
    select count(*)::int as count, bool_and(payload->>'ref' = 'refs/tags/' || place) as ordered
    from (select payload, row_number() over (order by id) - 1 as place from :schema.told) as all_of_them`;
  expect(row).toEqual({ count, ordered: true });
});
