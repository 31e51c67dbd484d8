import { format } from 'node:util';
import { assertOutsideTransaction, type Log } from '@croft/runtime';
import type { Secret } from '@croft/settings';
import type { Transporter } from 'nodemailer';
import { messageOf } from './message.ts';
import { type Mailer, MailRefused, type Sender } from './outgoing.ts';

/** How to reach the mail server. */
export interface SmtpServer {
  host: string;
  port: number;
  user: string | undefined;
  password: Secret | undefined;
  /** `auto`: TLS from the first byte on port 465, else STARTTLS, without which no password is sent. */
  encryption: 'auto' | 'starttls' | 'implicit' | 'none';
  /** Certificates, in place of the usual ones. */
  trusted: readonly string[] | undefined;
}

/** Together below the time the outbox gives one delivery. */
const TIMEOUTS = {
  dnsTimeout: 4_000,
  connectionTimeout: 6_000,
  greetingTimeout: 6_000,
  socketTimeout: 10_000,
};

/** What mail servers take from one client without complaint. */
const CONNECTIONS = 10;
/** Longer than the pauses of a busy hour, shorter than the socket's own limit, which would look like an error. */
const IDLE_MS = 8_000;

/**
 * Sends over SMTP, several mails over one connection. The client library is loaded with the first mail: most processes
 * start faster without it. A mail whose time is up is taken back, so that it is not sent besides its own next attempt.
 * With a log, each mail and the talk with the server (without contents and passwords) is in it.
 */
export function smtpMailer(sender: Sender, server: SmtpServer, log: Log | undefined): Mailer {
  let transporter: Promise<Transporter> | undefined;
  return {
    async send(mail, signal) {
      assertOutsideTransaction('a mail');
      signal.throwIfAborted();
      transporter ??= connectTo(server, log);
      try {
        const { response } = await (await transporter).sendMail({ ...messageOf(mail, sender), signal });
        log?.info({ mail: mail.id, kind: mail.kind, to: mail.to, response }, 'a mail was sent');
      } catch (error) {
        throw isFinal(error) ? new MailRefused((error as Error).message) : error;
      }
    },
    async close() {
      (await transporter)?.close();
    },
  };
}

async function connectTo(server: SmtpServer, log: Log | undefined): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  const { host, port, user, password, trusted } = server;
  return createTransport({
    pool: true,
    maxConnections: CONNECTIONS,
    idleTimeout: IDLE_MS,
    // The outbox tries again, with its own pauses.
    maxRequeues: 0,
    host,
    port,
    ...encryptionOf(server),
    ...(trusted === undefined ? {} : { tls: { ca: [...trusted] } }),
    disableFileAccess: true,
    disableUrlAccess: true,
    ...TIMEOUTS,
    ...(user === undefined ? {} : { auth: { user, pass: password?.reveal() ?? '' } }),
    ...(log === undefined ? {} : { logger: conversationLog(log), transactionLog: true }),
  });
}

function encryptionOf({ encryption, port, user }: SmtpServer) {
  switch (encryption) {
    case 'implicit':
      return { secure: true };
    case 'starttls':
      return { secure: false, requireTLS: true };
    case 'none':
      return { secure: false, ignoreTLS: true };
    case 'auto':
      // Whoever sits between us and the server can hide its offer of STARTTLS: he must not get the password for it.
      return port === 465 ? { secure: true } : { secure: false, requireTLS: user !== undefined };
  }
}

/** nodemailer's log on ours: it says everything at once as it was formatted, with passwords left out. */
function conversationLog(log: Log) {
  const write = (fields: object, message: string, ...values: unknown[]): void => {
    const { tnx } = fields as { tnx?: unknown };
    log.info({ smtp: tnx }, format(message, ...values));
  };
  const nothing = (): void => {};
  return {
    level: nothing,
    trace: nothing,
    debug: write,
    info: write,
    warn: write,
    error: write,
    fatal: write,
  };
}

/** Whether the server refused this very mail for good (RFC 5321 §4.2.1); a refused login can be mended. */
function isFinal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}
