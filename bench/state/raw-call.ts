import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadDefinition, stateServiceOf } from '../../services/state/src/server/definition.ts';
import type { OperationName, RequestOf } from '../../services/state/src/wire.ts';

/** In front of each message: whether it is compressed, and how many bytes it has (gRPC over HTTP/2, "Length-Prefixed-Message"). */
const PREFIX_BYTES = 5;
const methods = stateServiceOf(loadDefinition());

/**
 * Makes a call and counts the messages that come, without reading them: what the daemon sends, whatever a client makes of it.
 * @returns how many, and the milliseconds until the call ended well
 */
export async function countMessages<N extends OperationName>(
  address: string,
  operation: N,
  request: RequestOf<N>,
): Promise<{ messages: number; ms: number }> {
  using session = open(address);
  const begun = performance.now();
  const call = begin(session, operation, request);
  let status: unknown;
  call.on('trailers', (trailers) => {
    status = trailers['grpc-status'];
  });
  let messages = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of call as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    for (let end = endOf(bytes, at); end <= bytes.length; end = endOf(bytes, at)) {
      at = end;
      messages++;
    }
    rest = bytes.subarray(at);
  }
  const ms = performance.now() - begun;
  if (status !== '0') throw new Error(`${operation} ended with status ${String(status)}`);
  return { messages, ms };
}

/** Makes a call and cancels it in its middle. */
export async function cancelCall<N extends OperationName>(
  address: string,
  operation: N,
  request: RequestOf<N>,
  afterMs: number,
): Promise<void> {
  using session = open(address);
  const call = begin(session, operation, request);
  await sleep(afterMs);
  if (call.closed) throw new Error(`${operation} ended before it was cancelled`);
  call.close(constants.NGHTTP2_CANCEL);
}

function open(address: string): ClientHttp2Session & Disposable {
  const session = connect('http://localhost', {
    createConnection: () => connectTo(address.replace('unix:', '')),
  });
  return Object.assign(session, { [Symbol.dispose]: () => session.close() });
}

function begin<N extends OperationName>(
  session: ClientHttp2Session,
  operation: N,
  request: RequestOf<N>,
): ClientHttp2Stream {
  const method = methods[operation];
  if (method === undefined) throw new Error(`${operation} is none of the contract`);
  const call = session.request({
    ':method': 'POST',
    ':path': method.path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const message = method.requestSerialize(request);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  call.end(Buffer.concat([prefix, message]));
  return call;
}

/** Where the message that begins there ends; beyond all that has come when not even that is known. */
function endOf(bytes: Buffer, at: number): number {
  return bytes.length - at < PREFIX_BYTES
    ? Number.POSITIVE_INFINITY
    : at + PREFIX_BYTES + bytes.readUInt32BE(at + 1);
}
