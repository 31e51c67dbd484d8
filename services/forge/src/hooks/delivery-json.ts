import { z } from 'zod';
import type { DeliveryRow } from '../store/events/hook-deliveries.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime, wireTimeOrNull } from '../wire-time.ts';

const headersSchema = z.record(z.string(), z.string());

/** A delivery in the log of a hook: an addition to the reference, which shows it on its pages only. */
export const deliverySchema = z.object({
  id: z.int(),
  uuid: z.string(),
  event: z.string(),
  event_type: z.string(),
  attempts: z.int(),
  delivered_at: timeSchema
    .nullable()
    .describe('when the last attempt ended; null while there will be others'),
  succeeded: z.boolean().nullable(),
  error: z.string(),
  request: z.object({
    headers: headersSchema,
    payload: z
      .string()
      .describe(
        'empty where those before it on the page have 16 MiB already: ask for it on a page of its own',
      ),
  }),
  response: z.object({ status: z.int(), headers: headersSchema, body: z.string() }).nullable(),
  created_at: timeSchema,
});

/** A delivery as whoever administrates its hook gets it; headers that carry secrets were never kept. */
export function deliveryJson(row: DeliveryRow): z.output<typeof deliverySchema> {
  const headers = (value: unknown) => (value ?? {}) as Record<string, string>;
  return {
    id: row.id,
    uuid: row.uuid,
    event: row.event,
    event_type: row.event_type,
    attempts: row.attempts,
    delivered_at: wireTimeOrNull(row.delivered_at),
    succeeded: row.succeeded,
    error: row.error ?? '',
    request: { headers: headers(row.request_headers), payload: row.payload },
    response:
      row.status === null
        ? null
        : { status: row.status, headers: headers(row.response_headers), body: row.response_body ?? '' },
    created_at: wireTime(row.created_at),
  };
}
