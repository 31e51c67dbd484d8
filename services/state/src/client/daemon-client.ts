import {
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadDefinition, stateServiceOf } from '../server/definition.ts';
import type { OperationName, RequestOf, ResultOf } from '../wire.ts';

/** The daemon refused or could not be reached; the message is for people. */
export class DaemonRefused extends Error {
  override readonly name = 'DaemonRefused';
}

/** Calls the daemon on its socket. */
export class DaemonClient implements Disposable {
  readonly #socket: string;
  readonly #metadata = new Metadata();
  readonly #client: InstanceType<ReturnType<typeof makeGenericClientConstructor>>;

  constructor(socket: string, options: { debug: boolean }) {
    const Client = makeGenericClientConstructor(stateServiceOf(loadDefinition()), 'StateService');
    this.#socket = socket;
    this.#client = new Client(`unix:${socket}`, credentials.createInsecure());
    if (options.debug) this.#metadata.set('loglevel', 'debug');
  }

  /** Makes a call; lines are handed on as they come, results are returned. @throws DaemonRefused */
  async call<N extends OperationName>(
    name: N,
    request: RequestOf<N>,
    onLine: (line: string) => void,
  ): Promise<ResultOf<N>[]> {
    const method = this.#client[name] as Method;
    const results: ResultOf<N>[] = [];
    try {
      for await (const message of method.call(this.#client, request, this.#metadata)) {
        if (message.reply === 'log' || (message.reply === undefined && 'log' in message))
          onLine(String(message.log));
        else results.push(message as ResultOf<N>);
      }
    } catch (error) {
      throw new DaemonRefused(this.#explain(error as ServiceError), { cause: error });
    }
    return results;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  #explain(error: ServiceError): string {
    if (error.code === status.UNAVAILABLE && error.details.startsWith('No connection')) {
      return `the state daemon does not answer on ${this.#socket}. Start it with \`npm start\` (or \`npm start -- state\` for it alone), as the user who runs this command.`;
    }
    return error.details;
  }
}

/** A message with the name of the field of the choice that is set. */
interface Message {
  readonly reply?: string;
  readonly log?: string;
}

type Method = (request: unknown, metadata: Metadata) => AsyncIterable<Message>;
