import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** Where a push took a branch that pull requests went into. */
export type BaseMove = Pick<Tables['base_moves'], 'before_sha' | 'after_sha'>;

/** So long it is remembered. */
const KEPT_DAYS = 90;

/** How pushes moved a branch, the newest first. */
export function list(tx: Tx, repositoryId: number, branch: string): Promise<BaseMove[]> {
  return tx.rows<BaseMove>`
    select before_sha, after_sha from :schema.base_moves
    where repository_id = ${repositoryId} and branch = ${branch} order by id desc`;
}

/** Forgets the oldest whose time is over, some at once. */
export async function sweep(tx: Tx): Promise<number> {
  return await tx.run`
    delete from :schema.base_moves where id in (select id from :schema.base_moves order by id limit 1000)
      and moved_at < ${tx.now}::timestamptz - ${KEPT_DAYS} * interval '1 day'`;
}
