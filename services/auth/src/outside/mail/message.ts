import type { OutgoingMail, Sender } from './outgoing.ts';

/**
 * The mail in nodemailer's terms. Addresses go as objects, never as text: a text would be parsed, and a comma in it
 * would be another recipient.
 */
export function messageOf(mail: OutgoingMail, sender: Sender) {
  const host = sender.address.slice(sender.address.lastIndexOf('@') + 1);
  return {
    from: sender,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: `<${mail.id}@${host}>`,
    // Keeps out-of-office answers away (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}
