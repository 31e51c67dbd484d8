import { createHash } from 'node:crypto';
import type { Database } from '@croft/sql';
import type { Caller } from './caller/caller.ts';
import type { Context } from './context.ts';
import type { Answer, Endpoint } from './endpoint.ts';
import { keyInUse, unacceptable } from './failures.ts';
import { findRepository } from './repositories/find-repository.ts';
import type { Unit } from './rules/access/permission.ts';
import * as idempotencyKeys from './store/upkeep/idempotency-keys.ts';
import { errorSchema } from './wire-schemas.ts';

/**
 * An endpoint that takes an `Idempotency-Key`.
 * @param check throws 404 for whoever may not see any more what was made under the key
 */
export const keyed = (endpoint: Endpoint, check: NonNullable<Endpoint['keyed']>): Endpoint => ({
  ...endpoint,
  keyed: check,
  answers: { ...endpoint.answers, 409: errorSchema, 422: errorSchema },
});

/** Lets those have an answer again who still read a unit of the repository. */
export const whoReads =
  (unit: Unit) =>
  (context: Context, caller: Caller, path: { owner: string; repo: string }): Promise<unknown> =>
    findRepository(context, caller, path, unit);

/** A request under a key that its caller chose. */
export interface KeyedRequest {
  key: string;
  method: string;
  url: string;
  /** As validated. */
  body: unknown;
  /** @throws 404 for whoever may not see any more what was made */
  checkReplay(): Promise<unknown>;
}

/**
 * Does what a request asks for, or repeats what was answered when the same caller sent the same request under the same
 * key before. Of two at once the second waits for the first. What certainly changed nothing is tried again.
 * @param handle works with the context it is given
 * @throws 422 for another request under the key, 409 when the first one was cut off, so that nobody knows how far it got,
 *   404 when the caller may not see any more what it made
 */
export async function answerOnce(
  context: Context,
  caller: Caller,
  request: KeyedRequest,
  handle: (context: Context) => Promise<Answer>,
): Promise<Answer> {
  const { key } = request;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw unacceptable('[Idempotency-Key]: 1 to 255 visible characters');
  // A token for public things only must not be told of others.
  const parts = [request.method, request.url, request.body, caller.publicOnly];
  const requestHash = createHash('sha256').update(JSON.stringify(parts)).digest();
  const id = { userId: caller.userId, key };
  return await context.queues.inTurn(`request ${caller.userId} ${key}`, async () => {
    const tx = context.database.autocommit();
    if (await idempotencyKeys.begin(tx, { ...id, requestHash }))
      return await answerFirst(context, id, handle);
    const known = await idempotencyKeys.find(tx, id);
    if (known !== undefined && !known.request_hash.equals(requestHash)) throw keyOfAnother();
    if (known === undefined || known.status === null) throw keyInUse();
    await request.checkReplay();
    const body: unknown = JSON.parse(known.answer ?? 'null');
    return { status: known.status, headers: { 'idempotency-replayed': 'true' }, body };
  });
}

/** Gives the key back when nothing came about; keeps it when something did, or may have, and the answer failed. */
async function answerFirst(
  context: Context,
  id: idempotencyKeys.KeyId,
  handle: (context: Context) => Promise<Answer>,
): Promise<Answer> {
  const tx = context.database.autocommit();
  const noted = noteWrites(context.database);
  const orLog = (error: Error) => {
    context.log.error({ reason: error.message }, 'what became of an Idempotency-Key was not kept');
  };
  try {
    const answer = await handle({ ...context, database: noted.database });
    const kept = { status: answer.status, answer: JSON.stringify(answer.body) };
    // It is done, whatever becomes of this.
    await idempotencyKeys.finish(tx, id, kept).catch(orLog);
    return answer;
  } catch (error) {
    if (!noted.mayHaveWritten()) await idempotencyKeys.remove(tx, id).catch(orLog);
    throw error;
  }
}

/**
 * A database that knows whether a transaction in it may have come about: one whose work threw did not, one that failed when
 * it was to commit perhaps did.
 */
function noteWrites(database: Database): { database: Database; mayHaveWritten(): boolean } {
  let isNoted = false;
  const transaction: Database['transaction'] = async (work) => {
    let isOver = false;
    try {
      return await database.transaction(async (tx) => {
        isOver = false;
        const result = await work(tx);
        isOver = true;
        return result;
      });
    } finally {
      isNoted ||= isOver;
    }
  };
  const noting = Object.create(database, { transaction: { value: transaction } }) as Database;
  return { database: noting, mayHaveWritten: () => isNoted };
}

const keyOfAnother = () => unacceptable('the Idempotency-Key was used for another request');
