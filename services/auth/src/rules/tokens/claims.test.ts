import { expect, test } from 'vitest';
import { pendingPerson } from '../users/disguised-user.ts';
import { accessTokenClaims } from './claims.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const draft = { aud: 'authenticated', role: 'member', email: 'ada@example.com', data: { name: 'Ada' } };
const { user } = pendingPerson('00000000-0000-4000-8000-000000000001', 'i', draft, now);
const session = { id: 's', aal: 'aal1', amr: [{ method: 'password', timestamp: 1767323045 }] };

test('the claims of §3.4, in its order', () => {
  const claims = accessTokenClaims(user, session, now, 3600, undefined);
  expect(claims).toEqual({
    sub: user.id,
    aud: 'authenticated',
    exp: 1767326645,
    iat: 1767323045,
    email: 'ada@example.com',
    phone: '',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: expect.objectContaining({ name: 'Ada', email: 'ada@example.com' }),
    role: 'member',
    aal: 'aal1',
    amr: session.amr,
    session_id: 's',
    is_anonymous: false,
  });
  expect(Object.keys(claims)[0]).toBe('sub');
});

test('an issuer comes first when there is one', () => {
  expect(Object.entries(accessTokenClaims(user, session, now, 3600, 'https://me'))[0]).toEqual([
    'iss',
    'https://me',
  ]);
});
