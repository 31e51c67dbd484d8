import { describe, expect, it } from 'vitest';
import { readKinds, readNewStatus, readStatuses, readThreadId } from './thread-filter.ts';

it.each([
  [undefined, [], ['unread', 'pinned']],
  ['false', [], ['unread', 'pinned']],
  ['true', [], ['unread', 'read', 'pinned']],
  ['true', ['read'], ['read']],
  [undefined, ['read,pinned'], ['read', 'pinned']],
  [undefined, ['read', 'unread'], ['unread', 'read']],
  [undefined, ['nonsense'], ['unread', 'pinned']],
])('all=%j with %j shows %j', (all, statusTypes, statuses) => {
  expect(readStatuses({ all, statusTypes })).toEqual(statuses);
});

it.each([
  [[], ['issue', 'pull']],
  [['Issue'], ['issue']],
  [
    ['pull', 'issue'],
    ['issue', 'pull'],
  ],
  [['commit,repository'], []],
])('subject types %j show %j', (types, kinds) => {
  expect(readKinds(types)).toEqual(kinds);
});

describe('what a request sets and asks', () => {
  it('is read when it says nothing', () => {
    expect(readNewStatus(undefined)).toBe('read');
    expect(readNewStatus('Pinned')).toBe('pinned');
    expect(() => readNewStatus('gone')).toThrow('gone is not a notification status');
  });

  it('takes numbers only', () => {
    expect(readThreadId('12')).toBe(12);
    for (const text of ['', '-1', 'x', '1e3', '9'.repeat(20)]) expect(() => readThreadId(text)).toThrow();
  });
});
