import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  childOf,
  FIRST_SECRET_BYTES,
  hashOf,
  type RefreshToken,
  readRefreshToken,
  writeRefreshToken,
} from './refresh-token.ts';

const key = createSecretKey(randomBytes(32));
const sessionId = randomUUID();
const first: RefreshToken = { sessionId, counter: 0, secret: randomBytes(FIRST_SECRET_BYTES) };

describe('refresh tokens', () => {
  test('what is written is read again', () => {
    expect(readRefreshToken(writeRefreshToken(first, key), key)).toEqual(first);
  });

  test('the same parent has the same child, with another hash', () => {
    const child = childOf(first, key);
    expect(childOf(first, key)).toEqual(child);
    expect(child.counter).toBe(1);
    expect(hashOf(child)).not.toEqual(hashOf(first));
  });

  test('another key gives another child: the hashes in the database tell nobody the next token', () => {
    expect(childOf(first, createSecretKey(randomBytes(32))).secret).not.toEqual(childOf(first, key).secret);
  });

  test('another family has other children', () => {
    expect(childOf({ ...first, sessionId: randomUUID() }, key).secret).not.toEqual(
      childOf(first, key).secret,
    );
  });

  test('a chain never meets itself', () => {
    const seen = new Set<string>();
    for (let token = first; seen.size < 1000; token = childOf(token, key))
      seen.add(hashOf(token).toString('hex'));
    expect(seen.size).toBe(1000);
  });

  test('a token with any byte changed is not ours', () => {
    const bytes = Buffer.from(writeRefreshToken(first, key), 'base64url');
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const forged = Buffer.from(bytes);
        forged[at] = (forged[at] as number) ^ change;
        expect(readRefreshToken(forged.toString('base64url'), key)).toBeUndefined();
      }),
    );
  });

  test('no text but our own is a token', () => {
    const genuine = writeRefreshToken(first, key);
    for (const text of [
      '',
      'x',
      'invalid-refresh-token',
      `${genuine}=`,
      ` ${genuine}`,
      genuine.slice(1),
      '\u0000',
    ]) {
      expect(readRefreshToken(text, key)).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readRefreshToken(text, key)).toBeUndefined();
      }),
    );
  });
});
