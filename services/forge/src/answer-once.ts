import { createHash } from 'node:crypto';
import { Failure } from '@croft/failure';
import type { Caller } from './caller/caller.ts';
import type { Context } from './context.ts';
import type { Answer, Endpoint } from './endpoint.ts';
import { keyInUse, unacceptable } from './failures.ts';
import * as idempotencyKeys from './store/upkeep/idempotency-keys.ts';
import { errorSchema } from './wire-schemas.ts';

/** An endpoint that takes an `Idempotency-Key`. */
export const keyed = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  keyed: true,
  answers: { ...endpoint.answers, 409: errorSchema, 422: errorSchema },
});

/** A request under a key that its caller chose. */
export interface KeyedRequest {
  key: string;
  method: string;
  url: string;
  /** As validated. */
  body: unknown;
}

/**
 * Does what a request asks for, or repeats what was answered when the same caller sent the same request under the same
 * key before. Of two at once the second waits for the first. What was refused changed nothing and is tried again.
 * @throws 422 for another request under the key, 409 when the first one was cut off, so that nobody knows how far it got
 */
export async function answerOnce(
  { database, queues }: Context,
  caller: Caller,
  request: KeyedRequest,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  const { key } = request;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw unacceptable('[Idempotency-Key]: 1 to 255 visible characters');
  // A token for public things only must not be told of others.
  const parts = [request.method, request.url, request.body, caller.publicOnly];
  const requestHash = createHash('sha256').update(JSON.stringify(parts)).digest();
  const id = { userId: caller.userId, key };
  return await queues.inTurn(`request ${caller.userId} ${key}`, async () => {
    const tx = database.autocommit();
    if (!(await idempotencyKeys.begin(tx, { ...id, requestHash }))) {
      const known = await idempotencyKeys.find(tx, id);
      if (known !== undefined && !known.request_hash.equals(requestHash)) throw keyOfAnother();
      if (known === undefined || known.status === null) throw keyInUse();
      const body: unknown = JSON.parse(known.answer ?? 'null');
      return { status: known.status, headers: { 'idempotency-replayed': 'true' }, body };
    }
    const answer = await handle().catch(async (error: unknown) => {
      if (error instanceof Failure) await idempotencyKeys.remove(tx, id);
      throw error;
    });
    await idempotencyKeys.finish(tx, id, { status: answer.status, answer: JSON.stringify(answer.body) });
    return answer;
  });
}

const keyOfAnother = () => unacceptable('the Idempotency-Key was used for another request');
