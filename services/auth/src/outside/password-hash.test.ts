import { hash } from '@node-rs/argon2';
import { hash as bcryptHash } from 'bcrypt';
import { describe, expect, test } from 'vitest';
import { type PasswordHasher, passwordHasher } from './password-hash.ts';
import { createSlots, type Slots } from './slots.ts';

// The library's enum is of a kind that cannot be imported here.
const [ARGON2D, ARGON2I] = [0, 1];
const hasher = passwordHasher();
const sharing = passwordHasher('bcrypt');

/** Firebase's own example of its hash, and one of GoTrue's tests. */
const FIREBASE = {
  password: 'user1password',
  stored:
    '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
};
const GOTRUE = {
  password: 'mytestpassword',
  stored:
    '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=ou9tdYTGyYm8kuR6Dt0Bp0kDuAYoXrK16mbZO4yGwAn3oLspjnN0/c41v8xZnO1n14J3MjKj1b2g6AUCAlFwMw==$C0sHCg9ek77hsg==$zKVTMvnWVw5BBOZNUdnsalx4c4c7y/w7IS5p6Ut2+CfEFFlz37J9huyQfov4iizN8dbjvEJlM5tQaJP84+hfTw==',
};
const bcrypt4 = await bcryptHash('secret', 4);
const renamed = (prefix: string): string => prefix + bcrypt4.slice(4);

test('argon2id with 7 MiB, five passes and one lane', async () => {
  expect(await hasher.hash('secret')).toMatch(/^\$argon2id\$v=19\$m=7168,t=5,p=1\$/);
});

test('PASSWORD_HASH=bcrypt makes what GoTrue makes', async () => {
  const stored = await sharing.hash('secret');
  expect(stored).toMatch(/^\$2b\$10\$.{53}$/);
  expect(await sharing.verify('secret', stored)).toBe(true);
  expect(await hasher.verify('secret', stored)).toBe(true);
});

const cheap = { memoryCost: 64, timeCost: 1 };
describe.each<[kind: string, password: string, stored: string]>([
  ['argon2id', 'secret', await hash('secret')],
  ['argon2i', 'secret', await hash('secret', { ...cheap, algorithm: ARGON2I })],
  ['argon2d', 'secret', await hash('secret', { ...cheap, algorithm: ARGON2D })],
  ['bcrypt 2b', 'secret', bcrypt4],
  ['bcrypt 2a', 'secret', renamed('$2a$')],
  ['bcrypt 2y', 'secret', renamed('$2y$')],
  // openssl and htpasswd agree on this one (the first vector of Openwall's crypt_blowfish).
  ['bcrypt of others', 'U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['bcrypt of 255 bytes', 'x'.repeat(255), (await bcryptHash('x'.repeat(255), 4)).replace('$2b$', '$2a$')],
  ['Firebase scrypt', FIREBASE.password, FIREBASE.stored],
  ['Firebase scrypt of GoTrue', GOTRUE.password, GOTRUE.stored],
])('%s', (_kind, password, stored) => {
  test('the right password matches, another does not', async () => {
    expect(await hasher.verify(password, stored)).toBe(true);
    expect(await hasher.verify(`!${password.slice(1)}`, stored)).toBe(false);
    expect(await hasher.verify('', stored)).toBe(false);
  });
});

test.each([
  ['nothing', null],
  ['the empty text, as GoTrue stores it', ''],
  ['no hash at all', 'no hash at all'],
  ['the password itself', 'secret'],
  ['a hash cut off', '$argon2id$v=19$m=7168,t=5,p=1$c29tZXNhbHQ'],
  ['bcrypt cut off', bcrypt4.slice(0, -1)],
  ['bcrypt that would take hours', renamed('$2b$').replace('$04$', '$31$')],
  ['the flawed bcrypt', renamed('$2x$')],
  [
    'argon2 that would take all memory',
    '$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHRzYWx0$c29tZWhhc2hzb21laGFzaA',
  ],
  [
    'argon2 that would take hours',
    '$argon2id$v=19$m=19456,t=4294967295,p=1$c29tZXNhbHRzYWx0$c29tZWhhc2hzb21laGFzaA',
  ],
  ['scrypt that would take all memory', FIREBASE.stored.replace('n=14', 'n=40')],
  ['scrypt that would take hours', FIREBASE.stored.replace('p=1', 'p=999')],
  ['scrypt of no work', FIREBASE.stored.replace('r=8', 'r=0')],
  ['scrypt without a key', FIREBASE.stored.replace(/sk=[^$]*/, 'sk=')],
  ['scrypt of another version', FIREBASE.stored.replace('v=1', 'v=2')],
  ['scrypt with a short hash', FIREBASE.stored.replace(/[^$]*$/, 'ZGlmZmVyZW50aGFzaA==')],
])('%s matches nothing, in the time of a real check', async (_name, stored) => {
  const weights: number[] = [];
  const watched = passwordHasher('argon2id', watch(weights));
  for (const password of ['secret', FIREBASE.password, '']) {
    expect(await watched.verify(password, stored)).toBe(false);
  }
  expect(weights).toEqual([1, 1, 1]);
});

test('the stand-in is of the kind that new hashes have', async () => {
  const weights: number[] = [];
  expect(await passwordHasher('bcrypt', watch(weights)).verify('secret', null)).toBe(false);
  expect(weights).toEqual([5]);
});

const outdated: [hasher: PasswordHasher, name: string, stored: string, boolean][] = [
  [hasher, "today's argon2id", await hasher.hash('secret'), false],
  [hasher, 'argon2id of other costs', await hash('secret', { memoryCost: 8192, timeCost: 1 }), true],
  [hasher, "argon2i of today's costs", await hash('secret', { algorithm: ARGON2I }), true],
  [hasher, 'bcrypt', bcrypt4, true],
  [hasher, 'Firebase scrypt', FIREBASE.stored, true],
  [sharing, 'bcrypt', await sharing.hash('secret'), false],
  [sharing, 'bcrypt 2a', (await sharing.hash('secret')).replace('$2b$', '$2a$'), false],
  [sharing, 'bcrypt of other costs', bcrypt4, true],
  [sharing, 'argon2id', await hasher.hash('secret'), true],
];
test.each(outdated)('%# %s is outdated or not', (of, _name, stored, expected) => {
  expect(of.isOutdated(stored, 'secret')).toBe(expected);
  // bcrypt matched by the beginning; the whole of it must not become what counts.
  expect(of.isOutdated(stored, 'x'.repeat(73))).toBe(false);
});

test('beyond the queue people are told when to come back', async () => {
  const full = passwordHasher('argon2id', createSlots(1, 0));
  const results = await Promise.allSettled([full.hash('a'), full.hash('b')]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(results[1]).toMatchObject({
    reason: { kind: 'unavailable', code: 'over_capacity', retryAfterSeconds: 1 },
  });
});

function watch(weights: number[]): Slots {
  return {
    run(work, _refuse, weight = 1) {
      weights.push(weight);
      return work();
    },
  };
}
