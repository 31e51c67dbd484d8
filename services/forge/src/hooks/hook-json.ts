import { z } from 'zod';
import type { HookRow } from '../store/events/hooks.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A hook on the wire; its secrets are never told again. */
export const hookSchema = z.object({
  id: z.int(),
  type: z.string(),
  name: z.string(),
  config: z.object({ url: z.string(), content_type: z.string() }),
  events: z.array(z.string()),
  branch_filter: z.string(),
  authorization_header: z.string().describe('always empty'),
  active: z.boolean(),
  updated_at: timeSchema,
  created_at: timeSchema,
});

/** A hook as whoever administrates it gets it. */
export function hookJson(row: HookRow): z.output<typeof hookSchema> {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    config: { url: row.url, content_type: row.content_type },
    events: row.events,
    branch_filter: row.branch_filter,
    authorization_header: '',
    active: row.active,
    updated_at: wireTime(row.updated_at),
    created_at: wireTime(row.created_at),
  };
}
