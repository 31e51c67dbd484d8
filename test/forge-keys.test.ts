import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { forge } from '../launcher/registry/forge.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = JSON.stringify([{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' }]);

test.each(['FORGE_JWT_KEYS', 'AUTHSVC_JWT_KEYS'])('a forge by itself needs no secret with %s', (name) => {
  expect(() => forge.configure({ [name]: keys }, true)).not.toThrow();
});

test('without either it says what is missing', () => {
  expect(() => forge.configure({}, true)).toThrow('FORGE_JWT_SECRET is required');
});
