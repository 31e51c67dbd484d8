import { expect, test } from 'vitest';
import { correctEstimate, pageLinks, readOldestFirst, readPage } from './admin-page.ts';

test.each([
  [undefined, undefined, 1, 50],
  ['', '', 1, 50],
  ['0', '0', 1, 50],
  ['7', '3', 7, 3],
  ['1', '5000', 1, 5000],
  ['1', '10001', 1, 10_000],
  ['999999999999999', '1', 10 ** 9, 1],
])('page %s of %s is %i of %i', (page, perPage, number, size) => {
  expect(readPage(page, perPage)).toEqual({ page: number, perPage: size });
});

test.each(['-1', '1.5', 'x', ' 1', '1e3', '9'.repeat(16)])('refuses %j', (text) => {
  expect(() => readPage(text, '')).toThrow('Bad Pagination Parameters');
  expect(() => readPage('', text)).toThrow('Bad Pagination Parameters');
});

test.each([
  [undefined, false],
  ['', false],
  ['created_at', false],
  ['created_at desc', false],
  ['created_at ASC', true],
])('sort %s: oldest first is %s', (sort, oldest) => {
  expect(readOldestFirst(sort)).toBe(oldest);
});

test.each(['email', 'created_at up', 'created_at asc; drop', '__proto__'])('refuses the sort %j', (sort) => {
  expect(() => readOldestFirst(sort)).toThrow('Bad Sort Parameters');
});

test.each([
  [1, 10, 25, '</u?page=2&per_page=10>; rel="next", </u?page=3&per_page=10>; rel="last"'],
  [3, 10, 25, '</u?page=3&per_page=10>; rel="last"'],
  [9, 10, 25, '</u?page=3&per_page=10>; rel="last"'],
  [1, 10, 0, '</u?page=1&per_page=10>; rel="last"'],
])('links of page %i with %i of %i', (page, perPage, total, expected) => {
  expect(pageLinks('/u', { page, perPage }, total)).toBe(expected);
});

test.each([
  ['full before the end', 25, 1, 10, 25, false],
  ['full, where the estimate ends', 20, 2, 10, 21, false],
  ['full behind the estimate', 20, 3, 10, 31, false],
  ['not full', 25, 2, 4, 14, true],
  ['not full behind the estimate', 15, 3, 1, 21, true],
  ['empty and the first', 25, 1, 0, 0, true],
  ['empty behind the end', 25, 3, 0, 20, false],
  ['empty far behind it', 25, 9, 0, 25, false],
])('an estimate and a page that is %s', (_name, estimate, page, found, total, isExact) => {
  expect(correctEstimate(estimate, { page, perPage: 10 }, found)).toEqual({ total, isExact });
});
