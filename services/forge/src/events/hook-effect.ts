import { setImmediate } from 'node:timers/promises';
import { type OutgoingAnswer, OutgoingFailed } from '@croft/http/outgoing';
import { Slots } from '@croft/runtime';
import { type Deliver, inBatches, type OutboxRow } from '@croft/sql';
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
/** Of payloads that are not loaded with others, which may have a dozen megabytes each, and three times as many in a form. */
const LARGE_AT_ONCE = 8;
const LARGE_WAITING = 200;
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
  const large = new Slots({ slots: LARGE_AT_ONCE, line: { places: LARGE_WAITING, refuse: tooMany } });
  return async (row, signal) => {
    const delivery = await load(deliveryOf(row));
    // Its hook was deleted, or somebody else brought it to its end.
    if (delivery === undefined || delivery.delivered_at !== null) return;
    if (delivery.payload !== null) return await send(row, delivery, delivery.payload, signal);
    const release = await large.take(row.lane);
    try {
      // Whoever waits for an answer has his turn between two of them.
      await setImmediate();
      const payload = await deliveries.findPayload(database.autocommit(), delivery.id);
      if (payload !== undefined) return await send(row, delivery, payload, signal);
    } finally {
      release();
    }
  };

  async function send(
    row: OutboxRow,
    delivery: deliveries.DeliveryWithHook,
    payload: string,
    signal: AbortSignal,
  ): Promise<'finished'> {
    const { id, hook } = delivery;
    const request = prepare(context, delivery, payload);
    if (request === undefined) {
      const error = 'the secret was sealed with another at-rest key';
      return await end({ ...NOTHING, attempts: row.attempts, error }, false);
    }
    const { headers, body, authorization } = request;
    const attempt = { ...NOTHING, attempts: row.attempts, request_headers: headers };
    try {
      const answer = await webhooks.http(
        hook.url,
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
      return await end(attempted, attempted.error === null);
    }
    async function end(attempted: deliveries.Attempt, succeeded: boolean): Promise<'finished'> {
      await recordEnd({ ...attempted, id, outbox_id: row.id, succeeded });
      return 'finished';
    }
  }
}

const tooMany = () => new TryAgain('too many large payloads are under way');

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
function prepare(context: Context, delivery: deliveries.DeliveryWithHook, payload: string) {
  const secrets = openSecrets(context, delivery);
  if (secrets === undefined) return undefined;
  const request = writeHookRequest({
    uuid: delivery.uuid,
    event: delivery.event,
    eventType: delivery.event_type,
    contentType: delivery.hook.content_type === 'form' ? 'form' : 'json',
    payload,
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
