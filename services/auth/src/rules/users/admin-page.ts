import { badPagination, badSort, invalidValue } from '../../failures.ts';

/** Which page of a list an administrator asks for, from 1. */
export interface AdminPage {
  page: number;
  perPage: number;
}

const PER_PAGE = 50;
/** All of a page is in memory at once; scripts written for the reference, which has no maximum, ask for thousands. */
export const MAX_PER_PAGE = 10_000;
/** No list is longer, and the database's numbers end somewhere. */
const MAX_PAGE = 10 ** 9;

/**
 * Reads `page` and `per_page`; absent, empty and zero mean the first page and fifty.
 * @throws Failure `validation_failed`
 */
export function readPage(page: string | undefined, perPage: string | undefined): AdminPage {
  return {
    page: Math.min(readNumber(page) || 1, MAX_PAGE),
    perPage: Math.min(readNumber(perPage) || PER_PAGE, MAX_PER_PAGE),
  };
}

function readNumber(text = ''): number {
  if (text === '') return 0;
  if (!/^\d{1,15}$/.test(text)) throw badPagination(text.slice(0, 30));
  return Number(text);
}

/**
 * Whether a list of users begins with the oldest; `sort` is `created_at`, with `asc` or `desc` behind it.
 * @throws Failure `validation_failed`
 */
export function readOldestFirst(sort = ''): boolean {
  const [field = '', order = 'desc', ...more] = sort.trim().split(/\s+/);
  if (field === '') return false;
  if (field !== 'created_at' || !['asc', 'desc'].includes(order.toLowerCase()) || more.length > 0)
    throw badSort(sort.slice(0, 60));
  return order.toLowerCase() === 'asc';
}

/**
 * A part of a text that is looked for.
 * @throws Failure `validation_failed` for U+0000, which the database takes in no text
 */
export function readPart(text: string): string {
  if (text.includes('\0')) throw invalidValue('a text cannot contain the character U+0000');
  return text;
}

/**
 * How many a list has, by an estimate of it and by one of its pages: nobody who follows the links from page to page stops
 * while pages are full, nor goes on where one is not.
 * @param found how many the page has
 */
export function correctEstimate(
  estimate: number,
  { page, perPage }: AdminPage,
  found: number,
): { total: number; isExact: boolean } {
  const before = (page - 1) * perPage;
  if (found === 0) return { total: Math.min(estimate, before), isExact: page === 1 };
  if (found < perPage) return { total: before + found, isExact: true };
  return { total: Math.max(estimate, before + perPage + 1), isExact: false };
}

/**
 * `Link` of a page (RFC 8288): the next one, where there is one, and the last. The page comes first in them, where clients
 * look for it.
 * @param others parameters that choose and order what is listed
 */
export function pageLinks(
  path: string,
  { page, perPage }: AdminPage,
  total: number,
  others: Readonly<Record<string, string | undefined>> = {},
): string {
  const last = Math.max(1, Math.ceil(total / perPage));
  const given = Object.entries(others).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const link = (number: number, rel: string): string => {
    const query = new URLSearchParams([['page', `${number}`], ['per_page', `${perPage}`], ...given]);
    return `<${path}?${query.toString()}>; rel="${rel}"`;
  };
  return [...(page < last ? [link(page + 1, 'next')] : []), link(last, 'last')].join(', ');
}
