import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchUsers } from '../src/store/user-search.ts';
import { type Subject, startSubject } from './harness.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
  const people = [
    ['ada@example.com', 1],
    ['adam@example.org', 2],
    ['grace_hopper@example.com', 3],
    ['gracexhopper@example.com', 4],
    ['100%@example.com', 5],
    ['back\\slash@example.com', 6],
    ['gone@example.com', 7],
  ] as const;
  for (const [email, minute] of people) {
    await subject.rows.autocommit().run`
      insert into :schema.users (id, email, created_at, updated_at, deleted_at)
      values (${randomUUID()}, ${email}, ${new Date(minute * 60_000)}, ${new Date(0)}, ${email.startsWith('gone') ? new Date(0) : null})`;
  }
});
afterAll(() => subject[Symbol.asyncDispose]());

async function search(fragment: string, page = 1, perPage = 50) {
  const { people, total } = await searchUsers(subject.rows.autocommit(), { fragment, page, perPage });
  return { emails: people.map(({ user }) => user.email?.split('@')[0]), total };
}

it('finds a part of an address in any case, newest first', async () => {
  expect(await search('AdA')).toEqual({ emails: ['adam', 'ada'], total: 2 });
  expect(await search('example.org')).toEqual({ emails: ['adam'], total: 1 });
  expect(await search('a')).toMatchObject({ total: 6 });
  expect(await search('nobody')).toEqual({ emails: [], total: 0 });
});

it('lists everybody page by page, with the total on each', async () => {
  const everybody = ['back\\slash', '100%', 'gracexhopper', 'grace_hopper', 'adam', 'ada'];
  expect(await search('')).toEqual({ emails: everybody, total: 6 });
  expect(await search('', 2, 4)).toEqual({ emails: everybody.slice(4), total: 6 });
  expect(await search('', 3, 4)).toEqual({ emails: [], total: 6 });
  expect(await search('example', 2, 4)).toEqual({ emails: everybody.slice(4), total: 6 });
});

it('takes signs of a pattern as they are', async () => {
  expect(await search('grace_h')).toEqual({ emails: ['grace_hopper'], total: 1 });
  expect(await search('100%')).toEqual({ emails: ['100%'], total: 1 });
  expect(await search('%')).toEqual({ emails: ['100%'], total: 1 });
  expect(await search('k\\s')).toEqual({ emails: ['back\\slash'], total: 1 });
  expect(await search('\\')).toEqual({ emails: ['back\\slash'], total: 1 });
  expect(await search("'; drop table users; --")).toEqual({ emails: [], total: 0 });
});

it('among very many finds what few have and what many have, and estimates only the number of the many', async () => {
  await using crowd = await startSubject();
  await crowd.rows.autocommit().run`
    insert into :schema.users (id, email, created_at, updated_at)
    select gen_random_uuid(), case n when 7 then 'lovelace' else 'user' end || n || '@many.example', to_timestamp(n), to_timestamp(n)
    from generate_series(1, 15000) n`;
  await crowd.rows.autocommit().script('analyze auth.users');
  const ask = (fragment: string, page = 1) =>
    searchUsers(crowd.rows.autocommit(), { fragment, page, perPage: 3 });
  const names = async (fragment: string, page?: number) =>
    (await ask(fragment, page)).people.map(({ user }) => user.email?.split('@')[0]);
  expect(await ask('lovelace')).toMatchObject({
    total: 1,
    isExact: true,
    people: [{ user: { email: 'lovelace7@many.example' } }],
  });
  expect(await ask('many.example')).toMatchObject({ total: 15_000, isExact: false });
  expect(await names('many.example')).toEqual(['user15000', 'user14999', 'user14998']);
  expect(await names('many.example', 5000)).toEqual(['user3', 'user2', 'user1']);
  expect(await ask('')).toMatchObject({ total: 15_000, isExact: false });
  expect(await names('', 2)).toEqual(['user14997', 'user14996', 'user14995']);
  expect(await names('user149', 2)).toEqual(['user14996', 'user14995', 'user14994']);
});

it('can ask the index for a part of an address', async () => {
  const plan = await subject.rows.transaction(async (tx) => {
    // Among so few the planner would rather look at all of them.
    await tx.script('set local enable_seqscan = off');
    return await tx.rows<{ 'QUERY PLAN': string }>`
      explain select id, created_at from :schema.users where email like '%c4ca4238a0b9%' and deleted_at is null`;
  });
  expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('users_email_trgm');
});
