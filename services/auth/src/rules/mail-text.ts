/** A mail as it is written, before it is addressed. */
export interface MailText {
  subject: string;
  html: string;
  text: string;
}

/** What a mail about a link says around it. */
export interface LinkMail {
  subject: string;
  heading: string;
  linkText: string;
  /** The `ConfirmationURL`. */
  url: string;
  /** The code, for those who would rather type it. */
  code: string;
}

/** Heading and link text the contract prescribes for each mail. */
export const wording = {
  confirmation: { heading: 'Confirm your signup', linkText: 'Confirm your mail' },
} as const;

/** A heading, one link and the code; every value is escaped, because addresses and links hold what strangers typed. */
export function writeLinkMail(mail: LinkMail): MailText {
  const { heading, linkText, url, code } = mail;
  return {
    subject: mail.subject,
    html: [
      `<h2>${escapeHtml(heading)}</h2>`,
      `<p><a href="${escapeHtml(url)}">${escapeHtml(linkText)}</a></p>`,
      `<p>Alternatively, enter the code: ${escapeHtml(code)}</p>`,
      '',
    ].join('\n\n'),
    text: [heading, `${linkText}:\n${url}`, `Alternatively, enter the code: ${code}`, ''].join('\n\n'),
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
