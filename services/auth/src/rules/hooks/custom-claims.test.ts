import { expect, it } from 'vitest';
import { problemWithClaims } from './custom-claims.ts';

const given = {
  sub: 'a',
  aud: 'authenticated',
  exp: 4_600,
  iat: 1_000,
  email: '',
  phone: '',
  app_metadata: {},
  user_metadata: {},
  role: 'authenticated',
  aal: 'aal1',
  amr: [{ method: 'password', timestamp: 1_000 }],
  session_id: 's',
  is_anonymous: false,
};

it.each<[string, object]>([
  ['nothing changed', {}],
  ['another claim', { tenant: { id: 7 }, 'https://example.org/x': null }],
  ['another role', { role: 'editor' }],
  ['several audiences', { aud: ['a', 'b'] }],
  ['a shorter life', { exp: 1_060 }],
  ['other ways to have signed in', { amr: [{ method: 'badge', timestamp: 1_000, provider: 'x' }] }],
  ['no way to have signed in', { amr: [] }],
  ['no metadata', { app_metadata: undefined, user_metadata: undefined, amr: undefined }],
  ['claims of the standard', { jti: 'x', nbf: 1_000, iss: 'here' }],
])('%s is taken', (_name, change) => {
  expect(problemWithClaims(given, { ...given, ...change })).toBeUndefined();
});

it('names what is missing and of a wrong type, all at once', () => {
  const { exp: _exp, ...rest } = given;
  expect(problemWithClaims(given, { ...rest, email: null, role: 7 })).toBe(
    'output claims do not conform to the expected schema: \n- (root): exp is required\n- email: expected string\n- role: expected string\n',
  );
  expect(problemWithClaims(given, undefined)).toBe('output claims field is missing');
  for (const none of [null, [], 'x', 7])
    expect(problemWithClaims(given, none)).toContain('expected an object');
  expect(problemWithClaims(given, {})).toContain('session_id is required');
});

it.each([
  ['sub', 'b'],
  ['session_id', 't'],
  ['iat', 2_000],
  ['aal', 'aal2'],
])('%s stays what it is: another would be the token of another sign-in', (name, value) => {
  expect(problemWithClaims(given, { ...given, [name]: value })).toContain(`${name}: cannot be changed`);
});

it.each([
  ['a text', ['otp']],
  ['nothing', [null]],
  ['a list', [['otp']]],
  ['an object without a method', [{ method: 'password', timestamp: 1_000 }, { timestamp: 1_000 }]],
  ['an object whose method is no text', [{ method: 7 }]],
])('how somebody signed in cannot be %s', (_name, amr) => {
  expect(problemWithClaims(given, { ...given, amr })).toContain('amr: expected objects with a method');
});

it.each([
  ['over already', 1_000],
  ['a fraction', 4_600.5],
  ['no number', '4600'],
  ['larger than any', 2 ** 60],
])('an end that is %s is refused', (_name, exp) => {
  expect(problemWithClaims(given, { ...given, exp })).toContain('exp: ');
});
