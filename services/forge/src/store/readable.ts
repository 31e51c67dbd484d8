import { type Fragment, fragment } from '@croft/sql';
import type { Viewer } from '../viewer.ts';

/**
 * A statement for what somebody may read of some repositories (`repository_id, owner_id, code, issues, pulls`; migration 0008).
 * Each is judged once, however many rows are in it: `may_read_unit` is no part of the plan, and judges anew for each row.
 * @param ids a statement for their ids, `repository_id`
 */
export const readableOf = (viewer: Viewer, ids: Fragment): Fragment => fragment`
  select u.* from (select distinct repository_id from (${ids}) as named) as d
    join :schema.readable(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}) u using (repository_id)`;
