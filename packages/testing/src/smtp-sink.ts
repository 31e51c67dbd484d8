import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { type Mail, parseMail } from './mail.ts';

/** A mail that arrived over SMTP, with its envelope and the name its sender logged in with. */
export interface ReceivedMail extends Mail {
  from: string;
  to: string[];
  user: string | undefined;
  secure: boolean;
}

/** A real SMTP server on loopback that keeps what it receives. */
export interface SmtpSink extends AsyncDisposable {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Waits until `count` mails have arrived. */
  received(count: number): Promise<readonly ReceivedMail[]>;
}

/** Starts the server; `options` are smtp-server's, for authentication, TLS or refusals. */
export async function smtpSink(options: SMTPServerOptions & { port?: number } = {}): Promise<SmtpSink> {
  const mails: ReceivedMail[] = [];
  let arrived = Promise.withResolvers<void>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.secure === true || options.key !== undefined ? [] : ['STARTTLS'],
    ...options,
    onData(stream, session, done) {
      text(stream)
        .then((raw) => {
          const { mailFrom, rcptTo } = session.envelope;
          mails.push({
            ...parseMail(raw),
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            user: session.user,
            secure: session.secure,
          });
          arrived.resolve();
          arrived = Promise.withResolvers();
          done();
        })
        .catch(done);
    },
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    async received(count) {
      while (mails.length < count) await arrived.promise;
      return mails;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
