import { Failure, type FailureKind } from '@croft/failure';
import { randomToken } from '@croft/runtime';
import { type handleServerStreamingCall, Metadata, type ServerWritableStream, status } from '@grpc/grpc-js';
import type { Call, Context } from '../context.ts';
import { callEnded } from '../failures.ts';
import type { OperationName, RequestOf, ResultOf } from '../wire.ts';
import type { Gate } from './gate.ts';
import { lineTexts } from './line-text.ts';
import { Stream } from './stream.ts';

/** An operation: what it writes through its call comes first, what it returns comes last and only if it does not throw. */
export type Operation<N extends OperationName> = (
  request: RequestOf<N>,
  call: Call,
  context: Context,
) => Promise<readonly ResultOf<N>[]>;

/** gRPC status of each kind of failure. */
const STATUS: Readonly<Record<FailureKind, status>> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  'not-found': status.NOT_FOUND,
  'not-allowed': status.UNIMPLEMENTED,
  conflict: status.ALREADY_EXISTS,
  precondition: status.FAILED_PRECONDITION,
  'too-large': status.RESOURCE_EXHAUSTED,
  unprocessable: status.INVALID_ARGUMENT,
  locked: status.ABORTED,
  exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  'timed-out': status.DEADLINE_EXCEEDED,
};

/** Clients give up on trailers of 8 KiB and lose the status with them. */
const MAX_DETAILS = 3000;

/** What the operator wants to know of, besides bugs. */
const OPERATORS: readonly FailureKind[] = ['exhausted', 'unavailable', 'locked'];

type Wire = ServerWritableStream<unknown, unknown>;

/** Any operation, for code that passes requests and results on without looking into them. */
type AnyOperation = (request: never, call: Call, context: Context) => Promise<readonly object[]>;

/** Makes the gRPC handler of an operation. */
export function serve(
  name: OperationName,
  operation: AnyOperation,
  context: Context,
  gate: Gate,
): handleServerStreamingCall<unknown, unknown> {
  return (wire) => {
    void answer(name, operation, wire, context, gate);
  };
}

async function answer(
  name: OperationName,
  operation: AnyOperation,
  wire: Wire,
  context: Context,
  gate: Gate,
): Promise<void> {
  const startedAt = performance.now();
  const given = requestIdOf(wire);
  const requestId = given ?? randomToken(9);
  const stream = new Stream(wire);
  let code = status.OK;
  let controller: AbortController | undefined;
  try {
    if (given !== undefined) wire.sendMetadata(metadataOf({ requestid: given }));
    controller = gate.enter();
    const entered = controller;
    wire.once('cancelled', () => entered.abort(callEnded()));
    const call = makeCall(name, requestId, controller.signal, stream, wire);
    const results = await operation(wire.request as never, call, context);
    await stream.finish(results);
    wire.end();
  } catch (error) {
    const failure = asFailure(error, name, requestId, context);
    code = failure.code;
    await stream.finish([]);
    // Emitting is how grpc-js takes a status; on a call that is over it would have no listener left and throw.
    if (!wire.cancelled) wire.emit('error', { code, details: failure.details });
  } finally {
    if (controller !== undefined) gate.leave(controller);
    const ms = performance.now() - startedAt;
    const ended = { requestId, operation: name, status: status[code] };
    context.tracing.ended({ ...ended, startedAt: new Date(Date.now() - ms).toISOString(), ms });
    context.log.info({ ...ended, ms: Math.round(ms) }, 'call');
  }
}

function makeCall(
  operation: string,
  requestId: string,
  signal: AbortSignal,
  stream: Stream,
  wire: Wire,
): Call {
  const send = (text: string) => {
    for (const line of lineTexts(text)) stream.line(line);
  };
  const wantsDebug = wire.metadata.get('loglevel').at(0) === 'debug';
  return {
    operation,
    requestId,
    signal,
    info: send,
    warning: (text) => send(`warning: ${text}`),
    debug: (text) => {
      if (wantsDebug) send(text);
    },
  };
}

/** The caller's own name for its request, if it is fit for a log line. */
function requestIdOf(wire: Wire): string | undefined {
  const given = wire.metadata.get('requestid').at(0);
  return typeof given === 'string' && /^[!-~]{1,128}$/.test(given) ? given : undefined;
}

function asFailure(
  error: unknown,
  operation: string,
  requestId: string,
  context: Context,
): { code: status; details: string } {
  const known = error instanceof Failure;
  if (!known) context.log.error({ err: error, requestId, operation }, 'unexpected error');
  if (!known || OPERATORS.includes(error.kind)) {
    context.errors.add({ at: context.clock.now(), operation, message: (error as Error).message });
  }
  if (!known) {
    return {
      code: status.INTERNAL,
      details: `internal error; the daemon's log has it under request ${requestId}`,
    };
  }
  const details = lineTexts(error.message).join(' ');
  return { code: STATUS[error.kind], details: details.slice(0, MAX_DETAILS).toWellFormed() };
}

function metadataOf(values: Record<string, string>): Metadata {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(values)) metadata.set(key, value);
  return metadata;
}
