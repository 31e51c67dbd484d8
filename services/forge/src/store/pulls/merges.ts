import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A merge under way: everything that is needed to finish or abandon it after a crash. */
export type MergeRow = Tables['merges'];

/** Announces a merge; false when the pull request is no longer open or has another base, or a merge of it is under way. */
export async function begin(tx: Tx, merge: Omit<MergeRow, 'started_at'>): Promise<boolean> {
  const inserted = await tx.run`
    insert into :schema.merges (pull_id, merged_by, base_branch, base_sha, head_sha, merge_base, commit_sha,
      started_at)
    select p.id, ${merge.merged_by}, p.base_branch, ${merge.base_sha}, ${merge.head_sha}, ${merge.merge_base},
      ${merge.commit_sha}, ${tx.now}
    from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.id = ${merge.pull_id} and p.base_branch = ${merge.base_branch} and p.merged_at is null and i.closed_at is null
    on conflict (pull_id) do nothing`;
  return inserted > 0;
}

/** The merge of a pull request that is under way, or was when we crashed. */
export function find(tx: Tx, pullId: number): Promise<MergeRow | undefined> {
  return tx.row<MergeRow>`select * from :schema.merges where pull_id = ${pullId}`;
}

/** All of them. */
export function list(tx: Tx): Promise<MergeRow[]> {
  return tx.rows<MergeRow>`select * from :schema.merges order by started_at`;
}

/** The result of the merge is recorded, or it is given up. */
export async function remove(tx: Tx, pullId: number): Promise<void> {
  await tx.run`delete from :schema.merges where pull_id = ${pullId}`;
}
