import { expect, test } from 'vitest';
import { actionLink } from './action-link.ts';

const link = { tokenHash: 'abc', type: 'signup', redirectTo: 'https://site.example' } as const;

test.each([
  ['https://auth.example', '/verify', 'https://auth.example/verify'],
  ['https://example.org/auth/v1', '/verify', 'https://example.org/auth/v1/verify'],
  ['https://example.org/auth/v1', '/auth/v1/verify', 'https://example.org/auth/v1/verify'],
  ['https://example.org/auth', '/authority', 'https://example.org/auth/authority'],
  ['https://auth.example', 'confirm', 'https://auth.example/confirm'],
  ['https://auth.example', 'https://site.example/confirm', 'https://site.example/confirm'],
])('%s with path %s leads to %s', (externalUrl, path, expected) => {
  expect(actionLink(externalUrl, path, link)).toBe(
    `${expected}?token=abc&type=signup&redirect_to=https://site.example`,
  );
});

const QUERY = 'token=abc&type=signup&redirect_to=https://site.example';
test.each([
  ['/verify?lang=de', `https://h.example/auth/v1/verify?lang=de&${QUERY}`],
  ['/auth/v1?page=verify', `https://h.example/auth/v1?page=verify&${QUERY}`],
  ['/#/confirm', `https://h.example/auth/v1/?${QUERY}#/confirm`],
  ['https://site.example/#/confirm?a=b', `https://site.example/?${QUERY}#/confirm?a=b`],
  ['https://site.example/confirm?a=b#top', `https://site.example/confirm?a=b&${QUERY}#top`],
])('the query of a link to %s stands behind its own and before the fragment', (path, expected) => {
  expect(actionLink('https://h.example/auth/v1', path, link)).toBe(expected);
});

test.each([
  'https://site.example/#/',
  'https://site.example/?a=b&type=recovery',
  'https://site.example/"><b>',
  'https://ä.example',
])('%s arrives as it left', (redirectTo) => {
  const url = new URL(actionLink('https://auth.example', '/verify', { ...link, redirectTo }));
  expect(url.searchParams.get('redirect_to')).toBe(redirectTo);
  expect(url.searchParams.getAll('type')).toEqual(['signup']);
  expect(url.hash).toBe('');
});

test('half a character in it is none', () => {
  const url = new URL(
    actionLink('https://auth.example', '/verify', { ...link, redirectTo: 'https://site.example/\ud800' }),
  );
  expect(url.searchParams.get('redirect_to')).toBe('https://site.example/\ufffd');
});
