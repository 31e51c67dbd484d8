import { z } from 'zod';
import type { MilestoneRow } from '../store/issues/milestones.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime, wireTimeOrNull } from '../wire-time.ts';

/** A milestone on the wire; issues and pull requests are counted together. */
export const milestoneSchema = z.object({
  id: z.int(),
  title: z.string(),
  description: z.string(),
  state: z.enum(['open', 'closed']),
  open_issues: z.int(),
  closed_issues: z.int(),
  created_at: timeSchema,
  updated_at: timeSchema.nullable(),
  closed_at: timeSchema.nullable(),
  due_on: timeSchema.nullable(),
});

/** A milestone as everybody gets it. */
export function milestoneJson(row: MilestoneRow): z.output<typeof milestoneSchema> {
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    state: row.closed_at === null ? 'open' : 'closed',
    open_issues: row.open_issues,
    closed_issues: row.closed_issues,
    created_at: wireTime(row.created_at),
    updated_at: wireTime(row.updated_at),
    closed_at: wireTimeOrNull(row.closed_at),
    due_on: wireTimeOrNull(row.due_at),
  };
}
