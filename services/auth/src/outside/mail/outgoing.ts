/** A mail that is ready to go. */
export interface OutgoingMail {
  /** Stable over attempts; becomes the `Message-ID`. */
  id: string;
  to: string;
  subject: string;
  html: string;
  text: string;
}

/** Brings mails out of the process. */
export interface Mailer {
  /** @throws MailRefused when no further attempt can help */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
}

/** Who mails come from. */
export interface Sender {
  name: string;
  address: string;
}

/** The mail server refused this very mail for good. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}
