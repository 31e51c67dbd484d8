import type { Tx } from '@croft/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { passwordHasher } from '../src/outside/password-hash.ts';
import { createSlots } from '../src/outside/slots.ts';
import {
  type Answer,
  bearer,
  claimsOf,
  confirmedUser,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { waiting, whileLocked } from './support/meeting.ts';

/** A service that has time for all that comes at once, whatever else the machine does: none of these tests is about that. */
async function start(environment: Record<string, string> = {}): Promise<Subject> {
  const made = await startSubject({ AUTHSVC_API_MAX_REQUEST_DURATION: '60s', ...environment });
  Object.assign(made.context.outside, { passwords: passwordHasher('argon2id', createSlots(2, 60_000)) });
  return made;
}

let subject: Subject;
beforeAll(async () => {
  subject = await start();
});
afterAll(() => subject[Symbol.asyncDispose]());

const refresh = (token: unknown, on: Subject = subject) =>
  on.post('/token?grant_type=refresh_token', { refresh_token: token });
const signIn = (email: string) => subject.post('/token?grant_type=password', { email, password: PASSWORD });
const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
describe('refreshes', () => {
  test('64 at once with one token: all succeed with the same child, one rotates, the family lives', async () => {
    const session = await confirmedUser(subject);
    const auditBefore = (await subject.audit()).length;
    const answers = await times(64, () => refresh(session.body.refresh_token));
    expect(answers.map(({ status }) => status)).toEqual(Array(64).fill(200));
    const children = new Set(answers.map(({ body }) => body.refresh_token));
    expect(children.size).toBe(1);
    expect((await subject.audit()).slice(auditBefore).sort()).toEqual(['token_refreshed', 'token_revoked']);
    const families = await subject.rows.autocommit().rows<{ counter: number; revoked_at: Date | null }>`
      select counter, revoked_at from :schema.refresh_tokens`;
    expect(families).toEqual([{ counter: 1, revoked_at: null }]);
    expect((await refresh([...children][0])).status).toBe(200);
  });

  test('clients that refresh on and on with what they last got never lose the session', async () => {
    const session = await confirmedUser(subject);
    let newest = session.body.refresh_token;
    for (let round = 0; round < 20; round++) {
      const answers = await times(8, () => refresh(newest));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      newest = answers[0]?.body.refresh_token;
    }
  });

  test('refreshes at the moment of reuse: none is an error of the server, and the family ends', async () => {
    const session = await confirmedUser(subject);
    const second = await refresh(session.body.refresh_token);
    const third = await refresh(second.body.refresh_token);
    const answers = await times(32, (index) =>
      refresh(index % 4 === 0 ? session.body.refresh_token : third.body.refresh_token),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    for (const { body } of [session, second, third, ...answers.filter(({ status }) => status === 200)]) {
      expect((await refresh(body.refresh_token)).status).toBe(400);
    }
  });

  test('sign-out in the middle of refreshes: afterwards nothing works', async () => {
    const session = await confirmedUser(subject);
    const headers = { authorization: `Bearer ${session.body.access_token}` };
    const answers = await times(33, (index) =>
      index === 16 ? subject.post('/logout', undefined, headers) : refresh(session.body.refresh_token),
    );
    expect(answers.every(({ status }) => status < 500)).toBe(true);
    const children = answers.flatMap(({ body }) => body.refresh_token ?? []);
    const afterwards = await Promise.all(children.map((child) => refresh(child)));
    expect(afterwards.every(({ status }) => status === 400)).toBe(true);
  });

  test('sign-outs among refreshes from ever other places: none is an error of the server', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const statuses = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const sessions = await times(6, () => signIn(email));
      const answers = await times(36, (index) => {
        const session = sessions[index % 6] as Answer;
        const from = { 'user-agent': `${round} ${index}`, 'x-forwarded-for': `10.0.${round}.${index}` };
        if (index < 12 || index % 4 !== 0) {
          const body = { refresh_token: session.body.refresh_token };
          return subject.post('/token?grant_type=refresh_token', body, from);
        }
        const scope = index % 8 === 0 ? 'others' : 'global';
        return subject.post(`/logout?scope=${scope}`, undefined, { ...bearer(session), ...from });
      });
      for (const { status } of answers) statuses.add(status);
    }
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    expect(statuses).toContain(200);
    expect(statuses).toContain(204);
  });

  test('a sign-out and a refresh that meet at the worst moment do not wait for each other', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const [first, second] = [await signIn(email), await signIn(email)];
    // The sign-out is held up at the first session, the refresh of the second comes in between.
    const answers = await whileLocked(
      subject,
      (tx) => tx.row`select session_id from :schema.refresh_tokens
        where session_id = ${String(claimsOf(subject, first)['session_id'])}::uuid for update`,
      async () => {
        const ending = subject.post('/logout', undefined, bearer(first));
        await waiting(subject, 1);
        const body = { refresh_token: second.body.refresh_token };
        const refreshing = subject.post('/token?grant_type=refresh_token', body, {
          'user-agent': 'elsewhere',
        });
        await Promise.race([waiting(subject, 2), refreshing]);
        return { ending, refreshing };
      },
    );
    expect((await answers.ending).status).toBe(204);
    expect((await answers.refreshing).status).toBeLessThan(500);
  });
});

describe('sign-ups', () => {
  test('16 at once with one address: one account, one identity, one living code, nobody notices', async () => {
    await using free = await start({ AUTHSVC_SMTP_MAX_FREQUENCY: '0' });
    const email = someone();
    const answers = await times(16, () => free.post('/signup', { email, password: PASSWORD }));
    expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const counts = await free.rows.autocommit().row`
      select count(distinct u.id) as users, count(distinct i.id) as identities, count(distinct t.id) as codes
      from :schema.users u join :schema.identities i on i.user_id = u.id join :schema.one_time_tokens t on t.user_id = u.id
      where u.email = ${email}`;
    expect(counts).toEqual({ users: 1, identities: 1, codes: 1 });
    const mails = (await free.mails()).filter(({ headers }) => headers.get('to') === email);
    const verified = await times(mails.length, (index) =>
      free.post('/verify', { type: 'signup', token_hash: readMail(mails[index]).token }),
    );
    expect(verified.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('16 at once under autoconfirm: one session, fifteen duplicates, no error of the server', async () => {
    await using other = await start({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
    const email = someone();
    const answers = await times(16, () => other.post('/signup', { email, password: PASSWORD }));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body['error_code'] === 'user_already_exists')).toHaveLength(15);
  });

  test('16 at once for an account left unconfirmed, under autoconfirm: one confirms it, the others are duplicates', async () => {
    await using other = await start({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
    const email = someone();
    await other.post('/signup', { email, password: PASSWORD });
    await other.rows.autocommit().run`update :schema.users set email_confirmed_at = null`;
    // All have seen it unconfirmed before the first may go on.
    const signUps = await whileLocked(
      other,
      (tx) => tx.row`select id from :schema.users where email = ${email} for update`,
      async () => {
        const started = times(16, (index) => other.post('/signup', { email, password: `password ${index}` }));
        await waiting(other, 16);
        return { started };
      },
    );
    const answers = await signUps.started;
    const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ body }) => body['error_code'] === 'user_already_exists')).toHaveLength(15);
    const password = `password ${winners[0]}`;
    expect((await other.post('/token?grant_type=password', { email, password })).status).toBe(200);
  });

  test('16 at once for a taken address: one answer, fifteen are too soon, as for a new one', async () => {
    const [taken, fresh] = [someone(), someone()];
    await confirmedUser(subject, taken);
    subject.clock.advance(60_000);
    for (const email of [taken, fresh]) {
      const answers = await times(16, () => subject.post('/signup', { email, password: PASSWORD }));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(15).fill(429)]);
    }
  });
});

describe('codes', () => {
  async function pending() {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    const mail = (await subject.mails()).find(({ headers }) => headers.get('to') === email);
    return { email, ...readMail(mail) };
  }

  test('16 verifications at once: one succeeds and one session is opened', async () => {
    const sent = await pending();
    const answers = await times(16, (index) =>
      index % 2 === 0
        ? subject.post('/verify', { type: 'signup', token_hash: sent.token })
        : subject.post('/verify', { type: 'signup', email: sent.email, token: sent.code }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(15).fill(403)]);
    const sessions = await subject.rows.autocommit().row`
      select count(*) as count from :schema.sessions s join :schema.users u on u.id = s.user_id where u.email = ${sent.email}`;
    expect(sessions).toEqual({ count: 1 });
  });

  test('64 wrong guesses at once count one by one: afterwards the code is spent', async () => {
    const sent = await pending();
    const wrong = sent.code === '000000' ? '000001' : '000000';
    await times(64, () => subject.post('/verify', { type: 'signup', email: sent.email, token: wrong }));
    const token = await subject.rows.autocommit().row`
      select wrong_guesses from :schema.one_time_tokens where relates_to = ${sent.email}`;
    expect(token).toEqual({ wrong_guesses: 10 });
    expect(
      (await subject.post('/verify', { type: 'signup', email: sent.email, token: sent.code })).status,
    ).toBe(403);
  });

  test('a password changed while another is being checked opens no session', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const { passwords } = subject.context.outside;
    const changing = {
      ...passwords,
      async verify(password: string, stored: string | null) {
        const matches = await passwords.verify(password, stored);
        await subject.rows.autocommit()
          .run`update :schema.users set encrypted_password = 'changed' where email = ${email}`;
        return matches;
      },
    };
    Object.assign(subject.context.outside, { passwords: changing });
    try {
      const answer = await subject.post('/token?grant_type=password', { email, password: PASSWORD });
      expect(answer.body).toMatchObject({ error_code: 'invalid_credentials' });
    } finally {
      Object.assign(subject.context.outside, { passwords });
    }
  });
});

describe('codes', () => {
  test('used, asked for and taken back at the same moment, again and again: none is an error of the server', async () => {
    await using busy = await start({ AUTHSVC_SMTP_MAX_FREQUENCY: '0' });
    const email = someone('busy');
    let session = await confirmedUser(busy, email);
    for (let round = 0; round < 6; round++) {
      busy.clock.advance(1000);
      await busy.post('/recover', { email });
      const mail = (await busy.mails()).findLast(({ headers }) => headers.get('to') === email);
      const { token } = readMail(mail);
      const verify = () => busy.post('/verify', { type: 'recovery', token_hash: token });
      const answers = await Promise.all([
        verify(),
        busy.post('/recover', { email }),
        verify(),
        busy.send('PUT', '/user', JSON.stringify({ password: `number ${round}` }), bearer(session)),
        busy.post('/otp', { email }),
        refresh(session.body.refresh_token, busy),
        busy.send('PUT', '/user', JSON.stringify({ email: someone() }), bearer(session)),
        verify(),
        busy.post('/resend', { type: 'email_change', email }),
      ]);
      expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([]);
      const verified = [answers[0], answers[2], answers[7]].filter((answer) => answer?.status === 200);
      expect(verified.length).toBeLessThanOrEqual(1);
      // What is delivered at one moment is in no order.
      await busy.mails();
      busy.clock.advance(1000);
      await busy.post('/recover', { email });
      const next = (await busy.mails()).findLast(({ headers }) => headers.get('to') === email);
      session = await busy.post('/verify', { type: 'recovery', token_hash: readMail(next).token });
      expect(session.status).toBe(200);
    }
  });

  test('a refusal that is only seen at the end uses nothing up', async () => {
    const email = someone();
    const session = await confirmedUser(subject, email);
    subject.clock.advance(60_000);
    await subject.post('/recover', { email });
    const mail = (await subject.mails()).findLast(({ headers }) => headers.get('to') === email);
    const { token } = readMail(mail);
    const ban = (until: string | null) => (tx: Tx) =>
      tx.run`update :schema.users set banned_until = ${until} where id = ${session.body.user?.id}`;
    const verify = () => subject.post('/verify', { type: 'recovery', token_hash: token });
    // The code is found while the user may still sign in, and used when the ban is there.
    const { verified } = await whileLocked(subject, ban('infinity'), async () => {
      const verified = verify();
      await waiting(subject, 1);
      return { verified };
    });
    const answer = await verified;
    expect(answer.status).toBe(403);
    await ban(null)(subject.rows.autocommit());
    expect((await verify()).status).toBe(200);
  });
});
