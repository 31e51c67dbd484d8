import { hash } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { passwordHasher } from './password-hash.ts';
import { createSlots } from './slots.ts';

const hasher = passwordHasher();

test('argon2id with 19 MiB, two passes and one lane', async () => {
  expect(await hasher.hash('secret')).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test('the right password matches, another does not, and nothing matches no hash', async () => {
  const stored = await hasher.hash('secret');
  expect(await hasher.verify('secret', stored)).toBe(true);
  expect(await hasher.verify('Secret', stored)).toBe(false);
  expect(await hasher.verify('secret', null)).toBe(false);
  expect(await hasher.verify('secret', 'no hash at all')).toBe(false);
});

test('only hashes with other costs are outdated', async () => {
  expect(hasher.isOutdated(await hasher.hash('secret'))).toBe(false);
  expect(hasher.isOutdated(await hash('secret', { memoryCost: 8192, timeCost: 1 }))).toBe(true);
});

test('beyond the queue people are told when to come back', async () => {
  const full = passwordHasher(createSlots(1, 0));
  const results = await Promise.allSettled([full.hash('a'), full.hash('b')]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(results[1]).toMatchObject({
    reason: { kind: 'unavailable', code: 'over_capacity', retryAfterSeconds: 1 },
  });
});
