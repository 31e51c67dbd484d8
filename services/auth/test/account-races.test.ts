import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteUser } from '../src/admin/delete-user.ts';
import {
  type Answer,
  bearer,
  confirmedUser,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { serviceRole, signIn } from './support/administrators.ts';
import { newestTo } from './support/mailbox.ts';
import { meet as meetAt, waiting } from './support/meeting.ts';

// What changes an account meets what ends, bans or deletes it. Each pair is made to meet in its statements (the user's
// row is held until both wait for it), in both orders, and is then let run against each other again and again.

const ROUNDS = 20;
/** Milliseconds; each round signs up, and the machine may have other work. */
const timeout = 180_000;
const NEW = 'a new password';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_SMTP_MAX_FREQUENCY: '0' });
});
afterAll(() => subject[Symbol.asyncDispose]());

/** Somebody with two sessions, and what they or others may do at the same moment. */
async function somebody() {
  const email = someone();
  const first = await confirmedUser(subject, email);
  const second = await signIn(subject, email);
  const id = String(first.body.user?.id);
  const admin = (body: object) =>
    subject.send('PUT', `/admin/users/${id}`, JSON.stringify(body), serviceRole(subject));
  return {
    email,
    id,
    first,
    second,
    change: (session: Answer = first, password = NEW) =>
      subject.send('PUT', '/user', JSON.stringify({ password, data: { changed: true } }), bearer(session)),
    login: (password = PASSWORD) => signIn(subject, email, password),
    logOut: (session: Answer = second) => subject.post('/logout', undefined, bearer(session)),
    ban: () => admin({ ban_duration: '1h' }),
    reset: () => admin({ password: 'of an administrator' }),
    remove: async () => {
      await deleteUser(subject.context, { role: 'service_role' }, id, { ip: null, userAgent: '' });
      return await subject.get('/health');
    },
    refresh: (session: Answer) =>
      subject.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token }),
  };
}
type Somebody = Awaited<ReturnType<typeof somebody>>;

const meet = (who: Somebody, one: () => Promise<Answer>, other: () => Promise<Answer>) =>
  meetAt(subject, who.id, one, other);
const working = async (who: Somebody, sessions: readonly Answer[]) => {
  const answers = await Promise.all(sessions.map((session) => who.refresh(session)));
  return answers.map(({ status }) => status === 200);
};
const passwordWorks = async (who: Somebody, password: string) => (await who.login(password)).status === 200;
const isChanged = async (who: Somebody) =>
  (await subject.rows.autocommit().row`
    select from :schema.users where id = ${who.id} and raw_user_meta_data ? 'changed'`) !== undefined;

describe('a change of password', () => {
  test('meets a sign-in with the old one that is ahead: that session ends', async () => {
    const who = await somebody();
    const { first: login, second: changed } = await meet(who, who.login, who.change);
    expect([login.status, changed.status]).toEqual([200, 200]);
    expect(await working(who, [login, who.second, who.first])).toEqual([false, false, true]);
  });

  test('meets a sign-in with the old one that is behind: there is no session', async () => {
    const who = await somebody();
    const { first: changed, second: login } = await meet(who, who.change, who.login);
    expect([changed.status, login.body['error_code']]).toEqual([200, 'invalid_credentials']);
  });

  test('by an administrator meets a sign-in with the old one: no session is left', async () => {
    const who = await somebody();
    const { first: login, second: changed } = await meet(who, who.login, who.reset);
    expect([login.status, changed.status]).toEqual([200, 200]);
    expect(await working(who, [login, who.second, who.first])).toEqual([false, false, false]);
  });

  const refusals: [string, (who: Somebody) => () => Promise<Answer>, string][] = [
    ['a sign-out everywhere', (who) => who.logOut, 'session_not_found'],
    ['another change, of another session', (who) => () => who.change(who.second), 'session_not_found'],
    ['another change, of the same session', (who) => () => who.change(who.first, 'another'), 'conflict'],
    ['one by an administrator', (who) => who.reset, 'session_not_found'],
    ['a ban', (who) => who.ban, 'user_banned'],
    ['a deletion', (who) => who.remove, 'user_not_found'],
  ];
  test.each(refusals)('behind %s is refused, and nothing changed', async (_name, ahead, code) => {
    const who = await somebody();
    const own = 'of the late one';
    const { first, second } = await meet(who, ahead(who), () =>
      subject.send('PUT', '/user', JSON.stringify({ password: own, data: { late: 1 } }), bearer(who.first)),
    );
    expect(first.status).toBeLessThan(300);
    expect(second.body['error_code']).toBe(code);
    const row = await subject.rows.autocommit().row<{ data: object }>`
      select raw_user_meta_data as data from :schema.users where id = ${who.id}`;
    expect(row?.data ?? {}).not.toHaveProperty('late');
    await subject.rows.autocommit().run`update :schema.users set banned_until = null where id = ${who.id}`;
    expect(await passwordWorks(who, own)).toBe(false);
  });

  test('behind an end of its session, a change without a password is refused as well', async () => {
    const who = await somebody();
    const { second } = await meet(who, who.logOut, () =>
      subject.send('PUT', '/user', JSON.stringify({ email: someone() }), bearer(who.first)),
    );
    expect([second.status, second.body['error_code']]).toEqual([403, 'session_not_found']);
    expect(
      await subject.rows.autocommit().row`
      select email_change from :schema.users where id = ${who.id}`,
    ).toEqual({ email_change: null });
  });
});

describe('a first proof, which ends the sessions of who was there before, does not wait in a circle', () => {
  test.each([
    ['a change of password', (who: Somebody) => who.change()],
    ['a password by an administrator', (who: Somebody) => who.reset()],
    ['a deletion', (who: Somebody) => who.remove()],
    ['a sign-out everywhere', (who: Somebody) => who.logOut(who.first)],
  ])('with %s', async (_name, act) => {
    const who = await somebody();
    await subject.post('/recover', { email: who.email });
    const { token } = await newestTo(subject, who.email);
    await subject.rows.autocommit()
      .run`update :schema.users set email_confirmed_at = null where id = ${who.id}`;
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { promise: taken, resolve: took } = Promise.withResolvers<void>();
    const holder = subject.rows.transaction(async (tx) => {
      await tx.rows`select from :schema.refresh_tokens where session_id in (
        select id from :schema.sessions where user_id = ${who.id}) for update`;
      took();
      await held;
    });
    await taken;
    const answers: Promise<Answer>[] = [];
    try {
      answers.push(act(who));
      await waiting(subject, 1);
      answers.push(subject.post('/verify', { type: 'recovery', token_hash: token }));
      await waiting(subject, 2);
    } finally {
      release();
      await holder;
    }
    expect((await Promise.all(answers)).map(({ status }) => status < 500)).toEqual([true, true]);
    const deadlocks = await subject.rows.autocommit().row`
      select deadlocks from pg_stat_database where datname = current_database()`;
    expect(deadlocks).toEqual({ deadlocks: 0 });
  });
});

describe(`${ROUNDS} times at the same moment`, () => {
  /** Both at once, who starts first changes every time; neither may be an error of the server. */
  async function race(round: number, one: () => Promise<Answer>, other: () => Promise<Answer>) {
    const [first, second] = round % 2 === 0 ? [one, other] : [other, one];
    const answers = await Promise.all([first(), second()]);
    expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([]);
    const [a, b] = answers;
    return round % 2 === 0 ? { one: a, other: b } : { one: b, other: a };
  }

  test('a change of password and a sign-in with the old one', { timeout }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const who = await somebody();
      const { one: changed, other: login } = await race(round, who.change, who.login);
      expect(changed.status).toBe(200);
      if (login.status === 200) expect(await working(who, [login])).toEqual([false]);
      expect([await passwordWorks(who, PASSWORD), await passwordWorks(who, NEW)]).toEqual([false, true]);
    }
  });

  test('a change of password and a sign-out everywhere', { timeout }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const who = await somebody();
      const { one: changed } = await race(round, who.change, () => who.logOut(who.first));
      expect(await passwordWorks(who, NEW)).toBe(changed.status === 200);
      expect(await passwordWorks(who, PASSWORD)).toBe(changed.status !== 200);
      expect(await working(who, [who.first, who.second])).toEqual([false, false]);
    }
  });

  test('a change of password and a ban', { timeout }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const who = await somebody();
      const { one: changed, other: banned } = await race(round, who.change, who.ban);
      expect(banned.status).toBe(200);
      expect(await isChanged(who)).toBe(changed.status === 200);
      expect((await who.login(NEW)).body['error_code']).toBe(
        changed.status === 200 ? 'user_banned' : 'invalid_credentials',
      );
    }
  });
});

test('50 times sign-in, change, refresh, sign-out, recovery, reset and deletion at once: no error of the server', {
  timeout,
}, async () => {
  for (let round = 0; round < 50; round++) {
    const who = await somebody();
    await subject.post('/recover', { email: who.email });
    const { token } = await newestTo(subject, who.email);
    const acts = [
      who.login,
      who.change,
      () => who.refresh(who.first),
      () => who.logOut(who.first),
      who.login,
      () => subject.post('/verify', { type: 'recovery', token_hash: token }),
      () => subject.post('/logout?scope=others', undefined, bearer(who.second)),
      who.reset,
      () => who.refresh(who.second),
      who.remove,
      () => who.change(who.second),
      () => subject.post('/recover', { email: who.email }),
    ];
    const turned = [...acts.slice(round % acts.length), ...acts.slice(0, round % acts.length)];
    const answers = await Promise.all(turned.map((act) => act()));
    expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([]);
  }
});

test(
  'changes of metadata at once do not together exceed what one may have',
  async () => {
    const text = 'x'.repeat(300_000);
    const put = (who: Somebody, key: string) =>
      subject.send('PUT', '/user', JSON.stringify({ data: { [key]: text } }), bearer(who.first));
    const stored = async (who: Somebody) => {
      const row = await subject.rows.autocommit().row<{ keys: string[] }>`
      select (select array_agg(key) from jsonb_object_keys(raw_user_meta_data) as key where key like 'part-%') as keys
      from :schema.users where id = ${who.id}`;
      return row?.keys;
    };
    const two = await somebody();
    const { first, second } = await meet(
      two,
      () => put(two, 'part-a'),
      () => put(two, 'part-b'),
    );
    expect([first.status, second.status, second.body['error_code']]).toEqual([200, 400, 'validation_failed']);
    expect(await stored(two)).toEqual(['part-a']);

    const who = await somebody();
    const before = (await subject.audit()).length;
    const all = await Promise.all(Array.from({ length: 10 }, (_, index) => put(who, `part-${index}`)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
    expect(await stored(who)).toEqual([`part-${all.findIndex(({ status }) => status === 200)}`]);
    expect((await subject.audit()).slice(before)).toEqual(['user_modified']);
  },
  timeout,
);

test(
  'small changes of metadata at once are all kept',
  async () => {
    const who = await somebody();
    const names = Array.from({ length: 10 }, (_, index) => `part-${index}`);
    const answers = await Promise.all(
      names.map((name) =>
        subject.send('PUT', '/user', JSON.stringify({ data: { [name]: 1 } }), bearer(who.first)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect((await subject.get('/user', bearer(who.first))).body['user_metadata']).toMatchObject(
      Object.fromEntries(names.map((name) => [name, 1])),
    );
  },
  timeout,
);
