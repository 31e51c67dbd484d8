import { type Fragment, fragment } from '@croft/sql';
import type { Viewer } from '../viewer.ts';

/**
 * A statement for what somebody may read of some repositories (`repository_id, owner_id, code, issues, pulls`; migration 0008).
 * Each is judged once, however many rows are in it: `may_read_unit` is no part of the plan, and judges anew for each row. The
 * array keeps the planner from taking them for one, for which it would gather the viewer's grants again and again.
 * @param ids a statement for their ids
 */
export const readableOf = (viewer: Viewer, ids: Fragment): Fragment => fragment`
  select * from :schema.readable(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly})
  where repository_id = any(array(${ids}))`;
