import { assertOutsideTransaction } from '@croft/runtime';
import type { Secret } from '@croft/settings';
import type { Transporter } from 'nodemailer';
import { messageOf } from './message.ts';
import { type Mailer, MailRefused, type Sender } from './outgoing.ts';

/** How to reach the mail server. */
export interface SmtpServer {
  host: string;
  /** 465 means TLS from the first byte; on other ports STARTTLS is used when the server offers it. */
  port: number;
  user: string | undefined;
  password: Secret | undefined;
}

/** Together below the time the outbox gives one delivery. */
const TIMEOUTS = {
  dnsTimeout: 4_000,
  connectionTimeout: 6_000,
  greetingTimeout: 6_000,
  socketTimeout: 10_000,
};

/** Sends over SMTP. The client library is loaded with the first mail: most processes start faster without it. */
export function smtpMailer(sender: Sender, server: SmtpServer): Mailer {
  let transporter: Promise<Transporter> | undefined;
  return {
    async send(mail, signal) {
      assertOutsideTransaction('a mail');
      signal.throwIfAborted();
      transporter ??= connectTo(server);
      try {
        await (await transporter).sendMail(messageOf(mail, sender));
      } catch (error) {
        throw isFinal(error) ? new MailRefused((error as Error).message) : error;
      }
    },
  };
}

async function connectTo(server: SmtpServer): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  const auth =
    server.user === undefined ? {} : { auth: { user: server.user, pass: server.password?.reveal() ?? '' } };
  return createTransport({
    host: server.host,
    port: server.port,
    secure: server.port === 465,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...TIMEOUTS,
    ...auth,
  });
}

/** Whether the server refused this very mail for good (RFC 5321 §4.2.1); a refused login can be mended. */
function isFinal(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}
