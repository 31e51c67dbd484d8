import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { type Mail, parseMail } from './mail.ts';

/** A mail that arrived over SMTP, with its envelope and the name its sender logged in with. */
export interface ReceivedMail extends Mail {
  from: string;
  to: string[];
  user: string | undefined;
  secure: boolean;
  /** Mails of one session came over one connection. */
  session: string;
}

/** smtp-server's options, for authentication, TLS or refusals, and what a test wants besides. */
export interface SmtpSinkOptions extends SMTPServerOptions {
  /** Waited for when a mail is complete and before the sender is told that it was taken. */
  beforeAccepting?: (mail: Mail) => Promise<void>;
}

/** A real SMTP server on loopback that keeps what it receives. */
export interface SmtpSink extends AsyncDisposable {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Connections that are open. */
  readonly connections: number;
  /** Waits until `count` mails have arrived. */
  received(count: number): Promise<readonly ReceivedMail[]>;
}

/** Clients that keep a connection for their next mail must not keep a test from ending. */
const CLOSE_AFTER_MS = 50;

/** Starts the server; with `key` and `cert` it offers STARTTLS, with `secure` it speaks TLS from the first byte. */
export async function smtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const { beforeAccepting, ...serverOptions } = options;
  const mails: ReceivedMail[] = [];
  const gone = new Set<string>();
  let arrived = Promise.withResolvers<void>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.secure === true || options.key !== undefined ? [] : ['STARTTLS'],
    closeTimeout: CLOSE_AFTER_MS,
    logger: false,
    ...serverOptions,
    onClose: (session) => void gone.add(session.id),
    onData(stream, session, done) {
      const accept = async (): Promise<void> => {
        const mail = parseMail(await text(stream));
        await beforeAccepting?.(mail);
        // The end of a session is announced a turn after its connection is gone.
        await setImmediate();
        // A sender that was never told keeps the mail, and so the server must not have it.
        if (gone.has(session.id)) return;
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          ...mail,
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: session.user,
          secure: session.secure,
          session: session.id,
        });
        arrived.resolve();
        arrived = Promise.withResolvers();
      };
      accept().then(() => done(), done);
    },
  });
  // A client that does not trust the certificate breaks the handshake off; that is its right.
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    get connections() {
      return server.connections.size;
    },
    async received(count) {
      while (mails.length < count) await arrived.promise;
      return mails;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A port behind which one mail server after the other stands, or none. */
export interface SmtpPort extends AsyncDisposable {
  readonly port: number;
  /** From now on connections come to this server. */
  leadTo(server: Pick<SmtpSink, 'port'>): void;
}

/**
 * A port that hangs up on everybody until it leads somewhere. It is kept all the time: one that is free for a while may be
 * somebody else's by the time it is wanted back.
 */
export async function smtpPort(): Promise<SmtpPort> {
  let behind: number | undefined;
  const door = createServer((client) => {
    client.on('error', () => {});
    if (behind === undefined) return void client.destroy();
    const server = connect(behind, '127.0.0.1');
    server.on('error', () => client.destroy());
    client.on('close', () => server.destroy());
    client.pipe(server).pipe(client);
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (door.address() as AddressInfo).port,
    leadTo({ port }) {
      behind = port;
    },
    async [Symbol.asyncDispose]() {
      door.close();
    },
  };
}
