import { once } from 'node:events';
import type { Socket, Server as SocketServer } from 'node:net';
import { type Log, StartError } from '@croft/runtime';
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { PeerLookup } from '../outside/identity/peer-lookup.ts';
import type { LateAddresses } from '../outside/late-addresses.ts';
import { limitCalls } from './calls-in-flight.ts';
import { checkHealth } from './check-health.ts';
import { loadDefinition, stateExtrasOf, stateServiceOf } from './definition.ts';
import { acceptLocal } from './doors/accept-local.ts';
import type { AccessControl } from './doors/access-control.ts';
import type { Connections } from './doors/connections.ts';
import { listenOnSocket, type SocketPlace } from './doors/listen-on-socket.ts';
import { listenWithTls, type TlsPlace } from './doors/listen-with-tls.ts';
import { serveReflection } from './reflection.ts';

/** A request of the contract has a few names in it. */
const MAX_REQUEST_BYTES = 64 * 1024;
/** Calls at once on one connection; a client keeps more to itself until one has ended. */
const MAX_STREAMS = 100;
/** A connection without a call is closed after this; clients connect again by themselves. */
const IDLE_MS = 10 * 60_000;
/** How long last messages get to leave; streams without an end, such as a watched health, are cut then. */
const FLUSH_MS = 500;

const SERVICES = ['', 'statesvc.StateService', 'statesvc.StateExtras'];

type ConnectionInjector = ReturnType<Server['createConnectionInjector']>;

/** Where the daemon listens, and how it tells who connects. */
export interface ServerOptions {
  readonly socket: SocketPlace;
  readonly tls: TlsPlace | undefined;
  readonly connections: Connections;
  /** Undefined for a socket that only its owner and root can reach. */
  readonly lookup: PeerLookup | undefined;
  readonly access: AccessControl;
  readonly late: LateAddresses;
  readonly log: Log;
}

/** The gRPC server on its unix socket and, if it is told to, on TCP, with health and reflection. */
export class GrpcServer {
  readonly #server: Server;
  readonly #health: HealthImplementation;
  readonly #late: LateAddresses;
  readonly #injector: ConnectionInjector;
  readonly #listeners: SocketServer[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, health: HealthImplementation, late: LateAddresses) {
    this.#server = server;
    this.#late = late;
    this.#health = health;
    // Connections are accepted here and handed on, because the library neither sets the mode of a socket nor tells who connects.
    this.#injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  }

  /** Listens, and returns when it has answered a health check. @throws StartError */
  static async start(
    options: ServerOptions,
    implementation: UntypedServiceImplementation,
  ): Promise<GrpcServer> {
    const definition = loadDefinition();
    const server = new Server({
      'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
      'grpc.max_concurrent_streams': MAX_STREAMS,
      'grpc.max_connection_idle_ms': IDLE_MS,
      interceptors: [limitCalls(options.access)],
    });
    server.addService(stateServiceOf(definition), implementation);
    server.addService(stateExtrasOf(definition), implementation);
    const health = new HealthImplementation(Object.fromEntries(SERVICES.map((name) => [name, 'SERVING'])));
    health.addToServer(server);
    serveReflection(server, definition);
    const grpc = new GrpcServer(server, health, options.late);
    try {
      await grpc.#listen(options);
    } catch (error) {
      await grpc.close();
      throw error;
    }
    return grpc;
  }

  /** The address on TCP, `host:port`; undefined where it does not listen there. */
  get tcpAddress(): string | undefined {
    const address = this.#listeners[1]?.address();
    if (address === undefined || address === null || typeof address === 'string') return undefined;
    return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
  }

  async #listen({ socket: place, tls, connections, lookup, late, log }: ServerOptions): Promise<void> {
    const serveSocket = (socket: Socket) => this.#injector.injectConnection(socket);
    const door = acceptLocal({ connections, lookup, log, serve: serveSocket });
    const accept = (socket: Socket) =>
      void door(socket).catch((error: Error) => {
        log.error({ err: error }, 'a connection could not be taken');
        socket.destroy();
      });
    this.#add(await listenOnSocket(place, accept));
    if (tls !== undefined) {
      const wanted = { setting: 'STATESVC_LISTEN', address: `${tls.host}:${tls.port}` };
      await late.open(wanted, async () => this.#add(await listenWithTls(tls, connections, serveSocket)));
    }
    await checkHealth(place.path).catch((error: Error) => {
      throw new StartError(`the daemon does not answer on its own socket ${place.path}: ${error.message}`);
    });
  }

  #add(listener: SocketServer): void {
    this.#listeners.push(listener);
    listener.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Health checks say that it is going away. */
  announceStop(): void {
    for (const name of SERVICES) this.#health.setStatus(name, 'NOT_SERVING');
  }

  /** Lets what was answered reach the clients, then ends every connection. Closing the listener removes the socket file. */
  async close(): Promise<void> {
    await this.#late.close();
    // A listener closes when its last connection has.
    const closed = this.#listeners.map((listener) => once(listener, 'close'));
    for (const listener of this.#listeners) listener.close();
    this.#injector.drain(FLUSH_MS);
    // Those that the library does not know: not looked at yet, or in the middle of a handshake.
    const rest = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, 2 * FLUSH_MS);
    await Promise.all(closed);
    clearTimeout(rest);
    this.#server.forceShutdown();
  }
}
