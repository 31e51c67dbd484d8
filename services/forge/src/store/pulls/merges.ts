import { isUniqueViolation, type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A merge under way: everything that is needed to finish or abandon it after a crash. */
export type MergeRow = Tables['merges'];

/** The same before it begins; the base of most is the branch that moves. */
export type MergeIntent = Omit<MergeRow, 'started_at' | 'stacked_on'> & Partial<Pick<MergeRow, 'stacked_on'>>;

/**
 * Announces merges, all or none; false when one of the pull requests is no longer open or has another base, or a merge of
 * it is under way.
 */
export async function begin(tx: Tx, merges: readonly MergeIntent[]): Promise<boolean> {
  const inserting = tx.run`
    with wanted as (
      select * from jsonb_to_recordset(${JSON.stringify(merges)}::jsonb) as (pull_id bigint, merged_by bigint,
        base_branch text, base_sha text, head_sha text, merge_base text, commit_sha text, stacked_on text)
    ), possible as (
      select w.* from wanted w join :schema.pulls p on p.id = w.pull_id join :schema.issues i on i.id = p.issue_id
      where p.base_branch = coalesce(w.stacked_on, w.base_branch) and p.merged_at is null and i.closed_at is null
        and not exists (select from :schema.merges m where m.pull_id = p.id)
    )
    insert into :schema.merges (pull_id, merged_by, base_branch, base_sha, head_sha, merge_base, commit_sha,
      stacked_on, started_at)
    select pull_id, merged_by, base_branch, base_sha, head_sha, merge_base, commit_sha, stacked_on, ${tx.now}
    from possible where (select count(*) from possible) = (select count(*) from wanted)`;
  try {
    return (await inserting) === merges.length;
  } catch (error) {
    // Somebody announced the same one in this moment.
    if (isUniqueViolation(error, 'merges_pkey')) return false;
    throw error;
  }
}

/** The merge of a pull request that is under way, or was when we crashed. */
export function find(tx: Tx, pullId: number): Promise<MergeRow | undefined> {
  return tx.row<MergeRow>`select * from :schema.merges where pull_id = ${pullId}`;
}

/** All of them. */
export function list(tx: Tx): Promise<MergeRow[]> {
  return tx.rows<MergeRow>`select * from :schema.merges order by started_at`;
}

/** Those into one branch. */
export function listInto(tx: Tx, repositoryId: number, branch: string): Promise<MergeRow[]> {
  return tx.rows<MergeRow>`
    select m.* from :schema.merges m join :schema.pulls p on p.id = m.pull_id
    where p.repository_id = ${repositoryId} and m.base_branch = ${branch} order by m.started_at, m.pull_id`;
}

/** The result of the merge is recorded, or it is given up. */
export async function remove(tx: Tx, pullId: number): Promise<void> {
  await removeAll(tx, [pullId]);
}

/** The same for several. */
export async function removeAll(tx: Tx, pullIds: readonly number[]): Promise<void> {
  await tx.run`delete from :schema.merges where pull_id = any(${pullIds}::bigint[])`;
}
