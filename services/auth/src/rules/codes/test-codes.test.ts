import { expect, test } from 'vitest';
import { testCodeOf } from './test-codes.ts';

const codes = new Map([['14155552671', '123456']]);
const validUntil = new Date('2026-01-02T00:00:00Z');

test.each([
  ['a tester', '14155552671', undefined, '2099-01-01', '123456'],
  ['somebody else', '14155552672', undefined, '2026-01-01', undefined],
  ['in time', '14155552671', validUntil, '2026-01-01T23:59:59Z', '123456'],
  ['at the end', '14155552671', validUntil, '2026-01-02T00:00:00Z', undefined],
])('%s', (_name, phone, until, now, code) => {
  expect(testCodeOf(phone, { codes, validUntil: until }, new Date(now))).toBe(code);
});
