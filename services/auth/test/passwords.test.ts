import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { hash } from '@node-rs/argon2';
import { hash as bcryptHash } from 'bcrypt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tooManyPasswords } from '../src/failures.ts';
import type { PasswordHasher } from '../src/outside/password-hash.ts';
import { confirmedUser, PASSWORD, type Subject, someone, startSubject } from './harness.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

const signIn = (email: string, password: string, on: Subject = subject) =>
  on.post('/token?grant_type=password', { email, password });

async function storedHash(email: string, on: Subject = subject): Promise<string | undefined> {
  const user = await on.rows.autocommit().row<{ encrypted_password: string }>`
    select encrypted_password from :schema.users where email = ${email}`;
  return user?.encrypted_password;
}

/** Somebody whose hash comes from elsewhere. */
async function imported(stored: string, on: Subject = subject): Promise<string> {
  const email = someone();
  await confirmedUser(on, email);
  await on.rows.autocommit()
    .run`update :schema.users set encrypted_password = ${stored} where email = ${email}`;
  return email;
}

const FIREBASE_PASSWORD = 'user1password';
const FIREBASE =
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==';
const TODAY = /^\$argon2id\$v=19\$m=7168,t=5,p=1\$/;

describe('hashes that were made elsewhere', async () => {
  const bcrypt = await bcryptHash(PASSWORD, 10);
  test.each<[kind: string, stored: string, password: string]>([
    ['bcrypt of GoTrue', bcrypt.replace('$2b$', '$2a$'), PASSWORD],
    ['bcrypt of PHP', bcrypt.replace('$2b$', '$2y$'), PASSWORD],
    ['argon2i', await hash(PASSWORD, { algorithm: 1 }), PASSWORD],
    ['argon2id of other costs', await hash(PASSWORD, { memoryCost: 8192, timeCost: 1 }), PASSWORD],
    ['Firebase scrypt', FIREBASE, FIREBASE_PASSWORD],
  ])('%s: a sign-in replaces it, a wrong password does not', async (_kind, stored, password) => {
    const email = await imported(stored);
    const before = await subject.snapshot();
    expect((await signIn(email, `!${password}`)).body).toMatchObject({ error_code: 'invalid_credentials' });
    expect(await subject.snapshot()).toBe(before);
    expect((await signIn(email, password)).status).toBe(200);
    const replaced = await storedHash(email);
    expect(replaced).toMatch(TODAY);
    expect((await signIn(email, password)).status).toBe(200);
    expect(await storedHash(email)).toBe(replaced);
  });

  test.each([
    ['no hash', 'no hash at all'],
    ['nothing, as GoTrue writes it', ''],
    ['the password in clear', PASSWORD],
    ['a hash that would take hours', bcrypt.replace('$10$', '$31$')],
    ['a hash that would take all memory', FIREBASE.replace('n=14', 'n=60')],
  ])('%s matches nothing, not even itself, and is no error', async (_name, stored) => {
    const email = await imported(stored);
    const before = await subject.snapshot();
    for (const password of [PASSWORD, FIREBASE_PASSWORD, stored, '']) {
      const answer = await signIn(email, password);
      expect(answer.body).toEqual({
        code: 400,
        error_code: 'invalid_credentials',
        msg: 'Invalid login credentials',
      });
    }
    expect(await subject.snapshot()).toBe(before);
  });

  test('a password that bcrypt cut off goes on being the one of its first 72 bytes', async () => {
    const long = 'x'.repeat(80);
    const stored = await bcryptHash(long, 4);
    const email = await imported(stored);
    expect((await signIn(email, long)).status).toBe(200);
    expect(await storedHash(email)).toBe(stored);
    expect((await signIn(email, long.slice(0, 72))).status).toBe(200);
    expect(await storedHash(email)).toMatch(TODAY);
  });
});

describe('sign-ins that meet while a hash of elsewhere is replaced', () => {
  /** Runs the work with another hasher in place of the service's. */
  async function withHasher<T>(change: Partial<PasswordHasher>, work: () => Promise<T>): Promise<T> {
    const { passwords } = subject.context.outside;
    Object.assign(subject.context.outside, { passwords: { ...passwords, ...change } });
    try {
      return await work();
    } finally {
      Object.assign(subject.context.outside, { passwords });
    }
  }

  /** Checks that end only when so many have. */
  function together(count: number): Pick<PasswordHasher, 'verify'> {
    const { passwords } = subject.context.outside;
    const all = Promise.withResolvers<void>();
    let checked = 0;
    return {
      async verify(password, stored) {
        const matches = await passwords.verify(password, stored);
        if (++checked === count) all.resolve();
        await all.promise;
        return matches;
      },
    };
  }

  test('all are signed in, and the hash is replaced once', async () => {
    const email = await imported(await bcryptHash(PASSWORD, 4));
    const answers = await withHasher(together(8), () =>
      Promise.all(Array.from({ length: 8 }, () => signIn(email, PASSWORD))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(await storedHash(email)).toMatch(TODAY);
    expect((await signIn(email, PASSWORD)).status).toBe(200);
  });

  test('a password that was changed meanwhile opens no session', async () => {
    const email = await imported(await bcryptHash(PASSWORD, 4));
    const changed = await hash('another password');
    const { passwords } = subject.context.outside;
    let before = '';
    const refused = await withHasher(
      {
        async hash(password) {
          await subject.rows.autocommit()
            .run`update :schema.users set encrypted_password = ${changed} where email = ${email}`;
          before = await subject.snapshot();
          return await passwords.hash(password);
        },
      },
      () => signIn(email, PASSWORD),
    );
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ error_code: 'invalid_credentials' });
    expect(await subject.snapshot()).toBe(before);
    expect((await signIn(email, 'another password')).status).toBe(200);
  });

  test('where no new hash can be made for want of time, the old one serves once more', async () => {
    const stored = await bcryptHash(PASSWORD, 4);
    const email = await imported(stored);
    const busy = async () => {
      throw tooManyPasswords(3);
    };
    expect((await withHasher({ hash: busy }, () => signIn(email, PASSWORD))).status).toBe(200);
    expect(await storedHash(email)).toBe(stored);
    expect((await signIn(email, PASSWORD)).status).toBe(200);
    expect(await storedHash(email)).toMatch(TODAY);
  });
});

describe('PASSWORD_HASH=bcrypt, for tables shared with GoTrue', () => {
  let sharing: Subject;
  beforeAll(async () => {
    sharing = await startSubject({ AUTHSVC_PASSWORD_HASH: 'bcrypt' });
  });
  afterAll(() => sharing[Symbol.asyncDispose]());

  test('new hashes are of bcrypt', async () => {
    const email = someone();
    await confirmedUser(sharing, email);
    const stored = await storedHash(email, sharing);
    expect(stored).toMatch(/^\$2b\$10\$/);
    expect((await signIn(email, PASSWORD, sharing)).status).toBe(200);
    expect(await storedHash(email, sharing)).toBe(stored);
  });

  test('and those of argon2 are replaced at a sign-in', async () => {
    const email = await imported(await hash(PASSWORD), sharing);
    expect((await signIn(email, PASSWORD, sharing)).status).toBe(200);
    expect(await storedHash(email, sharing)).toMatch(/^\$2b\$10\$/);
    expect((await signIn(email, PASSWORD, sharing)).status).toBe(200);
  });
});

describe('a flood of sign-ins', () => {
  test.each([
    ['of people with old bcrypt hashes', true],
    ['of people who do not exist', false],
  ])(
    '%s: some are answered, the others told when to come back, and everybody else is served',
    async (_name, old) => {
      // Time to wait for a busy machine; the queue has its own bound.
      await using flooded = await startSubject({ AUTHSVC_API_MAX_REQUEST_DURATION: '60s' });
      const victim = old ? await imported(await bcryptHash(PASSWORD, 10), flooded) : someone();
      const session = await confirmedUser(flooded);
      let token = session.body.refresh_token;
      const before = await flooded.rows.autocommit().row<{ sessions: number }>`
      select count(*) as sessions from :schema.sessions`;

      using delay = measureLoop();
      const startedAt = performance.now();
      const flood = Promise.all(
        Array.from({ length: 300 }, () => signIn(victim, 'a wrong password', flooded)),
      );
      let ended = false;
      void flood.then(() => (ended = true));
      const refreshes: number[] = [];
      do {
        const sentAt = performance.now();
        const answer = await flooded.post('/token?grant_type=refresh_token', { refresh_token: token });
        expect(answer.status).toBe(200);
        token = answer.body.refresh_token;
        refreshes.push(performance.now() - sentAt);
      } while (!ended);
      const answers = await flood;
      const took = performance.now() - startedAt;

      const refused = answers.filter(({ status }) => status === 503);
      const checked = answers.filter(({ status }) => status === 400);
      expect(refused.length + checked.length).toBe(300);
      expect(refused.length).toBeGreaterThan(0);
      expect(checked.length).toBeGreaterThan(1);
      for (const { headers, body } of refused) {
        expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
        expect(body).toMatchObject({ code: 503, error_code: 'over_capacity' });
      }
      for (const { body } of checked) expect(body).toMatchObject({ error_code: 'invalid_credentials' });
      // The queue is worth two seconds; how long they are beside all else this machine does, nobody knows.
      expect(took).toBeLessThan(30_000);
      // Refreshes need the loop and the database only. The first waits until the burst of 300 is parsed.
      expect(refreshes.length).toBeGreaterThan(2);
      expect(refreshes.toSorted((a, b) => a - b)[refreshes.length >> 1]).toBeLessThan(took / 4);
      // A check on the event loop itself would hold it for all of the flood.
      expect(delay.longestMs()).toBeLessThan(took / 2);
      expect(await flooded.rows.autocommit().row`select count(*) as sessions from :schema.sessions`).toEqual(
        before,
      );
    },
  );
});

function measureLoop(): Disposable & { longestMs(): number } {
  const histogram = monitorEventLoopDelay({ resolution: 5 });
  histogram.enable();
  return {
    longestMs: () => histogram.percentile(99) / 1e6,
    [Symbol.dispose]: () => void histogram.disable(),
  };
}
