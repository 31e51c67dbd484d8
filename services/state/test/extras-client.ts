import { fileURLToPath } from 'node:url';
import {
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { onTestFinished } from 'vitest';
import { type CallOptions, collect, type Daemon } from './daemon.ts';

/** Path of what is served besides the contract. */
const extrasFile = fileURLToPath(new URL('../proto/stateextras.proto', import.meta.url));

const loaded = loadPackageDefinition(
  loadSync(extrasFile, { keepCase: true, oneofs: true, defaults: true, longs: Number, enums: String }),
);
const StateExtras = (loaded['statesvc'] as Record<string, ServiceClientConstructor>)[
  'StateExtras'
] as ServiceClientConstructor;

type Where = Pick<Daemon, 'service'> | string;

/** A stock client of `StateExtras` that closes with the test. */
export function extrasClient(where: Where): InstanceType<ServiceClientConstructor> {
  const client = new StateExtras(
    typeof where === 'string' ? where : where.service.address,
    credentials.createInsecure(),
  );
  onTestFinished(() => client.close());
  return client;
}

/** Makes a call of `StateExtras` and waits for its end. */
export function callExtra(where: Where, name: string, request: object = {}, options: CallOptions = {}) {
  return collect(openExtra(where, name, request, options), options);
}

/** Begins a call of `StateExtras`. */
export function openExtra(where: Where, name: string, request: object = {}, options: CallOptions = {}) {
  const client = extrasClient(where);
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(options.metadata ?? {})) metadata.set(key, value);
  const deadline = options.deadlineMs === undefined ? {} : { deadline: Date.now() + options.deadlineMs };
  const method = client[name] as unknown as (...given: unknown[]) => ClientReadableStream<unknown>;
  return method.call(client, request, metadata, deadline);
}

/** Exports a state and gives its bytes; the test fails when that does. */
export async function exported(where: Where, request: object): Promise<Buffer> {
  const answer = await callExtra(where, 'Export', request);
  if (answer.code !== 0) throw new Error(answer.details);
  return Buffer.concat(
    answer.results.map((result) => (result['content'] as Buffer | undefined) ?? Buffer.alloc(0)),
  );
}

/** Begins an import. */
export function openImport(where: Where): ClientDuplexStream<object, unknown> {
  const client = extrasClient(where);
  return (client['Import'] as unknown as () => ClientDuplexStream<object, unknown>).call(client);
}

/** Imports bytes, in messages of a size, and waits for the end. */
export async function importBytes(where: Where, bytes: Buffer, stateName = '', size = 60_000) {
  const stream = openImport(where);
  const answer = collect(stream, {});
  // A refusal comes while there is still something to send.
  stream.on('error', () => {});
  stream.write({ header: { stateName } });
  for (let at = 0; at < bytes.length && !stream.destroyed; at += size) {
    const more = stream.write({ content: bytes.subarray(at, at + size) });
    if (!more) await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), answer]);
  }
  stream.end();
  return answer;
}

/** The events of a watch, as they come. */
export function watch(where: Where, options: CallOptions = {}) {
  const stream = openExtra(where, 'Watch', {}, options);
  const events: Record<string, unknown>[] = [];
  const ready = Promise.withResolvers<Record<string, unknown>>();
  stream.on('data', (message: Record<string, unknown>) => {
    if (message['reply'] === 'ready') ready.resolve(message['ready'] as Record<string, unknown>);
    else if (message['reply'] === 'event') events.push(message['event'] as Record<string, unknown>);
  });
  const ended = collect(stream, {});
  return { stream, events, ready: ready.promise, ended };
}
