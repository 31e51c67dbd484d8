import type { Call, Context } from '../context.ts';
import type { RequestOf } from '../wire.ts';

/** Generic clients and proxies take messages of this size without a thought. */
const MESSAGE_BYTES = 64 * 1024 - 16;

/** Takes a trace of the daemon. @returns its bytes, in messages of at most 64 KiB */
export async function takeTrace(
  request: RequestOf<'Trace'>,
  call: Call,
  { tracing }: Context,
): Promise<readonly Buffer[]> {
  const bytes = await tracing.take(request.type, request.duration, call.signal);
  const pieces: Buffer[] = [];
  // At least one, so that a trace in which nothing happened is a result, too.
  for (let at = 0; at === 0 || at < bytes.length; at += MESSAGE_BYTES)
    pieces.push(bytes.subarray(at, at + MESSAGE_BYTES));
  return pieces;
}
