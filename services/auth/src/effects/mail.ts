import type { Clock } from '@croft/runtime';
import { type Database, type Deliver, type OutboxRow, PermanentFailure } from '@croft/sql';
import { userJson } from '../account/user-json.ts';
import type { AtRest } from '../at-rest.ts';
import type { Hook } from '../outside/hooks/hook.ts';
import { type Mailer, MailRefused } from '../outside/mail/outgoing.ts';
import type { MailTemplates } from '../outside/mail/templates.ts';
import { codeHashOf } from '../rules/codes/one-time-code.ts';
import { emailData } from '../rules/hooks/email-data.ts';
import type { MailOrder } from '../rules/mail/mail-kinds.ts';
import type { AuthSettings } from '../settings.ts';
import * as codeHolders from '../store/code-holders.ts';
import { askHook } from './ask-hook.ts';
import { readSealedMail } from './sealed-mail.ts';

/** The payload of a mail's outbox row. What the mail says is sealed, because rows lie in tables and backups in clear. */
interface StoredMail extends Pick<MailOrder, 'kind' | 'to'> {
  sealed: string;
  /** Absent in rows of earlier versions, whose codes live for `MAILER_OTP_EXP`. */
  expiresAt?: string;
}

/** Turns a mail into the payload of its outbox row (topic `mail`). */
export function mailPayload(atRest: AtRest, mail: MailOrder): object {
  const { kind, to, data, expiresAt } = mail;
  return {
    kind,
    to,
    sealed: atRest.seal(JSON.stringify(data)),
    expiresAt: expiresAt.toISOString(),
  } satisfies StoredMail;
}

/** What it takes to deliver the rows of topic `mail`. */
export interface MailDelivery {
  atRest: AtRest;
  templates: MailTemplates;
  mailer: Mailer;
  settings: Pick<AuthSettings, 'SITE_URL' | 'API_EXTERNAL_URL' | 'MAILER_OTP_EXP'>;
  clock: Clock;
  database: Database;
  /** Takes the place of writing and sending. */
  hook?: Hook | undefined;
}

/**
 * Writes and sends the mail of an outbox row; what is written depends on the templates of that moment. Where the hook
 * `send_email` is on, it is told instead. Nothing is sent of a code nobody could use any more: of several mails that waited
 * for a server, in no order, only the one that counts arrives.
 */
export function mailEffect(delivery: MailDelivery): Deliver {
  const { atRest, templates, mailer, settings, clock, database, hook } = delivery;
  return async (row, signal) => {
    const mail = row.payload as StoredMail;
    const { kind, to } = mail;
    if (expiryOf(mail, row, settings.MAILER_OTP_EXP) <= clock.now().getTime()) {
      throw new PermanentFailure('the code expired before the mail could be sent');
    }
    const data = readSealedMail(atRest, mail, settings.SITE_URL);
    const hash = atRest.hashCode(codeHashOf(to, data.token));
    const person = await codeHolders.find(database.autocommit(), to, hash);
    if (person === undefined) return;
    if (hook !== undefined) {
      const email_data = emailData(kind, data, settings.API_EXTERNAL_URL);
      return await askHook(hook, row, { user: userJson(person), email_data });
    }
    const text = await templates.render(kind, data, signal);
    try {
      await mailer.send({ ...text, kind, to, id: mailId(row) }, signal);
    } catch (error) {
      throw error instanceof MailRefused ? new PermanentFailure(error.message) : error;
    }
  };
}

/** Milliseconds since the epoch. */
function expiryOf({ expiresAt }: StoredMail, row: OutboxRow, lifetimeMs: number): number {
  return expiresAt === undefined ? row.created_at.getTime() + lifetimeMs : Date.parse(expiresAt);
}

/** The same for every attempt at the same row, so that a mail delivered twice is recognised as one. */
function mailId(row: OutboxRow): string {
  return `${row.created_at.getTime().toString(36)}-${row.id}`;
}
