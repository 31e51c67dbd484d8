import { describe, expect, it } from 'vitest';
import { readKinds, readNewStatus, readStatuses, readThreadId, readTime } from './thread-filter.ts';

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

  it.each(['yesterday', '2026-01-31', '2026-13-31T00:00:00Z'])('%s is no time', (text) => {
    expect(() => readTime(text)).toThrow('is not a time');
  });

  it('takes a time whose plus was decoded as a space', () => {
    expect(readTime('2026-01-31T01:00:00 01:00')).toEqual(new Date('2026-01-31T00:00:00Z'));
    expect(readTime(undefined)).toBeNull();
  });

  it('takes numbers only', () => {
    expect(readThreadId('12')).toBe(12);
    for (const text of ['', '-1', 'x', '1e3', '9'.repeat(20)]) expect(() => readThreadId(text)).toThrow();
  });
});
