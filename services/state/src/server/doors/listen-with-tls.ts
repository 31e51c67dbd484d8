import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { StartError } from '@croft/runtime';
import type { Caller } from '../../rules/access/access.ts';
import type { Connections } from './connections.ts';
import { addressOf, Newcomers } from './newcomers.ts';
import type { TlsFiles } from './tls-files.ts';

/** Connections at once; what comes on top is closed. */
const MAX_CONNECTIONS = 512;
const HANDSHAKE_MS = 10_000;
const AUTHORITY_CHANGED = 'the authority of client certificates was changed: connect again';

/** Where the daemon listens for other machines. */
export interface TlsPlace {
  readonly host: string;
  readonly port: number;
  readonly files: TlsFiles;
  /** Names in certificates whose owners administrate. */
  readonly admins: readonly string[];
}

/**
 * Listens on TCP, with TLS only. A client without a certificate that counts is let in as a stranger: it may show a token with each call.
 * @throws StartError
 */
export async function listenWithTls(
  { host, port, files, admins }: TlsPlace,
  connections: Connections,
  serve: (socket: TLSSocket) => void,
): Promise<Server> {
  const newcomers = new Newcomers();
  const asks = files.content.ca !== undefined;
  const server = createServer(
    {
      ...files.content,
      requestCert: asks,
      rejectUnauthorized: false, // whether it counts is decided below, for each call
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: HANDSHAKE_MS,
    },
    (socket) => {
      socket.on('error', () => {}); // closes it as well
      const address = addressOf(socket);
      const caller = asks ? callerOf(socket, admins) : NO_CERTIFICATE;
      if (caller.kind !== 'stranger') newcomers.leave(address);
      if (caller.kind !== 'stranger' && !connections.hasRoom(caller)) socket.destroy();
      if (socket.destroyed) return;
      connections.add(socket, caller, () => newcomers.leave(address));
      serve(socket);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('tlsClientError', () => {}); // its connection is closed
  server.on('connection', (socket) => newcomers.arrive(socket));
  let { ca } = files.content;
  files.onRenewed((content) => {
    server.setSecureContext(content);
    // Each connection was looked at when it came, by the authority of that time.
    if (!sameFile(ca, content.ca)) connections.revokeRemote(AUTHORITY_CHANGED);
    ca = content.ca;
  });
  server.listen(port, host);
  await once(server, 'listening').catch((error: Error) => {
    throw new StartError(
      `cannot listen on ${host}:${port}: ${error.message}. STATESVC_LISTEN chooses another place.`,
      { cause: error },
    );
  });
  return server;
}

const NO_CERTIFICATE: Caller = {
  kind: 'stranger',
  why: 'there is neither a client certificate nor an access token (metadata `authorization: Bearer …`)',
};

function sameFile(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

function callerOf(socket: TLSSocket, admins: readonly string[]): Caller {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return NO_CERTIFICATE;
  if (!socket.authorized) {
    return {
      kind: 'stranger',
      why: `the client certificate is not accepted (${String(socket.authorizationError)})`,
    };
  }
  const commonName = commonNameOf(certificate);
  const admin = admins.some((name) => name === commonName || isNamed(certificate, name));
  return { kind: 'certificate', name: commonName ?? certificate.fingerprint256, admin };
}

/** A subject with several common names goes by none of them. */
function commonNameOf(certificate: X509Certificate): string | undefined {
  const { CN: name } = certificate.toLegacyObject().subject as { CN?: unknown };
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** Whether a name stands among the alternative names, as it is: wildcards stand for nobody. */
function isNamed(certificate: X509Certificate, name: string): boolean {
  return name.includes('@')
    ? certificate.checkEmail(name, { subject: 'never' }) !== undefined
    : certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined;
}
