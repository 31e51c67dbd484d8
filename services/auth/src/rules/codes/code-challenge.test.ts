import { expect, test } from 'vitest';
import { fits, readChallenge } from './code-challenge.ts';

// RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const read = (code_challenge?: string, code_challenge_method?: string) =>
  readChallenge({ code_challenge, code_challenge_method });

test.each([
  [undefined, undefined, undefined],
  ['', '', undefined],
  [CHALLENGE, 's256', { challenge: CHALLENGE, method: 's256' }],
  [CHALLENGE, 'S256', { challenge: CHALLENGE, method: 's256' }],
  ['-._~'.repeat(32), 'Plain', { challenge: '-._~'.repeat(32), method: 'plain' }],
])('reads %s, %s', (challenge, method, expected) => {
  expect(read(challenge, method)).toEqual(expected);
});

test.each([
  [CHALLENGE, undefined, 'PKCE flow requires'],
  [undefined, 's256', 'PKCE flow requires'],
  [CHALLENGE, 's512', 'Invalid code_challenge_method'],
  ['x'.repeat(42), 's256', 'between 43 and 128'],
  ['x'.repeat(129), 's256', 'between 43 and 128'],
  [`${'x'.repeat(42)}=`, 's256', 'can only contain'],
  [`${'x'.repeat(43)}\n`, 's256', 'can only contain'],
  ['ä'.repeat(43), 's256', 'can only contain'],
])('refuses %s, %s', (challenge, method, message) => {
  expect(() => read(challenge, method)).toThrow(message);
});

test.each([
  ['s256', VERIFIER, true],
  ['s256', CHALLENGE, false],
  ['s256', '', false],
  ['plain', CHALLENGE, true],
  ['plain', VERIFIER, false],
  ['plain', `${CHALLENGE}x`, false],
] as const)('%s: does %s fit', (method, verifier, expected) => {
  expect(fits(verifier, { challenge: CHALLENGE, method })).toBe(expected);
});
