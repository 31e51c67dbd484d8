import { Slots, shareUnderWay } from '@croft/runtime';
import { busy, searchTooWide } from '../failures.ts';
import type { IssueFilter } from '../store/issues/issue-lists.ts';

/** Some texts take the database long to find; everything else has the other connections meanwhile. */
const searches = new Slots({ slots: 4, line: { places: 16, refuse: () => busy('searches') } });
const STATEMENT_TIMEOUT = '57014';

/**
 * Runs a query of a list: at once, or in its turn when texts are looked for.
 * @throws 503 when too many search already, or when the database needs too long
 */
export async function inSearchTurn<T>(
  filter: Pick<IssueFilter, 'keyword' | 'mentioned'>,
  query: () => Promise<T>,
): Promise<T> {
  if (filter.keyword === '' && filter.mentioned === '') return await query();
  const giveBack = await searches.take(shareUnderWay());
  try {
    return await query();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === STATEMENT_TIMEOUT) throw searchTooWide();
    throw error;
  } finally {
    giveBack();
  }
}
