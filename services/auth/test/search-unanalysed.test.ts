import { expect, it } from 'vitest';
import { searchUsers } from '../src/store/user-search.ts';
import { startSubject } from './harness.ts';

it('the total of a table that was never analysed, as after a restore, is counted', async () => {
  await using restored = await startSubject();
  const tx = restored.rows.autocommit();
  await tx.script('alter table auth.users set (autovacuum_enabled = false)');
  await tx.run`
    insert into :schema.users (id, email, created_at, updated_at)
    select gen_random_uuid(), 'user' || n || '@many.example', to_timestamp(n), to_timestamp(n)
    from generate_series(1, 3000) n`;
  expect(await tx.row`select reltuples from pg_class where oid = 'auth.users'::regclass`).toEqual({
    reltuples: -1,
  });
  for (const fragment of ['', 'user']) {
    const { people, total } = await searchUsers(tx, { fragment, page: 1, perPage: 50 });
    expect([people.length, total]).toEqual([50, 3000]);
  }
});
