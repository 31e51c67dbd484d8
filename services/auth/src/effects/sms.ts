import type { Clock } from '@croft/runtime';
import { type Deliver, type OutboxRow, PermanentFailure } from '@croft/sql';
import type { AtRest } from '../at-rest.ts';
import { SmsRefused, type SmsSender } from '../outside/sms/outgoing.ts';
import type { SmsChannel } from '../rules/addresses/phone-number.ts';
import { writeSms } from '../rules/codes/sms-text.ts';

/** A message with a code, before it is written. */
export interface SmsEffect {
  phone: string;
  channel: SmsChannel;
  code: string;
  /** When the code is worth nothing any more; a message that comes later only confuses. */
  expiresAt: Date;
}

/** The payload of an SMS's outbox row; the code is sealed, because rows lie in tables and backups in clear. */
interface StoredSms {
  phone: string;
  channel: SmsChannel;
  expiresAt: string;
  sealed: string;
  /** What the answer to the client called the message; added by whoever sends it. */
  messageId?: string;
}

/** Turns a message into the payload of its outbox row. */
export function smsPayload(atRest: AtRest, sms: SmsEffect): object {
  const { phone, channel, code, expiresAt } = sms;
  return {
    phone,
    channel,
    expiresAt: expiresAt.toISOString(),
    sealed: atRest.seal(code),
  } satisfies StoredSms;
}

/** What it takes to deliver the rows of topic `sms`. */
export interface SmsDelivery {
  atRest: AtRest;
  sms: SmsSender;
  /** `SMS_TEMPLATE` */
  template: string;
  clock: Clock;
}

/** What happens to the rows of topic `sms` after they are committed. */
export function smsEffect({ atRest, sms, template, clock }: SmsDelivery): Deliver {
  return async (row, signal) => {
    const { phone, channel, expiresAt, sealed, messageId: id = smsId(row) } = row.payload as StoredSms;
    if (Date.parse(expiresAt) <= clock.now().getTime()) {
      throw new PermanentFailure('the code expired before the message could be sent');
    }
    const code = openSealed(atRest, sealed);
    try {
      await sms.send({ id, phone, channel, code, text: writeSms(template, code) }, signal);
    } catch (error) {
      throw error instanceof SmsRefused ? new PermanentFailure(error.message) : error;
    }
  };
}

function openSealed(atRest: AtRest, sealed: string): string {
  try {
    return atRest.open(sealed);
  } catch {
    throw new PermanentFailure('the message was sealed with another at-rest key');
  }
}

/** The same for every attempt at the same row. */
function smsId(row: OutboxRow): string {
  return `${row.created_at.getTime().toString(36)}-${row.id}`;
}
