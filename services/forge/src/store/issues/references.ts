import type { Tx } from '@croft/sql';

/** What of a text is told in the timeline of an issue it names. */
export interface ReferenceEntry {
  issueId: number;
  kind: 'issue_ref' | 'pull_ref' | 'comment_ref' | 'commit_ref';
  posterId: number | null;
  /** Says which text it is: the same text is told of once. */
  key: string;
  action: 'none' | 'closes' | 'reopens';
  /** Where the text stands. */
  repositoryId: number;
  sourceIssueId?: number;
  sourceCommentId?: number;
  commitSha?: string;
  /** Subject of a commit. */
  body?: string;
}

/** Key of the text of an issue. */
export const issueKey = (id: number) => `issue:${id}`;

/** Key of a comment. */
export const commentKey = (id: number) => `comment:${id}`;

/** Key of a commit in a repository. */
export const commitKey = (repositoryId: number, sha: string) => `commit:${repositoryId}:${sha}`;

/**
 * Tells of a text, as it is now; false when that was done. What a commit wants it does not take back: on another branch it may
 * mean nothing. Deadlocks cannot be: one row each.
 */
export async function add(tx: Tx, entry: ReferenceEntry): Promise<boolean> {
  const details = {
    ref_key: entry.key,
    ref_action: entry.action,
    ref_repository_id: entry.repositoryId,
    ...(entry.sourceIssueId === undefined ? {} : { ref_issue_id: entry.sourceIssueId }),
    ...(entry.sourceCommentId === undefined ? {} : { ref_comment_id: entry.sourceCommentId }),
    ...(entry.commitSha === undefined ? {} : { ref_commit_sha: entry.commitSha }),
  };
  const changed = await tx.run`
    insert into :schema.comments as known (issue_id, kind, poster_id, body, details, created_at, updated_at)
    values (${entry.issueId}, ${entry.kind}, ${entry.posterId}, ${entry.body ?? ''}, ${JSON.stringify(details)}, ${tx.now}, ${tx.now})
    on conflict ((details->>'ref_key'), issue_id) where details ? 'ref_key'
    do update set details = excluded.details, updated_at = excluded.updated_at
      where known.details->>'ref_action' <> excluded.details->>'ref_action'
        and (known.details->>'ref_action' = 'none' or known.kind <> 'commit_ref')`;
  return changed > 0;
}

/** What was told of a text. */
export interface ToldReference {
  id: number;
  issue_id: number;
  action: ReferenceEntry['action'] | 'neutered';
}

/** Where a text was told of. */
export function listOf(tx: Tx, key: string): Promise<ToldReference[]> {
  return tx.rows<ToldReference>`
    select id, issue_id, details->>'ref_action' as action from :schema.comments
    where details->>'ref_key' = ${key} and details ? 'ref_key' order by id`;
}

/** Says of one of them what the text wants now; `neutered` is that it does not name the issue any more. */
export async function updateAction(tx: Tx, id: number, action: ToldReference['action']): Promise<void> {
  await tx.run`
    update :schema.comments
    set details = details || jsonb_build_object('ref_action', ${action}::text), updated_at = ${tx.now}
    where id = ${id}`;
}

/** What the entry of an end or a new beginning has in its details that the text of a merged pull request brought about. */
export const mergeMark = (mergedIssueId: number) => ({ merged_issue_id: mergedIssueId });

/** Whether that text has done so: afterwards others decide. For whoever holds the issue. */
export async function isMergeFollowed(tx: Tx, issueId: number, mergedIssueId: number): Promise<boolean> {
  const row = await tx.row`
    select from :schema.comments
    where issue_id = ${issueId} and kind in ('close', 'reopen')
      and details @> ${JSON.stringify(mergeMark(mergedIssueId))}::jsonb
    limit 1`;
  return row !== undefined;
}

/** Forgets that a text was told of: it is gone. */
export async function removeOf(tx: Tx, key: string): Promise<void> {
  await tx.run`delete from :schema.comments where details->>'ref_key' = ${key} and details ? 'ref_key'`;
}

/** An issue or pull request that a text may be told in. */
export interface ReferenceTarget {
  id: number;
  repository_id: number;
  number: number;
  is_pull: boolean;
  locked: boolean;
  poster_id: number | null;
}

/** Those of some issues that exist, by pairs of repository and number. */
export function listTargets(
  tx: Tx,
  pairs: readonly { repositoryId: number; number: number }[],
): Promise<ReferenceTarget[]> {
  const repositories = pairs.map(({ repositoryId }) => repositoryId);
  const numbers = pairs.map(({ number }) => number);
  return tx.rows<ReferenceTarget>`
    select distinct i.id, i.repository_id, i.number, i.is_pull, i.locked_at is not null as locked, i.poster_id
    from unnest(${repositories}::bigint[], ${numbers}::bigint[]) as named (repository_id, number)
      join :schema.issues i on i.repository_id = named.repository_id and i.number = named.number
    order by i.id`;
}
