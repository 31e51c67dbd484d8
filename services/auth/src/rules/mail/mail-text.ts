import { type MailData, type MailKind, mailKinds } from './mail-kinds.ts';
import { plainTextOf } from './plain-text.ts';

/** A mail as it is written, before it is addressed. */
export interface MailText {
  subject: string;
  html: string;
  text: string;
}

/** The variables templates know; a mail that brings only a code has nothing to say of links. */
export function templateVariables(kind: MailKind, data: MailData): Record<string, unknown> {
  const always = { SiteURL: data.siteUrl, Email: data.email, Token: data.token, Data: data.data };
  if (kind === 'reauthentication') return always;
  return {
    ...always,
    ConfirmationURL: data.confirmationUrl,
    TokenHash: data.tokenHash,
    RedirectTo: data.redirectTo,
    NewEmail: data.newEmail,
    SendingTo: data.sendingTo,
  };
}

/**
 * The built-in template of a mail: the contract's heading and one link with the contract's text, and the code for
 * those who would rather type it.
 */
export function builtInTemplate(kind: MailKind): string {
  const { heading, linkText } = mailKinds[kind];
  const paragraphs = [`<h2>${heading}</h2>`];
  if (kind === 'email_change') {
    paragraphs.push('{{ if .NewEmail }}<p>New address: {{ .NewEmail }}</p>\n\n{{ end -}}');
  }
  if (linkText === undefined) paragraphs.push('<p>To go on, enter the code: {{ .Token }}</p>');
  else {
    paragraphs.push(`<p><a href="{{ .ConfirmationURL }}">${linkText}</a></p>`);
    paragraphs.push('<p>Alternatively, enter the code: {{ .Token }}</p>');
  }
  return `${paragraphs.join('\n\n')}\n`;
}

/** A mail whose HTML was written, with the text part for those who read no HTML. */
export function mailText(subject: string, html: string): MailText {
  return { subject, html, text: plainTextOf(html) };
}
