import { StartError } from '@croft/runtime';
import type { OutgoingMail, Sender } from './outgoing.ts';

/** Headers that say who a mail is from, whom it is for and how to read it: they are the service's own. */
const OWN_HEADERS =
  /^(?:from|sender|to|cc|bcc|subject|date|message-id|mime-version|auto-submitted|return-path|received|content-.*|dkim-.*)$/i;

/** @throws StartError when one of the operator's headers is none a mail may be given */
export function checkHeaders(headers: Sender['headers']): void {
  const wrong = Object.keys(headers).find((name) => OWN_HEADERS.test(name));
  if (wrong === undefined) return;
  throw new StartError(`AUTHSVC_SMTP_HEADERS must not set ${wrong}: the service writes it itself.`);
}

/**
 * The mail in nodemailer's terms. Addresses go as objects, never as text: a text would be parsed, and a comma in it
 * would be another recipient.
 */
export function messageOf(mail: OutgoingMail, sender: Sender) {
  const host = sender.address.slice(sender.address.lastIndexOf('@') + 1);
  return {
    from: { name: sender.name, address: sender.address },
    to: { name: '', address: mail.to },
    subject: mail.subject,
    // In the order of RFC 2046 §5.1.4: the last one is what a client shows if it can.
    alternatives: [plainText(mail.text), { content: mail.html, contentType: 'text/html; charset=utf-8' }],
    messageId: `<${mail.id}@${host}>`,
    headers: [
      // Keeps out-of-office answers away (RFC 3834).
      { key: 'Auto-Submitted', value: 'auto-generated' },
      ...Object.entries(sender.headers).flatMap(([key, values]) =>
        values.map((value) => ({ key, value: value.replaceAll('$messageType', mail.kind) })),
      ),
    ],
  };
}

/** Octets a line may have (RFC 5322 §2.1.1). */
const LINE_LIMIT = 998;

/**
 * The text as it is where that is allowed: nodemailer would wrap a long link in quoted-printable, and then neither a
 * person who looks into the captured file nor a simple program can take it out again.
 */
function plainText(text: string) {
  const lines = text.split(/\r?\n/);
  const goesAsItIs = lines.every((line) => line.length <= LINE_LIMIT && /^[\t\x20-\x7e]*$/.test(line));
  const contentType = 'text/plain; charset=utf-8';
  if (!goesAsItIs) return { content: text, contentType };
  const head = [`Content-Type: ${contentType}`, 'Content-Transfer-Encoding: 7bit', ''];
  return { raw: [...head, ...lines].join('\r\n') };
}
