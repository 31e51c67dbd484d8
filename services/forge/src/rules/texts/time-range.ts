import { unacceptable } from '../../failures.ts';

/** RFC 3339, with a zone. */
const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/**
 * The times of a list's `since` and `before`; what is absent or empty is no limit.
 * @throws 422 for something that is no time
 */
export function readTimeRange(query: { since?: string | undefined; before?: string | undefined }): {
  since: Date | undefined;
  before: Date | undefined;
} {
  return { since: readTime('since', query.since), before: readTime('before', query.before) };
}

function readTime(name: string, text: string | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined;
  // In a query a plus sign that was not encoded has become a space.
  const time = new Date(text.replace(/ (\d\d:\d\d)$/, '+$1').replace(' ', 'T'));
  if (!TIME.test(text.replace(/ (\d\d:\d\d)$/, '+$1')) || Number.isNaN(time.getTime()))
    throw unacceptable(`[${name}]: expected a time such as 2026-01-31T00:00:00Z`);
  return time;
}
