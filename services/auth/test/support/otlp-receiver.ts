import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';

/** A span as it arrived. */
export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  /** 2 is SERVER. */
  kind: number;
  attributes: Record<string, unknown>;
  /** 2 is ERROR. */
  status: number;
  resource: Record<string, unknown>;
}

/** One row of a metric as it arrived. */
export interface ReceivedPoint {
  metric: string;
  attributes: Record<string, unknown>;
  /** The number, or how many measurements a histogram holds. */
  value: number;
  resource: Record<string, unknown>;
}

/** An OTLP collector (https://opentelemetry.io/docs/specs/otlp) on loopback that keeps what it gets. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly points: ReceivedPoint[];
  /** Headers of each export. */
  readonly headers: IncomingHttpHeaders[];
  /** Everything that arrived, as text: to look for what must not be in it. */
  readonly raw: string[];
}

/** Speaks `http/protobuf` and `http/json`; answers others and unknown paths as a collector does. */
export async function otlpReceiver(): Promise<OtlpReceiver> {
  const kept = emptyReceiver();
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      kept.headers.push(request.headers);
      const type = request.headers['content-type'];
      if (request.method !== 'POST') return response.writeHead(405).end();
      if (type !== 'application/x-protobuf' && type !== 'application/json')
        return response.writeHead(415).end();
      if (!keep(kept, request.url ?? '', body, type)) return response.writeHead(404).end();
      return response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? '{}' : '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    ...kept,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Speaks gRPC: HTTP/2, messages with a prefix of five bytes, the outcome in the trailers. */
export async function grpcReceiver(): Promise<OtlpReceiver> {
  const kept = emptyReceiver();
  const sessions = new Set<{ destroy(): void }>();
  const server = createHttp2Server();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    void read(stream).then((body) => {
      const { [':path']: path = '', ...others } = headers;
      kept.headers.push(others as IncomingHttpHeaders);
      const isOtlp = keep(kept, path, body.subarray(5), 'application/x-protobuf');
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isOtlp ? '0' : '12' }));
      stream.end(Buffer.alloc(5));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    ...kept,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

type Kept = Pick<OtlpReceiver, 'spans' | 'points' | 'headers' | 'raw'>;
const emptyReceiver = (): Kept => ({ spans: [], points: [], headers: [], raw: [] });

async function read(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Takes an export apart; false when the path is none of OTLP's. */
function keep(kept: Kept, path: string, body: Buffer, type: string): boolean {
  const signal = /^(?:\/v1\/|\/opentelemetry\.proto\.collector\.)(trace|metric)/.exec(path)?.[1];
  if (signal === undefined) return false;
  kept.raw.push(body.toString('latin1'));
  if (type === 'application/json') {
    // Only the spans: one signal is enough to prove the other encoding.
    const { resourceSpans = [] } = JSON.parse(body.toString()) as JsonTraces;
    for (const { scopeSpans } of resourceSpans)
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        kept.spans.push({
          ...span,
          parentSpanId: span.parentSpanId ?? '',
          attributes: {},
          status: 0,
          resource: {},
        });
    return true;
  }
  for (const each of message(body).all(1)) {
    const resource = attributesOf(message(each.bytes(1)), 1);
    for (const scope of each.all(2)) {
      if (signal === 'trace') kept.spans.push(...scope.all(2).map((span) => spanOf(span, resource)));
      else kept.points.push(...scope.all(2).flatMap((metric) => pointsOf(metric, resource)));
    }
  }
  return true;
}

interface JsonTraces {
  resourceSpans?: {
    scopeSpans: {
      spans: { name: string; traceId: string; spanId: string; parentSpanId?: string; kind: number }[];
    }[];
  }[];
}

function spanOf(span: Message, resource: Record<string, unknown>): ReceivedSpan {
  return {
    name: span.bytes(5).toString(),
    traceId: span.bytes(1).toString('hex'),
    spanId: span.bytes(2).toString('hex'),
    parentSpanId: span.bytes(4).toString('hex'),
    kind: Number(span.number(6)),
    attributes: attributesOf(span, 9),
    status: Number(message(span.bytes(15)).number(3)),
    resource,
  };
}

/** A metric is a gauge (5), a sum (7) or a histogram (9); points are field 1 of each. */
function pointsOf(metric: Message, resource: Record<string, unknown>): ReceivedPoint[] {
  const name = metric.bytes(1).toString();
  const numbers = [...metric.all(5), ...metric.all(7)].flatMap((data) => data.all(1));
  const histograms = metric.all(9).flatMap((data) => data.all(1));
  return [
    ...numbers.map((point) => ({
      metric: name,
      attributes: attributesOf(point, 7),
      value: point.has(4) ? point.double(4) : Number(point.number(6)),
      resource,
    })),
    ...histograms.map((point) => ({
      metric: name,
      attributes: attributesOf(point, 9),
      value: Number(point.number(4)),
      resource,
    })),
  ];
}

function attributesOf(holder: Message, field: number): Record<string, unknown> {
  return Object.fromEntries(
    holder.all(field).map((pair) => {
      const value = message(pair.bytes(2));
      if (value.has(1)) return [pair.bytes(1).toString(), value.bytes(1).toString()];
      if (value.has(4)) return [pair.bytes(1).toString(), value.double(4)];
      return [pair.bytes(1).toString(), Number(value.number(value.has(3) ? 3 : 2))];
    }),
  );
}

/** The fields of a protobuf message by their numbers, read as the asker knows them to be. */
interface Message {
  has(field: number): boolean;
  all(field: number): Message[];
  bytes(field: number): Buffer;
  number(field: number): bigint;
  double(field: number): number;
}

function message(buffer: Buffer): Message {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const fixed = (length: number): Buffer => buffer.subarray(at, (at += length));
  while (at < buffer.length) {
    const key = Number(varint());
    const kind = key & 7;
    const value =
      kind === 0 ? varint() : kind === 1 ? fixed(8) : kind === 5 ? fixed(4) : fixed(Number(varint()));
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), value]);
  }
  const last = (field: number) => fields.get(field)?.at(-1);
  const bytes = (field: number): Buffer => {
    const value = last(field);
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  };
  return {
    has: (field) => fields.has(field),
    all: (field) => (fields.get(field) ?? []).map((value) => message(value as Buffer)),
    bytes,
    number(field) {
      const value = last(field) ?? 0n;
      return Buffer.isBuffer(value) ? value.readBigInt64LE() : value;
    },
    double: (field) => bytes(field).readDoubleLE(),
  };
}
