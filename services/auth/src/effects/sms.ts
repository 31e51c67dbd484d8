import type { Clock } from '@croft/runtime';
import { type Database, type Deliver, type OutboxRow, PermanentFailure } from '@croft/sql';
import { userJson } from '../account/user-json.ts';
import type { AtRest } from '../at-rest.ts';
import type { Hook } from '../outside/hooks/hook.ts';
import { SmsRefused, type SmsSender } from '../outside/sms/outgoing.ts';
import type { Person } from '../rows.ts';
import type { SmsChannel } from '../rules/addresses/phone-number.ts';
import { codeHashOf } from '../rules/codes/one-time-code.ts';
import { writeSms } from '../rules/codes/sms-text.ts';
import * as codeHolders from '../store/code-holders.ts';
import * as users from '../store/users.ts';
import { askHook } from './ask-hook.ts';

/** A message with a code, before it is written. */
export interface SmsEffect {
  phone: string;
  channel: SmsChannel;
  code: string;
  /** When the code is worth nothing any more; a message that comes later only confuses. */
  expiresAt: Date;
  /** Whose code it is, where that is not the one who holds a one-time token of it: the code of a factor. */
  userId?: string;
}

/** The payload of an SMS's outbox row; the code is sealed, because rows lie in tables and backups in clear. */
interface StoredSms {
  phone: string;
  channel: SmsChannel;
  expiresAt: string;
  sealed: string;
  userId?: string;
  /** What the answer to the client called the message; added by whoever sends it. */
  messageId?: string;
}

/** Turns a message into the payload of its outbox row. */
export function smsPayload(atRest: AtRest, sms: SmsEffect): object {
  const { phone, channel, code, expiresAt, userId } = sms;
  return {
    phone,
    channel,
    expiresAt: expiresAt.toISOString(),
    sealed: atRest.seal(code),
    ...(userId === undefined ? {} : { userId }),
  } satisfies StoredSms;
}

/** What it takes to deliver the rows of topic `sms`. */
export interface SmsDelivery {
  atRest: AtRest;
  sms: SmsSender;
  /** `SMS_TEMPLATE` */
  template: string;
  /** `MFA_PHONE_TEMPLATE`, of the codes of factors. */
  factorTemplate: string;
  clock: Clock;
  database: Database;
  /** Takes the place of the provider. */
  hook?: Hook | undefined;
  /** Whether the provider makes the codes, and sends its present one whichever message asks for it; without a hook only. */
  makesCodes: boolean;
}

/**
 * Sends the message of an outbox row. Where the hook `send_sms` is on, it is told instead. Nothing is sent of a code nobody
 * could use any more: of several messages that waited for a provider, in no order, only the one that counts arrives.
 */
export function smsEffect(delivery: SmsDelivery): Deliver {
  const { atRest, sms, clock, hook, makesCodes } = delivery;
  return async (row, signal) => {
    const stored = row.payload as StoredSms;
    const { phone, channel, expiresAt, sealed, messageId: id = smsId(row) } = stored;
    if (Date.parse(expiresAt) <= clock.now().getTime()) {
      throw new PermanentFailure('the code expired before the message could be sent');
    }
    const code = openSealed(atRest, sealed);
    const isOfFactor = stored.userId !== undefined;
    if (!makesCodes) {
      const person = await findHolder(delivery, stored, code);
      if (person === undefined) return;
      if (hook !== undefined) {
        const type = isOfFactor ? { sms_type: 'mfa' } : {};
        return await askHook(hook, row, { user: userJson(person), sms: { otp: code, ...type, phone } });
      }
    }
    const template = isOfFactor ? delivery.factorTemplate : delivery.template;
    try {
      await sms.send({ id, phone, channel, code, text: writeSms(template, code) }, signal);
    } catch (error) {
      throw error instanceof SmsRefused ? new PermanentFailure(error.message) : error;
    }
  };
}

function findHolder(
  { atRest, database }: SmsDelivery,
  { phone, userId }: StoredSms,
  code: string,
): Promise<Person | undefined> {
  const tx = database.autocommit();
  if (userId !== undefined) return users.findById(tx, userId);
  return codeHolders.find(tx, phone, atRest.hashCode(codeHashOf(phone, code)));
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
