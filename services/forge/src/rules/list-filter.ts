/** Which issues or pull requests a list shows: `closed`, `all`, and everything else means open. */
export function readState(state: string | undefined): 'open' | 'closed' | 'all' {
  return state === 'closed' || state === 'all' ? state : 'open';
}

/** Issues, pull requests, or by default both. */
export function readKind(type: string | undefined): 'issues' | 'pulls' | 'all' {
  return type === 'issues' || type === 'pulls' ? type : 'all';
}

/** Search rule: trimmed, and nothing when it contains NUL. */
export function readKeyword(q: string | undefined): string {
  const keyword = (q ?? '').trim();
  return keyword.includes('\0') ? '' : keyword;
}

/** The number of an issue or pull request in a path; 0, which none has, for anything else. */
export function readIndex(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
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
