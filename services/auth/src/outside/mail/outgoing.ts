import type { MailKind } from '../../rules/mail/mail-kinds.ts';

/** A mail that is ready to go. */
export interface OutgoingMail {
  /** Stable over attempts; becomes the `Message-ID`. */
  id: string;
  kind: MailKind;
  to: string;
  subject: string;
  html: string;
  text: string;
}

/** Brings mails out of the process. */
export interface Mailer {
  /** @throws MailRefused when no further attempt can help */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  /** Ends connections that wait for further mails. */
  close(): Promise<void>;
}

/** Who mails come from, and what else stands in all of them. */
export interface Sender {
  name: string;
  address: string;
  headers: Readonly<Record<string, readonly string[]>>;
}

/** The mail server refused this very mail for good. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}
