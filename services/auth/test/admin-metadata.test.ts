import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { METADATA_LIMITS } from '../src/rules/users/user-update.ts';
import { type Answer, bearer, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { madeUser, serviceRole, signIn } from './support/administrators.ts';

// Metadata is in every access token: what administrators lay over it has the limits of what users do.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

const put = (id: unknown, body: object) =>
  subject.send('PUT', `/admin/users/${String(id)}`, JSON.stringify(body), serviceRole(subject));
const post = (path: string, body: object) => subject.post(path, body, serviceRole(subject));
const tooLarge = (what: 'user_metadata' | 'app_metadata') => ({
  code: 400,
  error_code: 'validation_failed',
  msg: `${what} cannot be larger than ${what === 'user_metadata' ? 524_288 : 131_072} bytes`,
});

/** It was refused with these words, and nothing changed. */
async function isRefused(what: 'user_metadata' | 'app_metadata', work: () => Promise<Answer>): Promise<void> {
  const before = await subject.snapshot();
  const answer = await work();
  expect([answer.status, answer.body]).toEqual([400, tooLarge(what)]);
  expect((await subject.snapshot()) === before).toBe(true);
}

describe('PUT /admin/users/:user_id', () => {
  test.each([
    ['user_metadata', METADATA_LIMITS.user_metadata],
    ['app_metadata', METADATA_LIMITS.app_metadata],
  ] as const)('%s does not grow without end, and what is too large can shrink', async (what, most) => {
    const { id } = (await madeUser(subject)).body;
    const text = 'x'.repeat(most / 2);
    expect((await put(id, { [what]: { a: text } })).status).toBe(200);
    // With all else it asks for, a new password included, which would end sessions.
    await isRefused(what, () => put(id, { [what]: { b: text }, role: 'x', password: 'another password' }));
    expect((await put(id, { [what]: { a: null, b: text } })).status).toBe(200);
    await subject.rows.autocommit().run`
      update :schema.users set
        raw_user_meta_data = raw_user_meta_data || jsonb_build_object('c', repeat('y', 1000000)),
        raw_app_meta_data = raw_app_meta_data || jsonb_build_object('c', repeat('y', 1000000))
      where id = ${String(id)}::uuid`;
    await isRefused(what, () => put(id, { [what]: { small: 1 } }));
    expect((await put(id, { [what]: { b: null } })).body[what]).not.toHaveProperty('b');
    // What does not speak of metadata is not held against it.
    expect((await put(id, { role: 'editor' })).body['role']).toBe('editor');
  });

  test('attack: many at the same moment come to no more than one after the other', async () => {
    const { id } = (await madeUser(subject)).body;
    const text = 'x'.repeat(METADATA_LIMITS.user_metadata / 4);
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => put(id, { user_metadata: { [name]: text } })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const { status, body } of answers)
      if (status !== 200) expect(body).toEqual(tooLarge('user_metadata'));
  });
});

describe('nobody begins with more than a token can carry', () => {
  const large = { avatar: 'x'.repeat(METADATA_LIMITS.user_metadata) };

  test.each(['user_metadata', 'app_metadata'] as const)('POST /admin/users with %s', async (what) => {
    await isRefused(what, () => post('/admin/users', { email: someone(), [what]: large }));
  });

  test('POST /invite', async () => {
    await isRefused('user_metadata', () => post('/invite', { email: someone(), data: large }));
    expect(await subject.mails()).toEqual([]);
  });

  test('POST /admin/generate_link, for somebody new and for an account that waits', async () => {
    const link = (email: string, data: object) =>
      post('/admin/generate_link', { type: 'signup', email, password: PASSWORD, data });
    await isRefused('user_metadata', () => link(someone(), large));
    const email = someone();
    const half = 'x'.repeat(METADATA_LIMITS.user_metadata / 2);
    expect((await link(email, { a: half })).status).toBe(200);
    await isRefused('user_metadata', () => link(email, { b: half }));
  });
});

test('PUT /user of an administrator: app_metadata does not grow without end either', async () => {
  const { email, id } = (await madeUser(subject, { role: 'service_role' })).body;
  const session = await signIn(subject, email);
  const own = (app_metadata: object) =>
    subject.send('PUT', '/user', JSON.stringify({ app_metadata }), bearer(session));
  const text = 'x'.repeat(METADATA_LIMITS.app_metadata / 2);
  expect((await own({ a: text })).status).toBe(200);
  await isRefused('app_metadata', () => own({ b: text }));
  expect((await own({ a: null, b: text })).status).toBe(200);
  // Two at once fit each, and not both.
  await put(id, { app_metadata: { b: null } });
  const both = await Promise.all([own({ c: text }), own({ d: text })]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
});

test('a token with as much of both as there may be is taken', async () => {
  await using other = await startSubject();
  const { email } = (
    await madeUser(other, {
      user_metadata: { a: 'x'.repeat(METADATA_LIMITS.user_metadata - 100) },
      app_metadata: { a: 'x'.repeat(METADATA_LIMITS.app_metadata - 100) },
    })
  ).body;
  const session = await signIn(other, email);
  const address = await other.app.listen({ host: '127.0.0.1', port: 0 });
  expect((await fetch(`${address}/user`, { headers: bearer(session) })).status).toBe(200);
});
