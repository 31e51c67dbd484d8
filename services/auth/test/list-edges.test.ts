import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Subject, startSubject } from './harness.ts';
import { madeUser, serviceRole } from './support/administrators.ts';

// Pages no list has, and numbers that are none.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
  for (let i = 0; i < 4; i++) {
    subject.clock.advance(1000);
    await madeUser(subject);
  }
});
afterAll(() => subject[Symbol.asyncDispose]());

const get = (path: string) => subject.get(path, serviceRole(subject));

describe.each([
  ['/admin/users', (body: unknown) => (body as { users: object[] }).users.length],
  // Four entries as well: one for each of the users.
  ['/admin/audit', (body: unknown) => (body as object[]).length],
] as const)('%s', (path, count) => {
  const link = (page: number, perPage: number, rel: string, more = '') =>
    `<${path}?page=${page}&per_page=${perPage}${more}>; rel="${rel}"`;

  test.each([
    ['page=1&per_page=4', 4, link(1, 4, 'last')],
    ['page=1&per_page=3', 3, `${link(2, 3, 'next')}, ${link(2, 3, 'last')}`],
    ['page=2&per_page=3', 1, link(2, 3, 'last')],
    ['page=3&per_page=3', 0, link(2, 3, 'last')],
    ['page=10001', 0, link(1, 50, 'last')],
    ['page=999999999999999', 0, link(1, 50, 'last')],
    ['page=999999999999999&per_page=999999999999999', 0, link(1, 10_000, 'last')],
    ['per_page=10000', 4, link(1, 10_000, 'last')],
    ['per_page=10001', 4, link(1, 10_000, 'last')],
    ['page=0&per_page=0', 4, link(1, 50, 'last')],
    ['page=&per_page=', 4, link(1, 50, 'last')],
    ['page=01&per_page=0004', 4, link(1, 4, 'last')],
    ['page=1&page=2&per_page=4&per_page=x', 4, link(1, 4, 'last')],
  ])('%s', async (query, found, links) => {
    const answer = await get(`${path}?${query}`);
    expect([
      answer.status,
      count(answer.body),
      answer.headers['x-total-count'],
      answer.headers['link'],
    ]).toEqual([200, found, '4', links]);
  });

  test.each(
    [
      '-1',
      '+1',
      '1e3',
      '0x10',
      '1.0',
      '1_000',
      'NaN',
      'Infinity',
      ' 1',
      '١',
      '1\0',
      '1234567890123456',
      'x'.repeat(5000),
      '%',
      '[1]',
      'null',
    ].flatMap((value) => ['page', 'per_page'].map((name) => [name, value] as const)),
  )('%s=%j → 400 validation_failed', async (name, value) => {
    const answer = await get(`${path}?${name}=${encodeURIComponent(value)}`);
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'validation_failed']);
    const msg = String(answer.body['msg']);
    expect(msg).toMatch(/^Bad Pagination Parameters: /);
    expect(msg.length).toBeLessThan(120);
    expect(answer.headers['x-total-count']).toBeUndefined();
  });
});

test.each([
  'limit=-1',
  'limit=1e3',
  'limit=1.5',
  'limit=99999999999999999999',
  `cursor=${'A'.repeat(100_000)}`,
  'cursor=%00',
  'cursor=%ED%A0%80',
])('GET /admin/users?%s → 400 validation_failed', async (query) => {
  const answer = await get(`/admin/users?${query}`);
  expect([answer.status, answer.body['error_code']]).toEqual([400, 'validation_failed']);
});

test.each([
  'limit=',
  'limit=0',
  'limit=10000',
  'limit=999999999999999',
  'cursor=',
  'limit=4&page=x&per_page=-1',
])('GET /admin/users?%s: everybody', async (query) => {
  const answer = await get(`/admin/users?${query}`);
  expect([answer.status, (answer.body['users'] as object[]).length, answer.body['pagination']]).toEqual([
    200,
    4,
    { has_more: false },
  ]);
});

test.each([
  '/admin/users?filter=%ED%A0%80',
  `/admin/users?filter=${'%25'.repeat(3000)}`,
  `/admin/users?filter=${'_\\'.repeat(3000)}&sort=created_at+asc`,
  '/admin/audit?query=action:%ED%A0%80',
  `/admin/audit?query=author:${'%25_'.repeat(3000)}`,
])('%s finds nobody', async (path) => {
  const answer = await get(path);
  expect([answer.status, answer.headers['x-total-count']]).toEqual([200, '0']);
  expect(answer.headers['link']).toMatch(/^<[\x21-\x7e]+>; rel="last"$/);
});
