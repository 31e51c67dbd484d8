import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import { withinHourlyLimit } from '../codes/hourly-limit.ts';
import { sendLimit, sentTooRecently } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { askBeforeUserCreated, insertUser } from '../hooks/new-users.ts';
import type { Person } from '../rows.ts';
import { checkChannel, checkPhoneNumber, type SmsChannel } from '../rules/addresses/phone-number.ts';
import { auditEntry, BY_PHONE } from '../rules/audit.ts';
import { PHONE_APP_METADATA, phoneIdentityData } from '../rules/users/phone-user.ts';
import { isProvenTo } from '../rules/users/proven.ts';
import { checkMetadataSize } from '../rules/users/user-update.ts';
import * as users from '../store/users.ts';
import { preparePhoneCode } from './prepare-phone-code.ts';
import { sendPhoneCode } from './send-phone-code.ts';

/** Somebody who wants to sign in with a code by SMS. */
export interface PhoneCodeRequest {
  phone: string;
  channel: string;
  /** Metadata of the account, should this make one. */
  data: Record<string, unknown>;
  /** Whether an account is made for a number nobody has. */
  createsUser: boolean;
  origin: Origin;
}

/** A request whose fields are in order. */
interface Checked extends PhoneCodeRequest {
  channel: SmsChannel;
}

/**
 * Sends a code that signs in (POST /otp with a number). Who has no account yet gets one, without a password, unless
 * sign-up is off or not wanted: then nothing is sent, and the answer does not tell. Two round trips.
 * @returns the name of the message
 * @throws Failure for the first check that fails, or when a message went to the number just before
 */
export async function requestPhoneCode(context: AuthContext, request: PhoneCodeRequest): Promise<string> {
  const { settings, database } = context;
  if (!settings.EXTERNAL_PHONE_ENABLED) throw failures.phoneCodesDisabled();
  const phone = checkPhoneNumber(request.phone);
  const checked: Checked = {
    ...request,
    phone,
    channel: checkChannel(request.channel, settings.SMS_PROVIDER),
  };
  checkMetadataSize({}, request.data);
  const person = await users.findByPhone(database.autocommit(), phone);
  if (person === undefined && request.createsUser && !settings.DISABLE_SIGNUP) {
    const messageId = await signUp(context, checked);
    if (messageId !== undefined) return messageId;
    // Somebody signed up at the same moment.
    return await send(context, checked, await users.findByPhone(database.autocommit(), phone));
  }
  return await send(context, checked, person);
}

/** The message for an account there is, or the limit alone. */
async function send(context: AuthContext, request: Checked, person: Person | undefined): Promise<string> {
  const { phone, channel, data, origin } = request;
  const user = person?.user;
  // Whoever asked for a code or signed the number up before may be somebody else: what they left goes with this one.
  const isStrangers = user !== undefined && !isProvenTo('phone', user) && !user.given_by_admin;
  const { messageId } = await sendPhoneCode(context, {
    userId: user?.id,
    purpose: 'sms',
    phone,
    channel,
    pendingData: isStrangers ? phoneIdentityData(user.id, { phone, data }, false) : undefined,
    audit: person === undefined ? [] : [requested(person, channel)],
    origin,
  });
  return messageId;
}

function requested({ user }: Person, channel: SmsChannel): object {
  return user.phone_confirmed_at === null
    ? auditEntry(user, 'user_confirmation_requested', BY_PHONE)
    : auditEntry(user, 'user_recovery_requested', { ...BY_PHONE, channel });
}

/** @returns undefined when somebody has the number by now */
async function signUp(context: AuthContext, request: Checked): Promise<string | undefined> {
  const { settings, database } = context;
  const { phone, channel, data, origin } = request;
  const tx = database.autocommit();
  const isConfirmed = settings.SMS_AUTOCONFIRM;
  const id = randomUUID();
  const identityData = phoneIdentityData(id, { phone, data }, isConfirmed);
  const actor = { id, email: null, phone, is_sso_user: false, raw_user_meta_data: identityData };
  const code = preparePhoneCode(context, { purpose: 'sms', phone, channel });
  const messageId = code.fixedMessageId ?? randomUUID();
  const { effect } = code.stored;
  const limit = sendLimit(context, 'phone', phone);
  const user: users.NewUser = {
    id,
    aud: settings.JWT_AUD,
    role: settings.JWT_DEFAULT_GROUP_NAME,
    email: null,
    phone,
    emailConfirmed: false,
    phoneConfirmed: isConfirmed,
    passwordHash: null,
    appMetadata: PHONE_APP_METADATA,
    userMetadata: identityData,
    identity: { provider: 'phone', providerId: id, data: identityData },
    isAnonymous: false,
    code: { ...code.stored, effect: effect && { ...effect, payload: { ...effect.payload, messageId } } },
    sentAt: ['confirmation_sent_at'],
    limit,
    trace: {
      ...origin,
      audit: isConfirmed
        ? [
            auditEntry(actor, 'user_signedup', BY_PHONE),
            auditEntry(actor, 'user_recovery_requested', { ...BY_PHONE, channel }),
          ]
        : [auditEntry(actor, 'user_confirmation_requested', BY_PHONE)],
    },
  };
  await askBeforeUserCreated(context, user, origin);
  const inserted = await withinHourlyLimit(context, 'sms', () => insertUser(context, tx, user));
  if (!inserted.allowed) throw sentTooRecently(limit, inserted, tx.now, true);
  return inserted.created ? messageId : undefined;
}
