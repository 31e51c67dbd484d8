import { randomBytes, randomInt } from 'node:crypto';
import type { PreparedCode } from '../codes/prepare-code.ts';
import type { AuthContext } from '../context.ts';
import { smsPayload } from '../effects/sms.ts';
import type { TokenType } from '../rows.ts';
import type { SmsChannel } from '../rules/addresses/phone-number.ts';
import { codeDigits, codeHashOf } from '../rules/codes/one-time-code.ts';
import { testCodeOf } from '../rules/codes/test-codes.ts';

/**
 * What a code that travels by SMS is for. Signing up and signing in are told apart: only the code of a sign-up speaks
 * for the password that came with it.
 */
export type PhonePurpose = 'signup' | 'sms' | 'phone_change' | 'reauthentication';

const tokenTypes = {
  signup: 'confirmation_token',
  sms: 'phone_token',
  phone_change: 'phone_change_token',
  reauthentication: 'reauthentication_token',
} as const satisfies Readonly<Record<PhonePurpose, TokenType>>;

/** Codes of Twilio Verify are good for ten minutes, whatever the settings say. */
const REMOTE_CODE_MS = 600_000;
/** A tester types what is written down; nobody waits for a message. */
const TEST_CODE_MS = 86_400_000;
/** What the message of a test number is called. */
const TEST_MESSAGE_ID = 'test-otp';

/** A new code for a phone number, and the message that brings it. */
export interface PreparedPhoneCode extends PreparedCode {
  /** How answers name the message, where that is not up to the outbox. */
  fixedMessageId: string | undefined;
}

/**
 * A new code for a phone number. A tester's is the one of the settings and sends nothing; where the provider makes the
 * codes, ours is a secret that nobody gets, and only stands for theirs.
 */
export function preparePhoneCode(
  context: AuthContext,
  wanted: { purpose: PhonePurpose; phone: string; channel: SmsChannel },
): PreparedPhoneCode {
  const { settings, atRest, clock } = context;
  const { phone, channel, purpose } = wanted;
  const now = clock.now();
  const testCode = testCodeFor(context, phone, now);
  const isRemote = settings.SMS_PROVIDER === 'twilio_verify';
  const code = testCode ?? digits(codeDigits(settings.SMS_OTP_LENGTH));
  const stands = isRemote && testCode === undefined ? randomBytes(16).toString('hex') : code;
  const expiresAt =
    testCode === undefined
      ? new Date(now.getTime() + (isRemote ? REMOTE_CODE_MS : settings.SMS_OTP_EXP))
      : new Date(
          Math.min(now.getTime() + TEST_CODE_MS, settings.SMS_TEST_OTP_VALID_UNTIL?.getTime() ?? Infinity),
        );
  return {
    stored: {
      tokenType: tokenTypes[purpose],
      relatesTo: phone,
      tokenHash: atRest.hashCode(codeHashOf(phone, stands)),
      linkHash: null,
      expiresAt,
      effect:
        testCode === undefined
          ? { topic: 'sms', payload: smsPayload(atRest, { phone, channel, code, expiresAt }) }
          : undefined,
    },
    code,
    linkToken: '',
    url: '',
    fixedMessageId: testCode === undefined ? undefined : TEST_MESSAGE_ID,
  };
}

/** The code a number always has, by the settings of this moment. */
export function testCodeFor(context: AuthContext, phone: string, now: Date): string | undefined {
  const { SMS_TEST_OTP: codes, SMS_TEST_OTP_VALID_UNTIL: validUntil } = context.settings;
  return testCodeOf(phone, { codes, validUntil }, now);
}

function digits(count: number): string {
  return randomInt(10 ** count)
    .toString()
    .padStart(count, '0');
}
