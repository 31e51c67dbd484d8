import { connect } from 'node:http2';
import { connect as connectTo } from 'node:net';

/** In front of each message: whether it is compressed, and how many bytes it has (gRPC over HTTP/2, "Length-Prefixed-Message"). */
const PREFIX_BYTES = 5;

/**
 * Calls an operation with an empty request and counts the messages that come, without reading them: what the daemon sends, whatever
 * its client makes of it.
 * @returns how many, and the milliseconds until the call ended well
 */
export async function countMessages(
  address: string,
  operation: string,
): Promise<{ messages: number; ms: number }> {
  const session = connect('http://localhost', {
    createConnection: () => connectTo(address.replace('unix:', '')),
  });
  try {
    const begun = performance.now();
    const call = session.request({
      ':method': 'POST',
      ':path': `/statesvc.StateService/${operation}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let status: unknown;
    call.on('trailers', (trailers) => {
      status = trailers['grpc-status'];
    });
    call.end(Buffer.alloc(PREFIX_BYTES));
    let messages = 0;
    let rest: Buffer = Buffer.alloc(0);
    for await (const piece of call as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      let at = 0;
      while (bytes.length - at >= PREFIX_BYTES) {
        const end = at + PREFIX_BYTES + bytes.readUInt32BE(at + 1);
        if (end > bytes.length) break;
        at = end;
        messages++;
      }
      rest = bytes.subarray(at);
    }
    const ms = performance.now() - begun;
    if (status !== '0') throw new Error(`${operation} ended with status ${String(status)}`);
    return { messages, ms };
  } finally {
    session.close();
  }
}
