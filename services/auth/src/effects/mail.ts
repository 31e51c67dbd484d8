import { type Deliver, type OutboxRow, PermanentFailure } from '@croft/sql';
import type { AtRest } from '../at-rest.ts';
import { type Mailer, MailRefused } from '../outside/mail/outgoing.ts';
import type { MailTemplates } from '../outside/mail/templates.ts';
import type { MailData, MailOrder } from '../rules/mail-kinds.ts';

/** The payload of a mail's outbox row. What the mail says is sealed, because rows lie in tables and backups in clear. */
interface StoredMail extends Pick<MailOrder, 'kind' | 'to'> {
  sealed: string;
}

/** Turns a mail into the payload of its outbox row (topic `mail`). */
export function mailPayload(atRest: AtRest, mail: MailOrder): object {
  const { kind, to, data } = mail;
  return { kind, to, sealed: atRest.seal(JSON.stringify(data)) } satisfies StoredMail;
}

/** Writes and sends the mail of an outbox row; what is written depends on the templates of that moment. */
export function mailEffect(atRest: AtRest, templates: MailTemplates, mailer: Mailer): Deliver {
  return async (row, signal) => {
    const { kind, to, sealed } = row.payload as StoredMail;
    const text = await templates.render(kind, openSealed(atRest, sealed), signal);
    try {
      await mailer.send({ ...text, kind, to, id: mailId(row) }, signal);
    } catch (error) {
      throw error instanceof MailRefused ? new PermanentFailure(error.message) : error;
    }
  };
}

function openSealed(atRest: AtRest, sealed: string): MailData {
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
