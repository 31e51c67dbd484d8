import {
  type ChannelCredentials,
  type ClientDuplexStream,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadDefinition, stateExtrasOf, stateServiceOf } from '../server/definition.ts';
import type { OperationName, RequestOf, ResultOf } from '../wire.ts';
import type { ExtraName, ExtraRequestOf, ExtraResultOf } from '../wire-extras.ts';
import type { Meter } from './meter.ts';

/** What lines begin with that only say how far it is. */
const PROGRESS = 'progress: ';

/** The daemon refused or could not be reached; the message is for people. */
export class DaemonRefused extends Error {
  override readonly name = 'DaemonRefused';
}

/** What to tell whom the socket does not let in. */
export function closedSocket(path: string): string {
  return `the socket ${path} is not open to this user. Run this as the user who started the daemon, or as root; STATESVC_SOCKET_MODE there opens it to others.`;
}

/** How a daemon is reached. */
export interface Target {
  /** As gRPC has it: `unix:<path>` or `dns:<host:port>`. */
  readonly address: string;
  readonly credentials: ChannelCredentials;
  /** An access token of the auth service. */
  readonly token: string | undefined;
  /** What to do when nobody answers, as a sentence. */
  readonly advice: string;
}

/** Calls the daemon. */
export class DaemonClient implements Disposable {
  readonly #advice: string;
  readonly #meter: Meter | undefined;
  readonly #metadata = new Metadata();
  readonly #client: InstanceType<ReturnType<typeof makeGenericClientConstructor>>;

  constructor(target: Target, options: { debug: boolean; json?: boolean; meter?: Meter }) {
    const definition = loadDefinition();
    // No two operations have the same name, so one client has those of both services.
    const methods = { ...stateServiceOf(definition), ...stateExtrasOf(definition) };
    const Client = makeGenericClientConstructor(methods, 'State');
    this.#advice = target.advice;
    this.#client = new Client(target.address, target.credentials);
    if (target.token !== undefined) this.#metadata.set('authorization', `Bearer ${target.token}`);
    if (options.debug) this.#metadata.set('loglevel', 'debug');
    if (options.json === true) this.#metadata.set('format', 'json');
    this.#meter = options.meter?.isSeen === true ? options.meter : undefined;
    if (this.#meter !== undefined) this.#metadata.set('progress', 'yes');
  }

  /** Makes a call; lines are handed on as they come, results are returned. @throws DaemonRefused */
  async call<N extends OperationName>(
    name: N,
    request: RequestOf<N>,
    onLine: (line: string) => void,
  ): Promise<ResultOf<N>[]> {
    const method = this.#client[name] as Method;
    const results: ResultOf<N>[] = [];
    for await (const result of this.#results(method.call(this.#client, request, this.#metadata), onLine))
      results.push(result as ResultOf<N>);
    return results;
  }

  /** The same for an operation of `StateExtras`, whose results are handed on as they come. @throws DaemonRefused */
  stream<N extends Exclude<ExtraName, 'Import'>>(
    name: N,
    request: ExtraRequestOf<N>,
    onLine: (line: string) => void,
  ): AsyncIterable<ExtraResultOf<N>> {
    const method = this.#client[name] as Method;
    const wire = method.call(this.#client, request, this.#metadata);
    return this.#results(wire, onLine) as AsyncIterable<ExtraResultOf<N>>;
  }

  /** Imports what Export gave, no faster than the daemon takes it. @returns the state's name @throws DaemonRefused */
  async import(
    stateName: string,
    content: AsyncIterable<Uint8Array>,
    onLine: (line: string) => void,
  ): Promise<string> {
    const method = this.#client['Import'] as (metadata: Metadata) => Upload;
    const wire = method.call(this.#client, this.#metadata);
    const answer = this.#only(wire, onLine);
    // It is waited for at the end; when it comes before, sending is over.
    const ended = answer.then(
      () => true,
      () => true,
    );
    try {
      let isOver = await written(wire, { header: { stateName } }, ended);
      for await (const piece of content) {
        if (isOver) break;
        isOver = await written(wire, { content: piece }, ended);
      }
      wire.end();
    } catch (error) {
      // What could not be read: nothing of it is to stay there.
      wire.cancel();
      await ended;
      throw error;
    }
    return answer;
  }

  async #only(wire: Upload, onLine: (line: string) => void): Promise<string> {
    let name = '';
    for await (const result of this.#results(wire, onLine)) name = String(result['stateName']);
    return name;
  }

  async *#results(wire: AsyncIterable<Message>, onLine: (line: string) => void): AsyncGenerator<Message> {
    try {
      for await (const message of wire) {
        if (message.reply === 'log' || (message.reply === undefined && 'log' in message))
          this.#tell(String(message.log), onLine);
        else yield message;
      }
    } catch (error) {
      throw new DaemonRefused(this.#explain(error as ServiceError), { cause: error });
    }
  }

  #tell(line: string, onLine: (line: string) => void): void {
    // Only whoever looks has asked for these.
    if (this.#meter === undefined || !line.startsWith(PROGRESS)) onLine(line);
    else this.#meter.show(() => line.slice(PROGRESS.length));
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #explain(error: ServiceError): string {
    const closed = /^No connection.* EACCES (.+)\. Resolution note/.exec(error.details)?.[1];
    if (closed !== undefined) return closedSocket(closed);
    const isUnreachable = /^(No connection|Name resolution)/.test(error.details);
    if (error.code === status.UNAVAILABLE && isUnreachable) return this.#advice;
    return error.details;
  }
}

/** A message with the name of the field of the choice that is set. */
interface Message {
  readonly reply?: string;
  readonly log?: string;
  readonly [field: string]: unknown;
}

type Upload = ClientDuplexStream<object, unknown> & AsyncIterable<Message>;

/** Sends a message and waits until there is room for the next one. @returns whether the call has ended meanwhile */
async function written(wire: Upload, message: object, ended: Promise<boolean>): Promise<boolean> {
  if (wire.destroyed) return true;
  if (wire.write(message)) return false;
  const drained = Promise.withResolvers<boolean>();
  wire.once('drain', () => drained.resolve(false));
  return Promise.race([drained.promise, ended]);
}

type Method = (request: unknown, metadata: Metadata) => AsyncIterable<Message>;
