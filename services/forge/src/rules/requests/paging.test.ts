import { describe, expect, it } from 'vitest';
import { pageLinks, planBeginning, readPage, restLinks } from './paging.ts';

const sizes = { fallback: 30, maximum: 50 };

describe('page and limit', () => {
  it.each([
    [{}, 1, 30, 0],
    [{ page: '3', limit: '10' }, 3, 10, 20],
    [{ page: '0', limit: '0' }, 1, 30, 0],
    [{ page: '-1', limit: '-1' }, 1, 30, 0],
    [{ page: 'x', limit: '1.5' }, 1, 30, 0],
    [{ limit: '51' }, 1, 50, 0],
    [{ page: '99999999999', limit: '99999999999' }, 999_999_999, 50, 2_000_000_000],
    [{ page: '9'.repeat(400) }, 999_999_999, 30, 2_000_000_000],
  ])('%j', (query, page, limit, offset) => {
    expect(readPage(query, sizes)).toEqual({ page, limit, offset });
  });
});

describe('Link', () => {
  const at = (page: number, limit = 10) => ({ page, limit, offset: 0 });
  const u = (page: number) => `<https://h/x?limit=10&page=${page}&state=all>`;

  it.each([
    ['one page', at(1), 10, undefined],
    ['the first', at(1), 25, `${u(2)}; rel="next",${u(3)}; rel="last"`],
    [
      'the middle',
      at(2),
      25,
      `${u(3)}; rel="next",${u(3)}; rel="last",${u(1)}; rel="first",${u(1)}; rel="prev"`,
    ],
    ['the last', at(3), 25, `${u(1)}; rel="first",${u(2)}; rel="prev"`],
    ['past the end', at(9), 25, `${u(1)}; rel="first",${u(8)}; rel="prev"`],
    ['nothing', at(1), 0, undefined],
  ])('of %s', (_what, page, total, link) => {
    expect(pageLinks('https://h/x?state=all&limit=10&page=2', page, total)).toBe(link);
  });
});

describe('the beginning of a list that is too long for one answer', () => {
  it.each([
    ['everything', 7, 7, undefined],
    ['nothing', 0, 0, undefined],
    ['whole pages', 1000, 1070, { shown: 1000, limit: 50 }],
    ['no part of a page', 1010, 1070, { shown: 1000, limit: 50 }],
    ['less than a page', 3, 20, { shown: 3, limit: 3 }],
    ['one', 1, 2, { shown: 1, limit: 1 }],
  ])('of %s', (_what, loaded, total, plan) => {
    expect(planBeginning(loaded, total, 50)).toEqual(plan);
  });

  it('leads to the page behind it, and to the last', () => {
    const u = (page: number) => `<https://h/x?limit=50&page=${page}&since=y>`;
    const beginning = { shown: 1000, limit: 50 };
    expect(restLinks('https://h/x?since=y', beginning, 1070)).toBe(
      `${u(21)}; rel="next",${u(22)}; rel="last"`,
    );
  });
});
