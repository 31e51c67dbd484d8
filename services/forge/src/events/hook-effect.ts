import { type OutgoingAnswer, OutgoingFailed } from '@croft/http/outgoing';
import { type Deliver, inBatches } from '@croft/sql';
import type { Context } from '../context.ts';
import { isWorthRetrying, writeHookRequest } from '../rules/events/hook-request.ts';
import * as deliveries from '../store/events/hook-deliveries.ts';
import { deliveryOf } from './send-to-hooks.ts';

/** With the back-off of the outbox they span about ten minutes. */
const MAX_ATTEMPTS = 8;
/** Of the receiver's answer; enough to see what it complains about. */
const KEPT_ANSWER_BYTES = 64 * 1024;
/** As many share a statement. */
const MOST = 64;
/** Deliveries that end within this time are written down together. */
const GATHER_MS = 5;
/** Less than what an outbox allows a delivery. */
const MAX_TIMEOUT_MS = 20_000;

/** Sends a delivery to its hook and writes down what came back; throws to have it tried again. */
export function hookEffect(context: Context): Deliver {
  const { database, settings, webhooks } = context;
  const load = inBatches({ most: MOST }, async (ids: readonly number[]) => {
    const rows = await deliveries.mapWithHooks(database.autocommit(), ids);
    return ids.map((id) => rows.get(id));
  });
  const recordEnd = inBatches(
    { most: MOST, gatherMs: GATHER_MS },
    async (ends: readonly deliveries.End[]) => {
      await deliveries.recordEnds(database.autocommit(), ends);
      return ends;
    },
  );
  return async (row, signal) => {
    const id = deliveryOf(row);
    const delivery = await load(id);
    // Its hook was deleted, or somebody else brought it to its end.
    if (delivery === undefined || delivery.delivered_at !== null) return;
    const request = prepare(context, delivery);
    if (request === undefined) {
      const error = 'the secret was sealed with another at-rest key';
      await end({ ...NOTHING, attempts: row.attempts, error }, false);
      return 'finished';
    }
    const { headers, body, authorization } = request;
    const attempt = { ...NOTHING, attempts: row.attempts, request_headers: headers };
    try {
      const answer = await webhooks.http(
        delivery.hook.url,
        {
          method: 'POST',
          body,
          headers: { accept: '*/*', ...headers, ...(authorization === '' ? {} : { authorization }) },
          timeoutMs: Math.min(settings.WEBHOOK_TIMEOUT, MAX_TIMEOUT_MS),
          maxBytes: KEPT_ANSWER_BYTES,
          cut: true,
          followRedirects: false,
        },
        signal,
      );
      const succeeded = answer.status >= 200 && answer.status < 300;
      const error = succeeded ? null : `the receiver answered ${answer.status}`;
      return await conclude({ ...attempt, ...answered(answer), error }, isWorthRetrying(answer.status));
    } catch (error) {
      if (!(error instanceof OutgoingFailed)) throw error;
      return await conclude({ ...attempt, error: error.message }, error.reason !== 'refused-address');
    }

    async function conclude(attempted: deliveries.Attempt, retry: boolean): Promise<'finished'> {
      if (retry && row.attempts < MAX_ATTEMPTS) {
        await deliveries.recordAttempt(database.autocommit(), id, attempted);
        throw new TryAgain(attempted.error ?? '');
      }
      await end(attempted, attempted.error === null);
      return 'finished';
    }
    function end(attempted: deliveries.Attempt, succeeded: boolean): Promise<unknown> {
      return recordEnd({ ...attempted, id, outbox_id: row.id, succeeded });
    }
  };
}

/** The receiver may do better later. */
class TryAgain extends Error {
  override readonly name = 'TryAgain';
}

const NOTHING = {
  status: null,
  request_headers: null,
  response_headers: null,
  response_body: null,
  error: null,
};

/** What is sent; undefined when the secrets cannot be opened. */
function prepare(context: Context, delivery: deliveries.DeliveryWithHook) {
  const secrets = openSecrets(context, delivery);
  if (secrets === undefined) return undefined;
  const request = writeHookRequest({
    uuid: delivery.uuid,
    event: delivery.event,
    eventType: delivery.event_type,
    contentType: delivery.hook.content_type === 'form' ? 'form' : 'json',
    payload: delivery.payload,
    secret: secrets.secret,
    target: targetOf(delivery),
  });
  return { ...request, authorization: secrets.authorization };
}

function openSecrets({ webhooks: { sealing } }: Context, delivery: deliveries.DeliveryWithHook) {
  const open = (sealed: Uint8Array | null) => (sealed === null ? '' : sealing.open(sealed));
  try {
    return { secret: open(delivery.secret), authorization: open(delivery.authorization_header) };
  } catch {
    return undefined;
  }
}

function targetOf({ repository_id: repositoryId, owner_kind: kind }: deliveries.DeliveryWithHook): string {
  if (repositoryId !== null) return 'repository';
  if (kind === null) return 'system';
  return kind === 'organization' ? 'organization' : 'user';
}

function answered({ status, headers, text }: OutgoingAnswer) {
  // PostgreSQL keeps no NUL.
  return { status, response_headers: Object.fromEntries(headers), response_body: text.replaceAll('\0', '') };
}
