/** What an entry of a timeline refers to; what its kind does not have is undefined. */
export interface EntryDetails {
  label: number | undefined;
  milestone: number | undefined;
  oldMilestone: number | undefined;
  assignee: number | undefined;
  removedAssignee: boolean;
  oldTitle: string;
  newTitle: string;
  oldRef: string;
  newRef: string;
  dependentIssue: number | undefined;
  refIssue: number | undefined;
  refComment: number | undefined;
  refAction: string;
  refCommitSha: string;
  trackedTime: number | undefined;
  review: number | undefined;
  assigneeTeam: number | undefined;
  /** Of a push to the head of a pull request. */
  push: { isForced: boolean; commits: readonly string[] } | undefined;
}

/** Reads what is stored with an entry: the names are those of the API, the values ids or texts. */
export function readDetails(stored: unknown): EntryDetails {
  const details = (stored ?? {}) as Readonly<Record<string, unknown>>;
  const id = (name: string) => {
    const value = details[name];
    return typeof value === 'number' ? value : undefined;
  };
  const text = (name: string) => {
    const value = details[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    label: id('label'),
    milestone: id('milestone'),
    oldMilestone: id('old_milestone'),
    assignee: id('assignee'),
    removedAssignee: details['removed_assignee'] === true,
    oldTitle: text('old_title'),
    newTitle: text('new_title'),
    oldRef: text('old_ref'),
    newRef: text('new_ref'),
    dependentIssue: id('dependent_issue'),
    refIssue: id('ref_issue_id'),
    refComment: id('ref_comment_id'),
    refAction: text('ref_action') || 'none',
    refCommitSha: text('ref_commit_sha') || text('commit_id'),
    trackedTime: id('tracked_time'),
    review: id('review_id'),
    assigneeTeam: id('assignee_team'),
    push: readPush(details),
  };
}

function readPush(details: Readonly<Record<string, unknown>>): EntryDetails['push'] {
  const commits = details['commit_ids'];
  if (!Array.isArray(commits)) return undefined;
  return { isForced: details['is_force_push'] === true, commits: commits.map(String) };
}
