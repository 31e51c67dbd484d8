import { type Deliver, type OutboxRow, PermanentFailure } from '@croft/sql';
import type { AtRest } from './at-rest.ts';
import { type Mailer, MailRefused } from './outside/mail/outgoing.ts';
import { wording, writeLinkMail } from './rules/mail-text.ts';

/** A mail with a link, before it is written. */
export interface LinkMailEffect {
  kind: keyof typeof wording;
  to: string;
  subject: string;
  url: string;
  code: string;
}

/** The payload of a mail's outbox row; link and code are sealed, because rows lie in tables and backups in clear. */
interface StoredMail {
  kind: keyof typeof wording;
  to: string;
  sealed: string;
}

/** Turns a mail into the payload of its outbox row. */
export function mailEffect(atRest: AtRest, mail: LinkMailEffect): object {
  const { kind, to, ...secrets } = mail;
  return { kind, to, sealed: atRest.seal(JSON.stringify(secrets)) } satisfies StoredMail;
}

/** What happens to the rows of each outbox topic after they are committed. */
export function effectHandlers(atRest: AtRest, mailer: Mailer): Readonly<Record<string, Deliver>> {
  return {
    async mail(row, signal) {
      const { kind, to, sealed } = row.payload as StoredMail;
      const { subject, url, code } = openSealed(atRest, sealed);
      const text = writeLinkMail({ ...wording[kind], subject, url, code });
      try {
        await mailer.send({ ...text, to, id: mailId(row) }, signal);
      } catch (error) {
        throw error instanceof MailRefused ? new PermanentFailure(error.message) : error;
      }
    },
  };
}

function openSealed(atRest: AtRest, sealed: string): Pick<LinkMailEffect, 'subject' | 'url' | 'code'> {
  try {
    return JSON.parse(atRest.open(sealed));
  } catch {
    throw new PermanentFailure('the mail was sealed with another at-rest key');
  }
}

/** The same for every attempt at the same row, so that a mail delivered twice is recognised as one. */
function mailId(row: OutboxRow): string {
  return `${row.created_at.getTime().toString(36)}-${row.id}`;
}
