import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Person } from '../rows.ts';
import { checkChannel, checkPhoneNumber, type SmsChannel } from '../rules/addresses/phone-number.ts';
import * as users from '../store/users.ts';

/** A number that is to take the place of the present one. */
export interface PhoneChange {
  phone: string;
  channel: SmsChannel;
}

/**
 * The first checks of PUT /user with a number: its form and the channel.
 * @returns undefined when no number was sent
 * @throws Failure `validation_failed`, or `phone_provider_disabled`
 */
export function checkPhoneChange(
  context: AuthContext,
  fields: { phone: string; channel: string },
): PhoneChange | undefined {
  const { settings } = context;
  if (fields.phone === '') return undefined;
  if (!settings.EXTERNAL_PHONE_ENABLED) throw failures.phoneCodesDisabled();
  return {
    phone: checkPhoneNumber(fields.phone),
    channel: checkChannel(fields.channel, settings.SMS_PROVIDER),
  };
}

/**
 * Whether there is anything to change, and nobody else has the number. One round trip, none for the present number.
 * @throws Failure `phone_exists` when somebody else has it
 */
export async function isNewNumber(
  context: AuthContext,
  person: Person,
  change: PhoneChange,
): Promise<boolean> {
  if (person.user.phone === change.phone) return false;
  const owner = await users.findByPhone(context.database.autocommit(), change.phone);
  if (owner !== undefined) throw failures.phoneTaken();
  return true;
}
