import type { Tx } from '@croft/sql';

/** Number of the pull request whose merge made a commit; the first one when several did. */
export async function findNumber(tx: Tx, repositoryId: number, commit: string): Promise<number | undefined> {
  const row = await tx.row<{ number: number }>`
    select i.number from :schema.pulls p join :schema.issues i on i.id = p.issue_id
    where p.repository_id = ${repositoryId} and p.merge_commit_sha = ${commit}
    order by p.id limit 1`;
  return row?.number;
}
