import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emailIdentityData, uuidFrom } from './disguised-user.ts';

test('what the client sends as data cannot claim what only the service decides', () => {
  const data = {
    sub: 'x',
    email: 'eve@evil.example',
    email_verified: true,
    phone_verified: true,
    name: 'Ada',
  };
  expect(emailIdentityData('id', { email: 'ada@example.com', data }, false)).toEqual({
    sub: 'id',
    email: 'ada@example.com',
    email_verified: false,
    phone_verified: false,
    name: 'Ada',
  });
});

test('a made-up id looks like any random one', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      expect(uuidFrom(Buffer.from(bytes))).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }),
  );
});
