import { unacceptable } from '../../failures.ts';
import { readTimeRange } from '../requests/read-time.ts';

/** Which issues or pull requests a list shows: `closed`, `all`, and everything else means open. */
export function readState(state: string | undefined): 'open' | 'closed' | 'all' {
  return state === 'closed' || state === 'all' ? state : 'open';
}

/** Issues, pull requests, or by default both. */
export function readKind(type: string | undefined): 'issues' | 'pulls' | 'all' {
  return type === 'issues' || type === 'pulls' ? type : 'all';
}

/** Longest keyword in characters, and most words in one: each is looked for by itself. */
const MAX_KEYWORD = 200;
const MAX_WORDS = 10;

/**
 * Search rule: trimmed, and nothing when it contains NUL.
 * @throws 422 for one that is too long or has too many words
 */
export function readKeyword(q: string | undefined): string {
  const keyword = (q ?? '').trim();
  if (keyword.includes('\0')) return '';
  if (keyword.length > MAX_KEYWORD && Array.from(keyword).length > MAX_KEYWORD)
    throw unacceptable(`[Q]: MaxSize(${MAX_KEYWORD})`);
  if ((keyword.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) > MAX_WORDS)
    throw unacceptable(`[Q]: MaxWords(${MAX_WORDS})`);
  return keyword;
}

/** Names of a list with commas, in lower case; empty ones and those with NUL, which nothing is called, are left out. */
function readNames(text: string | undefined): string[] {
  const names = (text ?? '').split(',').map((name) => name.trim().toLowerCase());
  return [...new Set(names)].filter((name) => name !== '' && !name.includes('\0'));
}

/** `true` as Go reads it. */
export const readBoolean = (text: string | undefined) => /^(1|t|true)$/i.test(text ?? '');

/** What every list of issues can be filtered by. */
export function readFilter(query: {
  state?: string | undefined;
  type?: string | undefined;
  q?: string | undefined;
  labels?: string | undefined;
  milestones?: string | undefined;
  since?: string | undefined;
  before?: string | undefined;
}) {
  const milestones = readNames(query.milestones);
  const range = readTimeRange(query);
  return {
    state: readState(query.state),
    kind: readKind(query.type),
    keyword: readKeyword(query.q),
    labels: readNames(query.labels),
    milestones: milestones.length === 0 ? null : milestones,
    since: range.since ?? null,
    before: range.before ?? null,
  };
}

/**
 * Link rule: the header of a list of issues is made from the repository's counters, not from what the filters leave;
 * pull requests are not counted.
 */
export function countForLink(
  state: 'open' | 'closed' | 'all',
  repository: { issues: number; closed_issues: number },
): number {
  if (state === 'all') return repository.issues;
  return state === 'closed' ? repository.closed_issues : repository.issues - repository.closed_issues;
}
