import { Failure, type FailureKind } from '@croft/failure';
import { randomToken } from '@croft/runtime';
import { Metadata, type ServerDuplexStream, type ServerWritableStream, status } from '@grpc/grpc-js';
import type { Call, Context } from '../context.ts';
import { callEnded } from '../failures.ts';
import { callerText } from '../rules/access/access.ts';
import type { Right } from '../rules/access/rights.ts';
import type { OperationName, RequestOf, ResultOf } from '../wire.ts';
import type { AccessControl } from './doors/access-control.ts';
import type { Gate } from './gate.ts';
import { lineTexts } from './line-text.ts';
import { Stream } from './stream.ts';

/** What an operation answers besides lines: it is there, or comes piece by piece, no faster than the client reads. */
export type Results<R> = readonly R[] | AsyncIterable<R>;

/** An operation: what it writes through its call comes first, what it returns comes last and only if it does not throw. */
export type Operation<N extends OperationName> = (
  request: RequestOf<N>,
  call: Call,
  context: Context,
) => Promise<Results<ResultOf<N>>>;

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
  'headers-too-large': status.RESOURCE_EXHAUSTED,
  'too-slow': status.DEADLINE_EXCEEDED,
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

type Wire = ServerWritableStream<unknown, unknown> | ServerDuplexStream<unknown, unknown>;

/** Any operation, for code that passes requests and results on without looking into them. */
type AnyOperation = (request: never, call: Call, context: Context) => Promise<Results<object>>;

/** What every call goes through. */
export interface Service {
  readonly context: Context;
  readonly gate: Gate;
  readonly access: AccessControl;
}

/** An operation with its name and who may call it. */
interface Offer {
  readonly name: string;
  readonly right: Right<never>;
  readonly operation: AnyOperation;
  /** The call goes on until somebody ends it, so nobody waits for its end. */
  readonly endless?: boolean;
}

/** Makes the gRPC handler of an operation. */
export function serve(offer: Offer, service: Service): (wire: Wire) => void {
  return (wire) => {
    void answer(offer, wire, service);
  };
}

async function answer(
  { name, right, operation, endless = false }: Offer,
  wire: Wire,
  { context, gate, access }: Service,
): Promise<void> {
  const startedAt = performance.now();
  const given = requestIdOf(wire);
  const requestId = given ?? randomToken(9);
  const stream = new Stream(wire);
  const caller = access.callerOf(wire);
  let code = status.OK;
  let controller: AbortController | undefined;
  try {
    if (given !== undefined) wire.sendMetadata(metadataOf({ requestid: given }));
    controller = gate.enter({ endless });
    const entered = controller;
    wire.once('cancelled', () => entered.abort(callEnded()));
    const request = requestOf(wire) as never;
    await access.check(caller, { operation: name, right, request, model: context.index.model });
    controller.signal.throwIfAborted();
    const isAdministrator = () => access.isAdministrator(caller);
    const call = { ...makeCall(name, requestId, controller, stream, wire), isAdministrator };
    const results = await operation(request, call, context);
    await stream.finish(results, controller.signal);
    wire.end();
  } catch (error) {
    const failure = asFailure(error, name, requestId, context);
    code = failure.code;
    await stream.flush();
    // Emitting is how grpc-js takes a status; on a call that is over it would have no listener left and throw.
    if (!wire.cancelled) wire.emit('error', { code, details: failure.details });
  } finally {
    if (controller !== undefined) gate.leave(controller);
    const ms = performance.now() - startedAt;
    const ended = { requestId, operation: name, status: status[code] };
    context.metrics?.ended(name, status[code], ms / 1000);
    context.tracing.ended({ ...ended, startedAt: new Date(Date.now() - ms).toISOString(), ms });
    context.log.info({ ...ended, caller: callerText(caller), ms: Math.round(ms) }, 'call');
  }
}

function makeCall(
  operation: string,
  requestId: string,
  controller: AbortController,
  stream: Stream,
  wire: Wire,
): Omit<Call, 'isAdministrator'> {
  const send = (text: string) => {
    for (const line of lineTexts(text)) stream.line(line);
  };
  const wantsDebug = wire.metadata.get('loglevel').at(0) === 'debug';
  const wantsProgress = wire.metadata.get('progress').at(0) === 'yes';
  return {
    operation,
    requestId,
    signal: controller.signal,
    end: (reason) => controller.abort(reason),
    info: send,
    warning: (text) => send(`warning: ${text}`),
    debug: (text) => {
      if (wantsDebug) send(text);
    },
    progress: wantsProgress ? (text) => send(`progress: ${text}`) : undefined,
    wantsJson: wire.metadata.get('format').at(0) === 'json',
  };
}

/** What was asked: a message, or where the caller streams them, one after the other. */
function requestOf(wire: Wire): unknown {
  // A reader that stops early must not take the answer's way with it.
  return 'request' in wire ? wire.request : wire.iterator({ destroyOnReturn: false });
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
