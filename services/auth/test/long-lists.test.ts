import { expect, test } from 'vitest';
import * as auditLog from '../src/store/audit-log.ts';
import { type Subject, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';

// Lists so long that their number is estimated: from what the database knew of the table a while ago.

/** Rows, of which the database knows the first only. */
async function fill(on: Subject, table: 'users' | 'audit_log_entries', known: number, more: number) {
  const tx = on.rows.autocommit();
  await tx.script(`alter table auth.${table} set (autovacuum_enabled = false)`);
  const insert = async (from: number, to: number) => {
    if (table === 'users') {
      await tx.run`
        insert into :schema.users (id, email, created_at, updated_at)
        select gen_random_uuid(), 'user' || n || '@many.example', to_timestamp(n), to_timestamp(n)
        from generate_series(${from}::int, ${to}::int) n`;
    } else {
      // One a minute, the last of them now.
      await tx.run`
        insert into :schema.audit_log_entries (payload, ip_address, created_at)
        select json_build_object('action', 'login', 'actor_username', 'user' || n), '',
          ${on.clock.now()}::timestamptz - make_interval(mins => ${known + more}::int - n)
        from generate_series(${from}::int, ${to}::int) n`;
    }
  };
  await insert(1, known);
  await tx.script(`vacuum analyze auth.${table}`);
  await insert(known + 1, known + more);
}

/** Every page of a list, from the first to that without a next one. */
async function walk(on: Subject, path: string) {
  const pages: { rows: { id: string }[]; total: number; last: number }[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, text, headers } = await on.get(next, serviceRole(on));
    expect(status).toBe(200);
    const body = JSON.parse(text) as { id: string }[] | { users: { id: string }[] };
    const link = String(headers['link']);
    const last = Number(/page=(\d+)[^>]*>; rel="last"/.exec(link)?.[1]);
    pages.push({
      rows: Array.isArray(body) ? body : body.users,
      total: Number(headers['x-total-count']),
      last,
    });
    next = /<([^>]*)>; rel="next"/.exec(link)?.[1];
  }
  return pages;
}

const everyId = async (on: Subject, table: string) => {
  const rows = await on.rows.autocommit().rows<{ id: string }>`
    select u.id from :schema.users u where ${table} = 'users'
    union all select e.id from :schema.audit_log_entries e where ${table} <> 'users'`;
  return rows.map(({ id }) => id).sort();
};

test('users: whoever follows the links meets everybody once, also those who came since they were counted', async () => {
  await using on = await startSubject();
  await fill(on, 'users', 12_000, 1_500);
  const everybody = await everyId(on, 'users');
  for (const sort of ['desc', 'asc']) {
    const pages = await walk(on, `/admin/users?per_page=4000&sort=created_at+${sort}`);
    expect(pages.map(({ rows }) => rows.length)).toEqual([4000, 4000, 4000, 1500]);
    expect(pages.flatMap(({ rows }) => rows.map(({ id }) => id)).sort()).toEqual(everybody);
    expect(pages.map(({ total }) => total)).toEqual([12_000, 12_000, 12_001, 13_500]);
    expect(pages.map(({ last }) => last)).toEqual([3, 3, 4, 4]);
  }
});

test('users: the list ends where they do, also when many are gone since they were counted', async () => {
  await using on = await startSubject();
  await fill(on, 'users', 12_000, 0);
  await on.rows.autocommit().run`delete from :schema.users where created_at > to_timestamp(8000)`;
  const pages = await walk(on, '/admin/users?per_page=4000');
  expect(pages.map(({ rows }) => rows.length)).toEqual([4000, 4000, 0]);
  expect(pages.map(({ total, last }) => [total, last])).toEqual([
    [12_000, 3],
    [12_000, 3],
    [8_000, 2],
  ]);
});

test('the audit log: every entry once, newest first', async () => {
  await using on = await startSubject();
  await fill(on, 'audit_log_entries', 12_000, 1_500);
  const pages = await walk(on, '/admin/audit?per_page=4000');
  expect(pages.map(({ rows }) => rows.length)).toEqual([4000, 4000, 4000, 1500]);
  const entries = pages.flatMap(({ rows }) => rows as { id: string; created_at: string }[]);
  expect(entries.map(({ id }) => id).sort()).toEqual(await everyId(on, 'audit_log_entries'));
  const times = entries.map(({ created_at }) => Date.parse(created_at));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  // Searched, it is counted.
  const { headers } = await on.get('/admin/audit?per_page=1&query=action:login', serviceRole(on));
  expect(headers['x-total-count']).toBe('13500');
});

test('the audit log: what is new is read without what is old', async () => {
  await using on = await startSubject();
  await fill(on, 'audit_log_entries', 60_000, 0);
  const { entries, read } = await on.context.database.transaction(async (tx) => {
    const { entries } = await auditLog.listNewest(tx, { page: 1, perPage: 50 });
    const row = await tx.row<{ read: number }>`
      select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
      where relid = 'auth.audit_log_entries'::regclass`;
    return { entries, read: row?.read };
  });
  expect(entries[0]).toMatchObject({ payload: { actor_username: 'user60000' } });
  expect(entries).toHaveLength(50);
  expect(read).toBeLessThan(30_000);
});

test('users with large metadata: a page is never more than fits into memory, and nobody is left out', async () => {
  await using on = await startSubject();
  // As large as it may be, in the account and in its identity.
  await on.rows.autocommit().run`
    with made as (
      insert into :schema.users (id, email, created_at, updated_at, raw_user_meta_data)
      select gen_random_uuid(), 'user' || n || '@large.example', to_timestamp(n), to_timestamp(n),
        jsonb_build_object('text', repeat('x', 524000))
      from generate_series(1, 140) n
      returning id, raw_user_meta_data)
    insert into :schema.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
    select id, id, raw_user_meta_data, 'email', now(), now(), now() from made`;
  const everybody = await everyId(on, 'users');
  const ids = (text: string) => (JSON.parse(text) as { users: { id: string }[] }).users.map(({ id }) => id);

  const pages = await walk(on, '/admin/users');
  expect(pages.map(({ rows }) => rows.length)).toEqual([50, 50, 40]);
  expect(pages.flatMap(({ rows }) => rows.map(({ id }) => id)).sort()).toEqual(everybody);

  for (const query of ['', '&sort=created_at+asc', '&filter=large', '&filter=large&sort=created_at+asc']) {
    const { status, body } = await on.get(`/admin/users?per_page=1000${query}`, serviceRole(on));
    expect([status, body['error_code']]).toEqual([400, 'validation_failed']);
  }

  const met: string[] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const { status, text } = await on.get(`/admin/users?limit=1000&cursor=${next}`, serviceRole(on));
    expect(status).toBe(200);
    expect(text.length).toBeLessThan(65 * 1024 * 1024);
    met.push(...ids(text));
    next = (JSON.parse(text) as { pagination: { next_cursor?: string } }).pagination.next_cursor;
  }
  expect(met.sort()).toEqual(everybody);
}, 180_000);
