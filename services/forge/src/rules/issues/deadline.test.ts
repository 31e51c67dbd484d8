import { expect, it } from 'vitest';
import { deadlineOf, decideDeadline } from './deadline.ts';

it.each([
  ['2026-01-31T00:00:00Z', '2026-01-31T23:59:59.000Z'],
  ['2026-01-31T23:59:59.999Z', '2026-01-31T23:59:59.000Z'],
  ['2026-01-31T01:00:00+14:00', '2026-01-31T09:59:59.000Z'],
  ['2026-01-31T22:00:00-11:00', '2026-02-01T10:59:59.000Z'],
])('end-of-day rule: %s is stored as %s', (given, stored) => {
  expect(deadlineOf(given)?.toISOString()).toBe(stored);
});

it.each([
  ['nothing given', {}, undefined],
  ['null', { deadline: null }, undefined],
  ['the zero value', { deadline: '0001-01-01T00:00:00Z' }, null],
  ['removal', { removeDeadline: true }, null],
  ['removal beside a value', { deadline: '2026-01-01T00:00:00Z', removeDeadline: true }, null],
  ['no removal', { removeDeadline: false }, undefined],
])('edit rule 4: %s', (_what, wanted, result) => {
  expect(decideDeadline(wanted)).toBe(result);
});
