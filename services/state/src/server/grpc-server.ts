import { once } from 'node:events';
import type { Server as SocketServer } from 'node:net';
import { StartError } from '@croft/runtime';
import {
  credentials,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation, service as healthService } from 'grpc-health-check';
import { loadDefinition, stateServiceOf } from './definition.ts';
import { listenPrivately } from './listen-privately.ts';
import { serveReflection } from './reflection.ts';

/** A request of the contract has a few names in it. */
const MAX_REQUEST_BYTES = 64 * 1024;
/** How long the daemon waits for its own answer. */
const READY_MS = 5000;
/** How long last messages get to leave; streams without an end, such as a watched health, are cut then. */
const FLUSH_MS = 500;

const SERVICES = ['', 'statesvc.StateService'];

type ConnectionInjector = ReturnType<Server['createConnectionInjector']>;

/** The gRPC server on its unix socket, with health and reflection. */
export class GrpcServer {
  readonly #server: Server;
  readonly #health: HealthImplementation;
  readonly #injector: ConnectionInjector;
  readonly #listener: SocketServer;

  private constructor(
    server: Server,
    health: HealthImplementation,
    injector: ConnectionInjector,
    listener: SocketServer,
  ) {
    this.#injector = injector;
    this.#server = server;
    this.#health = health;
    this.#listener = listener;
  }

  /** Listens, and returns when it has answered a health check. */
  static async start(path: string, implementation: UntypedServiceImplementation): Promise<GrpcServer> {
    const definition = loadDefinition();
    const server = new Server({ 'grpc.max_receive_message_length': MAX_REQUEST_BYTES });
    server.addService(stateServiceOf(definition), implementation);
    const health = new HealthImplementation(Object.fromEntries(SERVICES.map((name) => [name, 'SERVING'])));
    health.addToServer(server);
    serveReflection(server, definition);
    // Connections are accepted here and handed on, because the library neither sets the mode of a socket nor tells who connects.
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const listener = await listenPrivately(path, (socket) => injector.injectConnection(socket));
    const grpc = new GrpcServer(server, health, injector, listener);
    try {
      await checkHealth(path);
    } catch (error) {
      await grpc.close();
      throw new StartError(
        `the daemon does not answer on its own socket ${path}: ${(error as Error).message}`,
      );
    }
    return grpc;
  }

  /** Health checks say that it is going away. */
  announceStop(): void {
    for (const name of SERVICES) this.#health.setStatus(name, 'NOT_SERVING');
  }

  /** Lets what was answered reach the clients, then ends every connection. Closing the listener removes the socket file. */
  async close(): Promise<void> {
    const closed = once(this.#listener, 'close');
    this.#listener.close();
    this.#injector.drain(FLUSH_MS);
    // The listener closes when its last connection has.
    await closed;
    this.#server.forceShutdown();
  }
}

async function checkHealth(path: string): Promise<void> {
  const Client = makeGenericClientConstructor(healthService, 'Health');
  const client = new Client(`unix:${path}`, credentials.createInsecure());
  try {
    await new Promise<void>((resolve, reject) => {
      const deadline = Date.now() + READY_MS;
      const check = client['Check'] as HealthCheck;
      check.call(client, { service: '' }, { deadline }, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  } finally {
    client.close();
  }
}

type HealthCheck = (
  request: { service: string },
  options: { deadline: number },
  done: (error: Error | null) => void,
) => void;
