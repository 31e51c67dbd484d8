import type { Caller } from '../caller/caller.ts';
import { searchTooWide } from '../failures.ts';
import { Queues } from '../queues.ts';
import type { IssueFilter } from '../store/issues/issue-lists.ts';

/** Some texts take the database long to find; everything else has the other connections meanwhile. */
const searches = new Queues(4, { places: 16, what: 'searches' });
const STATEMENT_TIMEOUT = '57014';

/**
 * Runs a query of a list: at once, or in its turn when texts are looked for.
 * @throws 503 when too many search already, or when the database needs too long
 */
export async function inSearchTurn<T>(
  viewer: Caller | undefined,
  filter: Pick<IssueFilter, 'keyword' | 'mentioned'>,
  query: () => Promise<T>,
): Promise<T> {
  if (filter.keyword === '' && filter.mentioned === '') return await query();
  const giveBack = await searches.takeSlot(String(viewer?.userId ?? ''));
  try {
    return await query();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === STATEMENT_TIMEOUT) throw searchTooWide();
    throw error;
  } finally {
    giveBack();
  }
}
