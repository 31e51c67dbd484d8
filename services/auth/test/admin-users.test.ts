import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  confirmedUser,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { madeUser, serviceRole, signIn } from './support/administrators.ts';

// Lists, deletion and sign-out by administrators, as admin clients call them.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

const get = (path: string) => subject.get(path, serviceRole(subject));
const remove = (id: unknown, body?: object) =>
  subject.send(
    'DELETE',
    `/admin/users/${String(id)}`,
    body === undefined ? undefined : JSON.stringify(body),
    serviceRole(subject),
  );
const usersIn = (answer: Answer) =>
  answer.body['users'] as { id: string; email: string; identities: object[] }[];
const emailsIn = (answer: Answer) => usersIn(answer).map(({ email }) => email);

describe('GET /admin/users', () => {
  const mark = randomUUID().slice(0, 8);
  const emails = Array.from({ length: 7 }, (_, index) => `u${index}-${mark}@example.com`);
  const newest = emails.toReversed();
  beforeAll(async () => {
    for (const email of emails) {
      subject.clock.advance(1000);
      await madeUser(subject, { email });
    }
  });

  test('pages, newest first, with totals and links as clients read them', async () => {
    const first = await get(`/admin/users?per_page=3&filter=${mark}`);
    expect([first.status, emailsIn(first)]).toEqual([200, newest.slice(0, 3)]);
    expect(first.body['aud']).toBe('authenticated');
    expect(usersIn(first)[0]?.identities).toMatchObject([
      { provider: 'email', identity_data: { email: newest[0] } },
    ]);
    expect([first.headers['x-total-count'], first.headers['link']]).toEqual([
      '7',
      `</admin/users?page=2&per_page=3&filter=${mark}>; rel="next", </admin/users?page=3&per_page=3&filter=${mark}>; rel="last"`,
    ]);
    const last = await get(`/admin/users?page=3&per_page=3&filter=${mark.toUpperCase()}`);
    expect(emailsIn(last)).toEqual(newest.slice(6));
    expect(last.headers['link']).toBe(
      `</admin/users?page=3&per_page=3&filter=${mark.toUpperCase()}>; rel="last"`,
    );
    expect(emailsIn(await get(`/admin/users?page=9&filter=${mark}`))).toEqual([]);
    expect(emailsIn(await get('/admin/users?per_page=2'))).toEqual(newest.slice(0, 2));
    expect(emailsIn(await get(`/admin/users?filter=${encodeURIComponent('%_')}`))).toEqual([]);
  });

  test('whoever follows the links reads the list that was asked for, in its order', async () => {
    const found: string[] = [];
    let path: string | undefined = `/admin/users?per_page=3&sort=created_at+asc&filter=${mark}`;
    for (let pages = 0; path !== undefined && pages < 5; pages++) {
      const page: Answer = await get(path);
      found.push(...(emailsIn(page) as string[]));
      path = /^<([^>]+)>; rel="next"/.exec(String(page.headers['link']))?.[1];
    }
    expect(found).toEqual(newest.toReversed());
    const odd = await get(`/admin/users?per_page=3&filter=${encodeURIComponent('>; rel="next", <x\r\n&')}`);
    expect(odd.headers['link']).toMatch(/^<[^<>"\s]+>; rel="last"$/);
  });

  test('a part with U+0000 in it, which no text of the database has, is refused', async () => {
    const refusal = { error_code: 'validation_failed', msg: 'a text cannot contain the character U+0000' };
    for (const path of ['/admin/users?filter=u%00', '/admin/audit?query=author:u%00']) {
      const answer = await get(path);
      expect([path, answer.status, answer.body]).toEqual([path, 400, { code: 400, ...refusal }]);
    }
  });

  test('oldest first', async () => {
    const filtered = await get(
      `/admin/users?per_page=4&sort=${encodeURIComponent('created_at asc')}&filter=${mark}`,
    );
    expect(emailsIn(filtered)).toEqual(emails.slice(0, 4));
    await using other = await startSubject();
    for (const email of emails) {
      other.clock.advance(1000);
      await madeUser(other, { email });
    }
    const path = '/admin/users?page=2&per_page=3&sort=created_at%20asc';
    const all = await other.get(path, serviceRole(other));
    expect([emailsIn(all), all.headers['x-total-count']]).toEqual([emails.slice(3, 6), '7']);
  });

  test('a cursor leaves nobody out and shows nobody twice, whoever signs up meanwhile', async () => {
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const answer = await get(`/admin/users?limit=2&cursor=${cursor}`);
      expect(answer.headers['x-total-count']).toBeUndefined();
      seen.push(...emailsIn(answer));
      const { has_more: more, next_cursor: next } = answer.body['pagination'] as Record<string, unknown>;
      expect(more).toBe(next !== undefined);
      if (typeof next !== 'string') break;
      cursor = next;
      subject.clock.advance(1000);
      if (seen.length < 6) await madeUser(subject);
    }
    expect(seen.filter((email) => email.includes(mark))).toEqual(newest);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('users of the same instant are told apart by their ids', async () => {
    await using other = await startSubject();
    for (const email of emails) await madeUser(other, { email });
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const answer = await other.get(`/admin/users?limit=2&cursor=${cursor}`, serviceRole(other));
      seen.push(...emailsIn(answer));
      const next = (answer.body['pagination'] as Record<string, unknown>)['next_cursor'];
      if (typeof next !== 'string') break;
      cursor = next;
    }
    expect(seen.toSorted()).toEqual(emails);
  });

  test.each([
    'page=x',
    'per_page=-1',
    'sort=email',
    'cursor=x',
    `cursor=${Buffer.from('2026-99-99T00:00:00+00:00 x').toString('base64url')}`,
    // No days of any calendar, though a Date counts on into the next month.
    ...['2026-02-30', '0000-01-01'].map((day) => {
      const text = `${day}T00:00:00+00:00 00000000-0000-4000-8000-000000000000`;
      return `cursor=${Buffer.from(text).toString('base64url')}`;
    }),
    'limit=x',
  ])('%s → 400 validation_failed', async (query) => {
    const answer = await get(`/admin/users?${query}`);
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'validation_failed']);
  });
});

describe('DELETE /admin/users/:user_id', () => {
  test('for good: nothing of the user is left, and the address is free', async () => {
    const email = someone();
    const session = await confirmedUser(subject, email);
    const id = session.body.user?.id;
    const answer = await remove(id, { should_soft_delete: false });
    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect((await get(`/admin/users/${id}`)).status).toBe(404);
    expect((await subject.get('/user', bearer(session))).status).toBe(403);
    const rows = await subject.rows.autocommit().row`
      select count(*) as left from :schema.users where id = ${id}::uuid`;
    expect(rows).toEqual({ left: 0 });
    expect((await subject.audit()).at(-1)).toBe('user_deleted');
    expect((await remove(id)).body).toEqual({
      code: 404,
      error_code: 'user_not_found',
      msg: 'User not found',
    });
    expect((await madeUser(subject, { email })).status).toBe(200);
  });

  test('softly: the row stays and tells nothing of who it was', async () => {
    const email = someone('secret');
    const session = await confirmedUser(subject, email);
    const id = session.body.user?.id;
    await subject.send('PUT', '/user', JSON.stringify({ data: { name: 'Secret Person' } }), bearer(session));
    await subject.post('/magiclink', { email });
    expect((await remove(id, { should_soft_delete: true })).status).toBe(200);
    const [user, identity] = await Promise.all([
      subject.rows.autocommit().row<{ row: object }>`
        select to_jsonb(u) as row from :schema.users u where id = ${id}::uuid`,
      subject.rows.autocommit().row<{ row: object }>`
        select to_jsonb(i) as row from :schema.identities i where user_id = ${id}::uuid`,
    ]);
    expect(user?.row).toMatchObject({
      deleted_at: expect.any(String),
      email: expect.stringMatching(/^[\w-]{43}$/),
      encrypted_password: null,
      raw_user_meta_data: {},
      raw_app_meta_data: {},
    });
    expect(JSON.stringify([user, identity])).not.toMatch(/secret/i);
    const left = await subject.rows.autocommit().row`
      select (select count(*) from :schema.sessions where user_id = ${id}::uuid) as sessions,
        (select count(*) from :schema.one_time_tokens where user_id = ${id}::uuid) as codes`;
    expect(left).toEqual({ sessions: 0, codes: 0 });
    expect((await subject.get('/user', bearer(session))).status).toBe(403);
    expect((await signIn(subject, email)).status).toBe(400);
    expect((await get(`/admin/users/${id}`)).status).toBe(404);
    expect(emailsIn(await get('/admin/users?per_page=1000'))).not.toContain(email);
    // And once more, which changes nothing; the address is free.
    const before = await subject.snapshot();
    const again = await remove(id, { should_soft_delete: true });
    expect([again.status, again.body]).toEqual([200, {}]);
    expect(await subject.snapshot()).toBe(before);
    subject.clock.advance(60_000);
    expect((await subject.post('/signup', { email, password: PASSWORD })).status).toBe(200);
  });

  test('for good after softly: the row goes as well', async () => {
    const id = (await confirmedUser(subject)).body.user?.id;
    await remove(id, { should_soft_delete: true });
    const answer = await remove(id);
    expect([answer.status, answer.body]).toEqual([200, {}]);
    const rows = await subject.rows.autocommit().row`
      select (select count(*) from :schema.users where id = ${id}::uuid) as users,
        (select count(*) from :schema.identities where user_id = ${id}::uuid) as identities`;
    expect(rows).toEqual({ users: 0, identities: 0 });
    expect((await subject.audit()).slice(-2)).toEqual(['user_deleted', 'user_deleted']);
    const before = await subject.snapshot();
    for (const soft of [true, false]) {
      expect((await remove(id, { should_soft_delete: soft })).status).toBe(404);
    }
    expect(await subject.snapshot()).toBe(before);
  });

  test('softly twice at the same moment: it happens once, and both are told that it is done', async () => {
    const id = (await confirmedUser(subject)).body.user?.id;
    const entries = (await subject.audit()).length;
    const answers = await Promise.all([1, 2].map(() => remove(id, { should_soft_delete: true })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await subject.audit()).slice(entries)).toEqual(['user_deleted']);
  });

  test.each([
    ['what is no id', 'x', undefined, 404, 'validation_failed'],
    ['nobody', randomUUID(), undefined, 404, 'user_not_found'],
    ['a wish that is none', randomUUID(), { should_soft_delete: 'yes' }, 400, 'bad_json'],
  ])('refuses %s, and nothing changed', async (_name, id, body, status, code) => {
    const before = await subject.snapshot();
    const answer = await remove(id, body);
    expect([answer.status, answer.body['error_code']]).toEqual([status, code]);
    expect(await subject.snapshot()).toBe(before);
  });
});

test('POST /admin/users/:user_id/logout ends every session of the user, and nobody else’s', async () => {
  const [mine, theirs] = [await confirmedUser(subject), await confirmedUser(subject)];
  const second = await signIn(subject, mine.body.user?.email);
  const end = (id: unknown) =>
    subject.post(`/admin/users/${String(id)}/logout`, undefined, serviceRole(subject));
  expect((await end(mine.body.user?.id)).status).toBe(204);
  for (const session of [mine, second]) {
    expect((await subject.get('/user', bearer(session))).status).toBe(403);
    const refresh = { refresh_token: session.body.refresh_token };
    expect((await subject.post('/token?grant_type=refresh_token', refresh)).status).toBe(400);
  }
  expect((await subject.get('/user', bearer(theirs))).status).toBe(200);
  expect((await subject.audit()).at(-1)).toBe('logout');
  const before = await subject.snapshot();
  expect([(await end(randomUUID())).status, (await end('x')).status]).toEqual([404, 404]);
  expect(await subject.snapshot()).toBe(before);
});

describe('GET /admin/audit', () => {
  interface Entry {
    id: string;
    created_at: string;
    ip_address: string;
    payload: { action: string; actor_username: string; log_type: string };
  }
  const entries = async (query = '') => {
    const answer = await get(`/admin/audit?${query}`);
    expect(answer.status).toBe(200);
    return { answer, list: JSON.parse(answer.text) as Entry[] };
  };

  test('newest first, in pages', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    subject.clock.advance(1000);
    await signIn(subject, email);
    const { answer, list } = await entries('per_page=2');
    expect(list[0]).toEqual({
      id: expect.any(String),
      payload: expect.objectContaining({ action: 'login', actor_username: email, log_type: 'account' }),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      ip_address: expect.any(String),
    });
    expect(list).toHaveLength(2);
    expect(Number(answer.headers['x-total-count'])).toBe((await subject.audit()).length);
    expect(answer.headers['link']).toContain('</admin/audit?page=2&per_page=2>; rel="next"');
  });

  test('by author, action and type, in any case', async () => {
    const email = someone('Auditor').toLowerCase();
    await confirmedUser(subject, email);
    const author = (await entries(`query=author:${email.toUpperCase()}&per_page=1000`)).list;
    expect(new Set(author.map(({ payload }) => payload.actor_username))).toEqual(new Set([email]));
    const action = (await entries('query=action:SIGNEDUP&per_page=1000')).list;
    expect(new Set(action.map(({ payload }) => payload.action))).toEqual(new Set(['user_signedup']));
    const type = (await entries('query=type:team&per_page=1000')).list;
    expect(type.every(({ payload }) => payload.log_type === 'team')).toBe(true);
    expect(type.length).toBeGreaterThanOrEqual(action.length);
    expect((await entries('query=author:%25')).list).toEqual([]);
  });

  test.each(['x', 'id:1', ':x', '__proto__:x'])('query %j → 400 validation_failed', async (query) => {
    const answer = await get(`/admin/audit?query=${query}`);
    expect([answer.status, answer.body]).toEqual([
      400,
      { code: 400, error_code: 'validation_failed', msg: `Invalid query scope: ${query}` },
    ]);
  });
});
