import { expect, it } from 'vitest';
import { sealing } from './sealing.ts';
import { Secret } from './secret.ts';

const KEY = new Secret('a-key-of-at-least-thirty-two-characters');

it('opens what it sealed, and nobody else does', () => {
  const mine = sealing(KEY, 'hooks');
  const sealed = mine.seal('grüße');
  expect(sealing(KEY, 'hooks').open(sealed)).toBe('grüße');
  expect(() => sealing(KEY, 'mail').open(sealed)).toThrow();
  expect(() => sealing(new Secret('another'), 'hooks').open(sealed)).toThrow();
});

it('never seals the same way twice and notices every change', () => {
  const mine = sealing(KEY, 'hooks');
  const sealed = mine.seal('secret');
  expect(mine.seal('secret')).not.toEqual(sealed);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(() => mine.open(changed)).toThrow();
  }
  expect(() => mine.open(Buffer.alloc(0))).toThrow();
});
