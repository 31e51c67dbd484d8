import { expect, test } from 'vitest';
import { isStale, readStatus } from './account-status.ts';

const welcome = { isRefused: false, role: undefined, hasFactor: false };
const refused = { isRefused: true, role: undefined };

const now = new Date('2026-01-02T03:04:05Z');
const ago = (ms: number) => new Date(now.getTime() - ms);

test.each([
  ['never asked', null, true],
  ['just asked', ago(0), false],
  ['asked 59.9 s ago', ago(59_900), false],
  ['asked a minute ago', ago(60_000), true],
])('%s', (_what, checkedAt, stale) => {
  expect(isStale(checkedAt, now)).toBe(stale);
});

test.each([
  ['a user', 200, { id: 'x' }, welcome],
  [
    'a user and his role',
    200,
    { id: 'x', role: 'editor' },
    { isRefused: false, role: 'editor', hasFactor: false },
  ],
  [
    'one with a second factor',
    200,
    { id: 'x', factors: [{ status: 'verified' }] },
    { ...welcome, hasFactor: true },
  ],
  ['one who began to have one', 200, { id: 'x', factors: [{ status: 'unverified' }] }, welcome],
  ['one who was banned once', 200, { id: 'x', banned_until: '2026-01-02T03:04:05.000000Z' }, welcome],
  ['one who is banned', 200, { id: 'x', banned_until: '2026-01-02T03:04:05.001000Z' }, refused],
  ['one who is banned for good', 200, { id: 'x', banned_until: 'infinity' }, refused],
  ['one who is marked as deleted', 200, { id: 'x', deleted_at: '2026-01-01T00:00:00Z' }, refused],
  ['nobody', 404, { code: 404, error_code: 'user_not_found', msg: 'User not found' }, refused],
  ['nothing there', 404, { code: 404, error_code: 'not_found', msg: 'no such route' }, undefined],
  ['a proxy', 404, '<html>', undefined],
  ['something else', 200, [], undefined],
  ['a refusal', 403, { code: 403, error_code: 'not_admin' }, undefined],
  ['a failure', 500, { id: 'x' }, undefined],
])('the answer about %s', (_what, status, body, expected) => {
  expect(readStatus(status, body, now)).toEqual(expected);
});
